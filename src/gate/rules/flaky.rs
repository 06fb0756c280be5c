//! A case that passed only on retry.

use super::{Facts, Findings, Rule};
use crate::model::Verdict;

pub(super) const RULE: Rule = Rule {
    code: "flaky",
    description: "A warning: a case failed and passed in one run",
    mend: "Look at the trace of the try that failed; quarantine the case until it is understood",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    for case in facts.claim.cases().filter(|case| case.verdict() == Some(Verdict::Flaky)) {
        findings.warn(case.place(), "failed and passed in one run");
    }
}
