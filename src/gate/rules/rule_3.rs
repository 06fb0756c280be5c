//! Rule 3: read-only wrote nothing, and tried to write nothing.

use super::{Facts, Findings, Rule};
use crate::model::PolicyKind;

pub(super) const RULE: Rule = Rule {
    code: "rule 3",
    description: "A read-only run neither wrote nor tried to",
    mend: "The records in the run directory name each write; mend the spec, or declare scoped-write",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    if facts.policy() != Some(PolicyKind::ReadOnly) {
        return;
    }
    for entry in facts.claim.entries() {
        let writes = entry.writes_count("blocked").saturating_add(entry.writes_count("observed"));
        if writes > 0 {
            findings.refuse(entry.place(), format!("read-only run recorded {writes} write(s)"));
        }
    }
}
