//! With a tracker, every case has a task.

use super::{Facts, Findings, Rule};

pub(super) const RULE: Rule = Rule {
    code: "map",
    description: "Where a case map is given, every case is in it",
    mend: "Sync the cases with the tracker, which writes the map",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    let Some(map) = &facts.map else { return };
    let Some(map) = map.as_object() else {
        findings.refuse("--map", "holds no mapping from case id to task");
        return;
    };
    for case in facts.claim.cases() {
        if case.id().is_some_and(|id| !map.contains_key(id)) {
            findings.refuse(case.place(), "is not in the case map");
        }
    }
}
