//! Rule 4: scoped-write stayed in its scope.

use super::{Facts, Findings, Rule};
use crate::model::PolicyKind;

pub(super) const RULE: Rule = Rule {
    code: "rule 4",
    description: "A scoped-write run wrote nothing outside its scope, and tried nothing there",
    mend: "The records in the run directory name what was blocked; keep the spec to entities that carry the prefix",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    if facts.policy() != Some(PolicyKind::ScopedWrite) {
        return;
    }
    for entry in facts.claim.entries() {
        let blocked = entry.writes_count("blocked");
        if blocked > 0 {
            findings.refuse(
                entry.place(),
                format!("scoped-write run blocked {blocked} write(s) outside its scope"),
            );
        }
    }
}
