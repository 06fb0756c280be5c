//! A report is an object with an identity, of a whole run.

use super::{Facts, Findings, Rule};
use crate::model::RunId;

pub(super) const RULE: Rule = Rule {
    code: "report",
    description: "The report is an object that names run, feature, app, executor and model as the run itself does, of a whole run",
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
        } else if let Some(why) = facts.relabelled(key).filter(|_| key != "run_id") {
            findings.refuse(key, why);
        }
    }
    for key in ["playwright_version", "browser", "started_at", "finished_at", "sha_format"] {
        if let Some(why) = facts.relabelled(key) {
            findings.refuse(key, why);
        }
    }
    if let Some(run_id) = claim.text("run_id") {
        if RunId::parse(run_id).is_none() {
            findings.refuse("run_id", "must be letters, digits, dots, _ and -");
        } else if let Some(why) = facts.relabelled("run_id") {
            findings.refuse("run_id", why);
        }
    }
    for entry in claim.entries().filter(|entry| entry.object().is_none()) {
        findings.refuse(entry.place(), "is no object");
    }
    if claim.get("fixtures").is_some_and(|fixtures| !fixtures.is_array()) {
        findings.refuse("fixtures", "is no list");
    }
    let Ok(rerun) = &facts.disk.rerun else { return };
    let shard = rerun.shard;
    let noted = facts.disk.meta.as_ref().ok().and_then(|meta| meta.shard);
    if let Some(noted) = noted.filter(|noted| shard != Some(*noted)) {
        let message =
            format!("was shard {} of {} when it ran, and says otherwise now", noted.current, noted.total);
        findings.refuse("results.json", message);
    }
    if let Some(shard) = shard.filter(|shard| shard.total > 1) {
        let message = format!("is shard {} of {}: half a run is no run", shard.current, shard.total);
        findings.refuse("results.json", message);
    }
}
