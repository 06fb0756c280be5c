//! A verdict has a trace.

use super::{Facts, Findings, Rule, check_files};

pub(super) const RULE: Rule = Rule {
    code: "trace",
    description: "Every verdict that owes evidence has a trace in the run directory, with something in it",
    mend: "Run with traces on (`qa-pilot run` sees to it) and keep the run directory whole",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    check_files(facts, "trace", true, findings);
}
