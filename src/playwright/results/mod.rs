//! What Playwright's JSON reporter wrote (`results.json`), as far as verdicts and evidence need it.
//!
//! Playwright's own judgement (`ok`, `status`, `expectedStatus`, `stats`) is not read at all: it calls an interrupted test, a
//! test that never started and an expected failure fine. Only attempts count.

mod lenient;
mod model;
mod suites;
mod text;

pub use model::{Attachment, Attempt, Entry, Results, ResultsError, Spec, TestError};
pub use text::{PathText, Text};

#[cfg(test)]
mod tests;
