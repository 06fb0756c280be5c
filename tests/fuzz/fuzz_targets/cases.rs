//! cases.yaml: any YAML is linted and typed without a panic.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use qa_pilot::host::cases::{Cases, lint, mutation_faults};
use qa_pilot::host::profile::Profile;
use qa_pilot::yaml;

static PROFILE: LazyLock<Profile> = LazyLock::new(|| {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../e2e/shop/qa-pilot.config.yaml"));
    Profile::load(path).expect("the sample shop's profile").profile
});

fuzz_target!(|text: &str| {
    if let Ok(value) = yaml::parse(Path::new("cases.yaml"), text) {
        lint(&value, Some("checkout"), &PROFILE);
        mutation_faults(&value);
        Cases::from_value(&value);
    }
});
