//! A build that changed during the run leaves no verdict.

use serde_json::Value;

use super::{Facts, Findings, Rule};
use crate::host::meta::sha_mismatch;
use crate::model::Verdict;

pub(super) const RULE: Rule = Rule {
    code: "sha_mismatch",
    description: "When the deployed build changed during the run every case is blocked, and the report's flag says so",
    mend: "Run again against one build",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    let claim = &facts.claim;
    let mismatch = sha_mismatch(claim.text("sha_before"), claim.text("sha_after"));
    if claim.get("sha_mismatch").is_some_and(|flag| *flag != Value::Bool(mismatch)) {
        findings
            .refuse("sha_mismatch", format!("disagrees with sha_before and sha_after, which say {mismatch}"));
    }
    for (key, why) in
        [("sha_before", facts.relabelled("sha_before")), ("sha_after", facts.relabelled("sha_after"))]
    {
        if let Some(why) = why {
            findings.refuse(key, why);
        }
    }
    if mismatch {
        for case in claim.cases().filter(|case| case.verdict() != Some(Verdict::Blocked)) {
            findings.refuse(case.place(), "still claims a verdict, and the build changed during the run");
        }
    }
}
