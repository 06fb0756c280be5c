//! What a rule found.

use serde::Serialize;

/// One refusal or warning.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Finding {
    /// The rule's code, such as `rule 3` or `env_url`.
    pub code: &'static str,
    /// The place in the report or on the disk, such as `cases[ORDER-CART-001]`.
    pub subject: String,
    /// What is wrong; without the code.
    pub message: String,
}

/// What one rule found so far. Rules add to it in the order of the report, so that the same inputs give the same bytes.
#[derive(Debug)]
pub struct Findings {
    code: &'static str,
    pub(super) refusals: Vec<Finding>,
    pub(super) warnings: Vec<Finding>,
}

impl Findings {
    /// None yet, for the rule `code`.
    pub(super) fn new(code: &'static str) -> Self {
        Self { code, refusals: Vec::new(), warnings: Vec::new() }
    }

    /// The run cannot be published.
    pub(super) fn refuse(&mut self, subject: impl Into<String>, message: impl Into<String>) {
        let finding = self.finding(subject, message);
        self.refusals.push(finding);
    }

    /// The run can be published, but a person should look.
    pub(super) fn warn(&mut self, subject: impl Into<String>, message: impl Into<String>) {
        let finding = self.finding(subject, message);
        self.warnings.push(finding);
    }

    fn finding(&self, subject: impl Into<String>, message: impl Into<String>) -> Finding {
        Finding { code: self.code, subject: subject.into(), message: message.into() }
    }
}
