//! The summary agrees with the cases.

use serde_json::Value;

use super::{Facts, Findings, Rule};
use crate::report::Summary;

pub(super) const RULE: Rule = Rule {
    code: "summary",
    description: "The counts of the summary are those of the cases",
    mend: "Write the report with `qa-pilot report`; nobody edits counts",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    let Some(summary) = facts.claim.get("summary").and_then(Value::as_object) else {
        findings.refuse("summary", "is missing");
        return;
    };
    let counted = Summary::of(facts.claim.cases().filter_map(|case| case.verdict()));
    let counts = [
        ("pass", counted.pass),
        ("fail", counted.fail),
        ("flaky", counted.flaky),
        ("blocked", counted.blocked),
    ];
    for (word, count) in counts {
        let said = summary.get(word).unwrap_or(&Value::Null);
        let is_right = said.as_u64() == Some(count) || (said.is_null() && count == 0);
        if !is_right {
            findings.refuse(format!("summary.{word}"), format!("says {said}, and the cases count {count}"));
        }
    }
}
