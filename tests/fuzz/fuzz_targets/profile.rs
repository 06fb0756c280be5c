//! The host profile: any YAML is checked without a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use qa_pilot::host::profile::Profile;
use qa_pilot::yaml;

fuzz_target!(|text: &str| {
    if let Ok(value) = yaml::parse(Path::new("qa-pilot.config.yaml"), text) {
        Profile::check(&value, &|_| true);
    }
});
