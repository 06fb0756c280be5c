//! A failure says what failed.

use super::{Facts, Findings, Rule};
use crate::model::Verdict;

pub(super) const RULE: Rule = Rule {
    code: "failure_summary",
    description: "Every failed case carries Playwright's words about the failure",
    mend: "A failure without an error text comes from a crash: look at the run's output, and run again",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    for case in facts.claim.cases() {
        if case.verdict() == Some(Verdict::Fail) && case.text("failure_summary").is_none() {
            findings.refuse(case.place(), "failed and has no failure summary");
        }
    }
}
