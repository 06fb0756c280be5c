//! The URL of a run is the registered one.

use super::{Facts, Findings, Rule};

pub(super) const RULE: Rule = Rule {
    code: "env_url",
    description: "The report's URL is the one that the profile registers for its app and environment",
    mend: "Register the app's URL under the environment's apps, or run against the registered one",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    let Some(environment) = facts.environment() else { return };
    let app = facts.claim.text("app").unwrap_or_default();
    let registered = environment.apps.get(app);
    if registered.is_none() {
        findings.refuse("env_url", format!("the environment registers no URL for the app {app}"));
    }
    match (facts.claim.text("env_url"), registered) {
        (None, _) => findings.refuse("env_url", "is missing"),
        (Some(url), Some(registered)) if without_slash(url) != without_slash(registered) => {
            findings.refuse("env_url", format!("is {url}, and the profile registers {registered}"));
        }
        (Some(_), _) => {
            if let Some(why) = facts.relabelled("env_url") {
                findings.refuse("env_url", why);
            }
        }
    }
}

fn without_slash(url: &str) -> &str {
    url.strip_suffix('/').unwrap_or(url)
}
