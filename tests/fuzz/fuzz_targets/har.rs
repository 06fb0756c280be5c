//! HARs: any bytes are read or refused, and what is read is judged, without a panic.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use qa_pilot::model::Policy;
use qa_pilot::policy::{MutationConfig, Rules, packs};
use qa_pilot::rules::{judge, parse_har};

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let names: Vec<&str> = packs::names().collect();
    let block = serde_json::json!({ "packs": names });
    Rules::new(Policy::read_only(), MutationConfig::parse(&block).expect("the shipped packs"))
});

fuzz_target!(|bytes: &[u8]| {
    if let Ok(entries) = parse_har(Path::new("f.har"), bytes) {
        for (_, request) in &entries.requests {
            judge(&RULES, request);
        }
    }
});
