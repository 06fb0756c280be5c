//! Every form of a request's URL is made without a panic, and the first is the one it was sent with.
#![no_main]

use http::header::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;
use qa_pilot::policy::Request;

fuzz_target!(|input: (&str, &str, &[u8], bool)| {
    let (method, target, value, has_body) = input;
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_bytes(value) {
        headers.insert(HeaderName::from_static("x-http-method-override"), value);
    }
    let target = format!("/{target}");
    let request = Request::new(method, "https://shop.test", &target, &headers, has_body);
    assert!(request.url().starts_with("https://shop.test/"));
    assert!(request.forms().count() >= 1);
    Request::web_socket("https://shop.test", &target, &headers);
});
