//! A verdict is about a build.

use super::{Facts, Findings, Rule};

pub(super) const RULE: Rule = Rule {
    code: "commit_sha",
    description: "The report names the deployed build that was tested",
    mend: "See that the environment's sha_source answers before and after the run, and run again",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    if facts.claim.text("commit_sha").is_none() {
        findings.refuse("commit_sha", "is missing: a run without a build has no provenance");
    } else if let Some(why) = facts.relabelled("commit_sha") {
        findings.refuse("commit_sha", why);
    }
    if facts.names_runs() {
        // `qa-pilot run` asks for the build twice, and tells the later answer.
        for key in ["sha_before", "sha_after"].into_iter().filter(|key| facts.claim.text(key).is_none()) {
            findings.refuse(key, "is missing: nobody can tell whether the build changed during the run");
        }
        if facts.claim.get("commit_sha") != facts.claim.get("sha_after") {
            findings.refuse("commit_sha", "is not the build that was deployed when the run ended");
        }
    }
}
