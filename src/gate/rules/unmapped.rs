//! A test without a case.

use serde_json::Value;

use super::{Facts, Findings, Rule};

pub(super) const RULE: Rule = Rule {
    code: "unmapped",
    description: "A warning: tests whose titles carry no case id were left out",
    mend: "Begin the title with a case id, or with FIXTURE and a name",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    let titles = facts.claim.get("unmapped_specs").and_then(Value::as_array);
    for title in titles.map(Vec::as_slice).unwrap_or_default() {
        let title = title.as_str().unwrap_or("a title that is no text");
        findings.warn("unmapped_specs", format!("{title} is neither a case nor a fixture and was left out"));
    }
}
