//! A seeded back end always succeeds.

use super::{Facts, Findings, Rule};

pub(super) const RULE: Rule = Rule {
    code: "api_mode",
    description: "The run was against a real back end, not the host's sandbox",
    mend: "Run again with the application's real back end",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    match facts.claim.text("api_mode") {
        None => findings.refuse("api_mode", "must be text that is not blank"),
        Some(mode) if mode == facts.profile.sandbox.value => {
            findings.refuse("api_mode", format!("is {mode}: sandbox runs cannot be published"));
        }
        Some(_) => {
            if let Some(why) = facts.relabelled("api_mode") {
                findings.refuse("api_mode", why);
            }
        }
    }
}
