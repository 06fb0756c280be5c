//! `qa-pilot gate`: whether a run may be published.
//!
//! The report is a claim. [`gather()`] reads everything that the claim can be held against (once, so that what is judged is
//! what was hashed), the [`rules`] compare, and [`evaluate()`] alone makes an [`Approved`].

mod claim;
mod evaluate;
mod facts;
mod finding;
mod gather;
pub mod rules;

use std::path::PathBuf;

pub use claim::{Claim, Entry};
pub use evaluate::{Approved, Decision, Refused, evaluate};
pub use facts::{CasesFact, Disk, Evidence, Facts, Recorded, Rerun, StatusesFact};
pub use finding::{Finding, Findings};
pub use gather::gather;

use crate::files::FileError;
use crate::host::profile::ProfileError;
use crate::yaml::YamlError;

/// What the gate is given.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// report.json.
    pub report: PathBuf,
    /// The host profile.
    pub profile: PathBuf,
    /// The statuses recorded when the run started. Without them the gate refuses.
    pub statuses: Option<PathBuf>,
    /// The feature's cases file. Without it the gate refuses.
    pub cases: Option<PathBuf>,
    /// The tracker's case map, where there is a tracker.
    pub map: Option<PathBuf>,
    /// The run directory; the report's own by default.
    pub base: Option<PathBuf>,
}

/// Why the gate cannot decide: an input is missing or malformed. It never means publishable.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// A file cannot be read or is no JSON.
    #[error(transparent)]
    File(#[from] FileError),
    /// A YAML file cannot be read or does not parse.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// The profile is not valid.
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

/// Gathers and evaluates.
///
/// # Errors
/// When an input is missing or malformed, so that nothing can be decided.
pub fn run(inputs: &Inputs) -> Result<Decision, GateError> {
    Ok(evaluate(gather(inputs)?))
}
