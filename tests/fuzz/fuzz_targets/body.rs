//! Bodies of every type and charset are read, or refused, without a panic.
#![no_main]

use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use qa_pilot::policy::Body;

fuzz_target!(|input: (&[u8], &[u8])| {
    let (content_type, bytes) = input;
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_bytes(content_type) {
        headers.insert(CONTENT_TYPE, value);
    }
    match Body::read(&headers, bytes) {
        Body::Absent => assert!(bytes.is_empty()),
        Body::Text(text) => {
            text.any(|part| part.is_empty());
            text.overrides().count();
        }
        Body::Unjudgeable(reason) => assert!(!reason.is_empty()),
        Body::Unread => unreachable!("it was read"),
    }
});
