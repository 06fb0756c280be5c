//! A report is an object with an identity, of a whole run.

use super::{Facts, Findings, Rule};
use crate::model::RunId;

pub(super) const RULE: Rule = Rule {
    code: "report",
    description: "The report is an object that names run, feature, app, executor and model, of a whole run",
    mend: "Write the report with `qa-pilot report` from the run's own results.json and meta.json; gate merged shards, not one of them",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    let claim = &facts.claim;
    if !claim.is_object() {
        findings.refuse("report", "is no object");
        return;
    }
    for key in ["run_id", "feature", "app", "executor", "model_version"] {
        if claim.text(key).is_none() {
            findings.refuse(key, "must be text that is not blank");
        }
    }
    if let Some(run_id) = claim.text("run_id") {
        if RunId::parse(run_id).is_none() {
            findings.refuse("run_id", "must be letters, digits, dots, _ and -");
        } else if let Some(why) = facts.relabelled("run_id", |meta| meta.run_id.as_deref()) {
            findings.refuse("run_id", why);
        }
    }
    for entry in claim.entries().filter(|entry| entry.object().is_none()) {
        findings.refuse(entry.place(), "is no object");
    }
    if claim.get("fixtures").is_some_and(|fixtures| !fixtures.is_array()) {
        findings.refuse("fixtures", "is no list");
    }
    let shard = facts.disk.rerun.as_ref().ok().and_then(|rerun| rerun.shard);
    if let Some(shard) = shard.filter(|shard| shard.total > 1) {
        let message = format!("is shard {} of {}: half a run is no run", shard.current, shard.total);
        findings.refuse("results.json", message);
    }
}
