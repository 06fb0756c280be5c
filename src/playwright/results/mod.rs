//! What Playwright's JSON reporter wrote (`results.json`), as far as verdicts and evidence need it.
//!
//! Playwright's own judgement (`ok`, `status`, `expectedStatus`, `stats`) is not read at all: it calls an interrupted test, a
//! test that never started and an expected failure fine. Only attempts count.

mod lenient;
mod model;
mod suites;
mod text;

pub use model::{Attachment, Attempt, Entry, Results, ResultsError, Shard, Spec, TestError};
pub use text::Text;

/// The most bytes of results.json that are read: some 250,000 attempts.
pub const MAX_BYTES: u64 = 512 * 1024 * 1024;

#[cfg(test)]
mod tests;
