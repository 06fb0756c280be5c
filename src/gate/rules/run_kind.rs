//! Only a verdict run can publish.

use super::{Facts, Findings, Rule};

pub(super) const RULE: Rule = Rule {
    code: "run_kind",
    description: "The run was a verdict run; stabilization and CI runs prove nothing about a case",
    mend: "Run again with `qa-pilot run --kind verdict`",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    match facts.claim.get("run_kind") {
        None => findings.refuse("run_kind", "is missing: the run recorded no kind"),
        Some(kind) if kind == "verdict" => {
            if let Some(why) = facts.relabelled("run_kind") {
                findings.refuse("run_kind", why);
            }
        }
        Some(kind) => findings.refuse("run_kind", format!("is {kind}: only a verdict run can publish")),
    }
}
