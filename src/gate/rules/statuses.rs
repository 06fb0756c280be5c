//! The statuses recorded when the run started are the only proof that each case was approved.

use super::super::facts::Recorded;
use super::{Facts, Findings, Rule};

pub(super) const RULE: Rule = Rule {
    code: "statuses",
    description: "The statuses that were recorded when the run started are given, and are those that the run kept",
    mend: "Pass --statuses <run directory>/statuses.json",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    let subject = "--statuses";
    let Some(fact) = &facts.statuses else {
        findings.refuse(subject, "is required: without it no case is known to have been approved");
        return;
    };
    if fact.statuses.is_none() {
        findings.refuse(subject, "holds no mapping from case id to status: it approves nothing");
    }
    match fact.recorded {
        Recorded::Same => {}
        Recorded::Differs => {
            findings.refuse(subject, "differs from the statuses.json that the run kept when it started");
        }
        Recorded::Absent if facts.names_runs() => {
            findings.refuse("statuses.json", "is gone: the run kept it when it started");
        }
        Recorded::Absent => {}
    }
}
