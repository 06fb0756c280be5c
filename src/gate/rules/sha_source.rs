//! A build id comes from somewhere.

use super::{Facts, Findings, Rule};

pub(super) const RULE: Rule = Rule {
    code: "sha_source",
    description: "The report names the URL that the build was read from",
    mend: "Run with `qa-pilot run`, which reads the build from the profile's sha_source",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    if facts.claim.text("sha_source").is_none() {
        findings.refuse("sha_source", "is missing: nobody can tell where the build was read");
    } else if let Some(why) = facts.relabelled("sha_source") {
        findings.refuse("sha_source", why);
    }
}
