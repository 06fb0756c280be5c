//! writes.json: a record that is not sound never counts as installed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qa_pilot::record;

fuzz_target!(|bytes: &[u8]| {
    let reading = record::parse(bytes);
    assert!(reading.digest.is_some());
    assert!(!reading.is_installed() || reading.fault.is_none());
});
