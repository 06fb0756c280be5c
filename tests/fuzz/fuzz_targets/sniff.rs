//! The beginning of a connection: no bytes panic, and what was made out does not change when more arrives.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qa_pilot::proxy::{connect, first_line};

fuzz_target!(|bytes: &[u8]| {
    let mut known = None;
    for end in 0..=bytes.len().min(256) {
        let now = first_line(&bytes[..end]);
        assert!(known.is_none() || known == now, "{known:?} {now:?}");
        known = now;
    }
    let target = |bytes: &[u8]| connect(bytes).and_then(|connect| connect.target);
    match target(bytes) {
        Ok(authority) => {
            // A folded name folds to itself.
            let text = authority.to_string();
            let again = target(format!("CONNECT {text} HTTP/1.1\r\n\r\n").as_bytes());
            assert_eq!(again.map(|authority| authority.to_string()), Ok(text));
        }
        Err(fault) => assert!(!fault.reason.is_empty() && !fault.target.contains('@')),
    }
});
