//! report.json: a claim of any shape is looked at without a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use qa_pilot::gate::Claim;
use qa_pilot::json;

fuzz_target!(|bytes: &[u8]| {
    let Ok(value) = json::parse(Path::new("report.json"), bytes) else { return };
    // What our reader takes, every reader reads alike.
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    assert_eq!(serde_json::from_slice::<serde_json::Value>(text).ok().as_ref(), Some(&value));
    let claim = Claim::new(value);
    for entry in claim.entries() {
        (entry.place(), entry.subject(), entry.verdict(), entry.record_paths().count());
    }
});
