//! A flake shows itself on a retry.

use super::{Facts, Findings, Rule};
use crate::model::Verdict;

pub(super) const RULE: Rule = Rule {
    code: "retries",
    description: "A flaky case was retried at least once",
    mend: "Write the report with `qa-pilot report` from the run's own results.json",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    for case in facts.claim.cases() {
        let retries = case.get("retries").and_then(serde_json::Value::as_u64).unwrap_or(0);
        if case.verdict() == Some(Verdict::Flaky) && retries == 0 {
            findings.refuse(case.place(), "is flaky and was never retried");
        }
    }
}
