//! results.json: reading and deriving a report from it never panics.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use qa_pilot::playwright::results::Results;
use qa_pilot::record::Records;
use qa_pilot::report::{RunPaths, derive};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(results) = Results::parse(bytes) {
        // No record is there: whatever path the report names, it is looked for and not found.
        let run_dir = Path::new("/nonexistent/RUN-1");
        derive(&results, &RunPaths::new(run_dir, "RUN-1"), false, &mut Records::new(run_dir));
    }
});
