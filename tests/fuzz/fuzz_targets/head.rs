//! Heads and chunks on the wire: no bytes panic, and what is read of a head does not depend on how it arrives.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qa_pilot::proxy::framing::{Chunk, read_head};

fuzz_target!(|bytes: &[u8]| {
    let whole = read_head(bytes);
    for end in 0..bytes.len().min(512) {
        // A fault may show before the head is whole; a head that was read does not change when more follows.
        if let Ok(Some(early)) = read_head(&bytes[..end]) {
            assert_eq!(Ok(Some(early)), whole.clone());
            break;
        }
    }
    let whole = Chunk::START.walk(bytes);
    let middle = bytes.len() / 2;
    let halves = match Chunk::START.walk(&bytes[..middle]) {
        Ok((_, Some(state))) => state.walk(&bytes[middle..]).map(|(length, state)| (middle + length, state)),
        other => other,
    };
    assert_eq!(halves, whole);
});
