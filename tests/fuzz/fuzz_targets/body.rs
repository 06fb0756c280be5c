//! Bodies of every type, coding and charset are read, or refused, without a panic.
#![no_main]

use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use qa_pilot::policy::Body;

const CODINGS: [&str; 6] = ["identity", "gzip", "deflate", "br", "zstd", "gzip, br"];

fuzz_target!(|input: (u8, &[u8], &[u8])| {
    let (coding, content_type, bytes) = input;
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_bytes(content_type) {
        headers.insert(CONTENT_TYPE, value);
    }
    if let Some(coding) = CODINGS.get(usize::from(coding)) {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    match Body::read(&headers, bytes, 1 << 16) {
        Body::Absent => assert!(bytes.is_empty()),
        Body::Text(text) => {
            text.any(|part| part.is_empty());
            text.overrides().count();
        }
        Body::Unjudgeable(reason) => assert!(!reason.is_empty()),
        Body::Unread => unreachable!("it was read"),
    }
});
