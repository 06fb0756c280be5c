//! A verdict is one of four.

use super::{Facts, Findings, Rule};

pub(super) const RULE: Rule = Rule {
    code: "verdict",
    description: "Every verdict is pass, fail, flaky or blocked",
    mend: "Write the report with `qa-pilot report`; nobody edits verdicts",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    for entry in facts.claim.entries().filter(|entry| entry.object().is_some()) {
        if entry.verdict().is_none() {
            let word = entry.get("verdict").map_or_else(|| "missing".to_owned(), ToString::to_string);
            findings
                .refuse(entry.place(), format!("verdict is {word}: must be pass, fail, flaky or blocked"));
        }
    }
}
