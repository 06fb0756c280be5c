//! A case may run when its status says so.

use super::{Facts, Findings, Rule};
use crate::host::statuses::Status;

pub(super) const RULE: Rule = Rule {
    code: "status",
    description: "Every case was in a status in which it may run when the run started",
    mend: "Have the case approved for execution, and run it again; status names are the profile's clickup.statuses",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    let Some(statuses) = facts.statuses.as_ref().and_then(|fact| fact.statuses.as_ref()) else { return };
    for case in facts.claim.cases() {
        let Some(id) = case.id() else { continue };
        match statuses.of(id, &facts.profile.statuses) {
            Status::Known(key) if key.is_executable() => {}
            Status::Known(key) => {
                let name = facts.profile.statuses.name(key);
                findings.refuse(case.place(), format!("was in {name} when the run started: it may not run"));
            }
            Status::Undeclared(value) => {
                let known: Vec<&str> = facts.profile.statuses.all().collect();
                findings.refuse(
                    case.place(),
                    format!("has the status {value}, which is none of {}", known.join(", ")),
                );
            }
            Status::Missing => findings.refuse(case.place(), "has no recorded status: it was not approved"),
        }
    }
}
