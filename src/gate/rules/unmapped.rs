//! A test without a case.

use super::{Facts, Findings, Rule};

pub(super) const RULE: Rule = Rule {
    code: "unmapped",
    description: "A warning: tests whose titles carry no case id were left out",
    mend: "Begin the title with a case id, or with FIXTURE and a name",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    // Of the run itself, not of the claim: a report that leaves them out hides nothing.
    let Ok(rerun) = &facts.disk.rerun else { return };
    for title in &rerun.derived.unmapped_specs {
        findings.warn("unmapped_specs", format!("{title} is neither a case nor a fixture and was left out"));
    }
}
