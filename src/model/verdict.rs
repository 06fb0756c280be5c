//! What a run says about a case.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The verdict of a case or a fixture, in the order in which it was found, not of weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every attempt that counted passed.
    Pass,
    /// An attempt failed or timed out and none passed.
    Fail,
    /// One attempt failed and one passed.
    Flaky,
    /// It did not run to an end.
    Blocked,
}

impl Verdict {
    /// The spelling in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Flaky => "flaky",
            Self::Blocked => "blocked",
        }
    }

    /// Whether the case ran: anything but blocked.
    pub fn executed(self) -> bool {
        self != Self::Blocked
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
