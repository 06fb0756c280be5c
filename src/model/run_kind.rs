//! What a run is for.

use std::fmt;

/// What a run is for; only the first kind can be published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunKind {
    /// Its verdicts are meant to be published.
    Verdict,
    /// It shows that new specs are stable.
    Stabilization,
    /// It guards a branch.
    Ci,
}

impl RunKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Verdict, Self::Stabilization, Self::Ci];

    /// The spelling in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Stabilization => "stabilization",
            Self::Ci => "ci",
        }
    }
}

impl fmt::Display for RunKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
