//! When much is blocked the environment failed, not the feature.

use super::{Facts, Findings, Rule};
use crate::model::Verdict;

pub(super) const RULE: Rule = Rule {
    code: "run_halted",
    description: "At most one case in ten is blocked",
    mend: "Mend the environment, and run again",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    let total = facts.claim.cases().count();
    let blocked = facts.claim.cases().filter(|case| case.verdict() == Some(Verdict::Blocked)).count();
    if blocked * 10 > total {
        let message = format!(
            "RUN HALTED: {blocked} of {total} cases are blocked; the environment failed, not the feature"
        );
        findings.refuse("cases", message);
    }
}
