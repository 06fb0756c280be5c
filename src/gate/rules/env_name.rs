//! A run was on a registered environment.

use super::{Facts, Findings, Rule};

pub(super) const RULE: Rule = Rule {
    code: "env_name",
    description: "The report names the environment that the run names, and the profile registers it",
    mend: "Register the environment in the profile, or run on one that is",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    match facts.claim.text("env_name") {
        None => findings.refuse("env_name", "must be text that is not blank"),
        Some(name) if facts.profile.environment(name).is_none() => {
            let known: Vec<&str> = facts.profile.environments.keys().map(String::as_str).collect();
            findings.refuse("env_name", format!("{name} is not registered (known: {})", known.join(", ")));
        }
        Some(_) => {
            if let Some(why) = facts.relabelled("env_name") {
                findings.refuse("env_name", why);
            }
        }
    }
}
