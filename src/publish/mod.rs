//! What is told about a run: payloads for the tracker, the reduced record, statuses and transitions, confidence, coverage,
//! the ledger of approvals, bugs, and what CI runs and says.
//!
//! Nothing here talks to a tracker: every part computes what is to be sent, and whoever sends it sends exactly that. What
//! is published takes an [`crate::gate::Approved`], so that a run which nobody gated cannot be. Texts of a report go
//! through [`Word`] and its like, which hold no markup, no path and no URL.

pub mod bugs;
pub mod ci;
mod confidence;
mod coverage;
mod ledger;
mod ledger_file;
mod number;
pub mod payload;
mod plain;
mod record;
mod standing;
mod told;
mod transitions;
mod verdicts;

use std::path::PathBuf;

pub use confidence::Confidence;
pub use coverage::Coverage;
pub use ledger::{Approval, Ledger, approve};
pub use plain::{BuildId, InnerPath, Moment, SpecSha, Word};
pub use record::Record;
pub use standing::Standing;
pub use told::{Told, ToldCase};
pub use transitions::{Transition, Transitions};
pub use verdicts::Verdicts;

use crate::files::FileError;
use crate::host::cases::Cases;
use crate::yaml::YamlError;

/// Why nothing is told.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// A file cannot be read, written or parsed.
    #[error(transparent)]
    File(#[from] FileError),
    /// A YAML file cannot be read or does not parse.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// A ledger that cannot be trusted. Our output would replace it, so it is never taken as empty.
    #[error("{}: {message}; restore it from version control, or remove it to start anew", .path.display())]
    Ledger {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A cases file in which cases cannot be counted.
    #[error("the cases file: {} is no case of its own; `qa-pilot cases lint` says what to mend", .0.join(", "))]
    Cases(Vec<String>),
    /// A report that is none, or holds something that is not of its form.
    #[error("{place}: {message}")]
    Report {
        /// The field.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// An approval that would rest on nothing.
    #[error("{id}: {message}")]
    Approval {
        /// The case.
        id: String,
        /// Why.
        message: &'static str,
    },
    /// A bug from an environment that nobody vouches for.
    #[error("{0}")]
    Environment(String),
}

/// Refuses a cases file in which cases cannot be counted: what is left out would make the feature look better than it is.
///
/// # Errors
/// When an entry is no case, or a second one of the same id.
pub fn countable(cases: &Cases) -> Result<(), PublishError> {
    if cases.malformed.is_empty() { Ok(()) } else { Err(PublishError::Cases(cases.malformed.clone())) }
}

impl PublishError {
    /// Whether the inputs could be read and the answer is no, as against inputs that cannot be used.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Report { .. } | Self::Approval { .. } | Self::Environment(_))
    }
}
