//! A fault in something that a person wrote, at a place that they can find.

use std::fmt;

/// One fault: where, and what to mend. Shown as `mutation.write_signatures[0].url: does not compile: ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The place, as a path of keys and indexes: `environments.qa.kind`.
    pub path: String,
    /// What is wrong and what is wanted; lower case, no full stop.
    pub message: String,
}

impl Fault {
    /// A fault at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}
