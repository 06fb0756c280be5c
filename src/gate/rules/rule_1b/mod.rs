//! Rule 1b: the report matches the disk. Every value that follows from results.json and the records is derived again.

mod attempts;
mod rebuild;

use serde_json::Value;

use super::{Facts, Findings, Rule};
use crate::files;

pub(super) const RULE: Rule = Rule {
    code: "rule 1b",
    description: "The report says what results.json and the write records in the run directory say, and every record belongs to a reported attempt of this run; a merged run is its shards",
    mend: "Keep the run directory whole and write the report from it with `qa-pilot report`; a run with errors outside tests must be repeated",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    for entry in facts.claim.entries() {
        let paths = entry.get("writes").and_then(|writes| writes.get("paths")).and_then(Value::as_array);
        for path in paths.map(Vec::as_slice).unwrap_or_default() {
            if !path.as_str().is_some_and(files::is_inner) {
                findings
                    .refuse(entry.place(), format!("the record {path} is no path inside the run directory"));
            }
        }
    }
    if let Err(why) = &facts.disk.meta {
        findings.refuse("meta.json", format!("cannot be used, so nobody can tell which run it was: {why}"));
    }
    match &facts.disk.rerun {
        Err(why) => {
            findings.refuse("results.json", format!("cannot be used, so nothing can be recounted: {why}"))
        }
        Ok(rerun) => {
            for fault in &rerun.unlike_shards {
                findings.refuse("shards", fault);
            }
            errors(facts, &rerun.derived.errors, findings);
            rebuild::check(&facts.claim, &rerun.derived, findings);
            attempts::check(facts, &rerun.derived, findings);
        }
    }
    for stray in &facts.disk.strays {
        findings.refuse(&stray.path, &stray.why);
    }
}

/// An error that belongs to no test is everybody's.
fn errors(facts: &Facts, found: &[String], findings: &mut Findings) {
    for error in found {
        findings.refuse("errors", format!("Playwright failed outside any test: {error}"));
    }
    let claimed = facts.claim.get("errors").cloned().unwrap_or_else(|| Value::Array(Vec::new()));
    if claimed != Value::from(found.to_vec()) {
        findings.refuse("errors", "differ from those in results.json");
    }
}
