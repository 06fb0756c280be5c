//! The kind of an environment comes from the profile.

use super::{Facts, Findings, Rule};

pub(super) const RULE: Rule = Rule {
    code: "env_kind",
    description: "The run recorded the environment's kind, and it is the profile's",
    mend: "Run again with this version, which records the kind; mend the profile if the kind is wrong there",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    match (facts.claim.get("env_kind"), facts.environment()) {
        (None, _) => findings.refuse("env_kind", "missing; re-run with 0.3.0"),
        (Some(kind), Some(environment)) if kind != environment.kind.as_str() => {
            findings
                .refuse("env_kind", format!("is {kind}, and the profile says {}", environment.kind.as_str()));
        }
        (Some(_), _) => {
            if let Some(why) = facts.relabelled("env_kind") {
                findings.refuse("env_kind", why);
            }
        }
    }
}
