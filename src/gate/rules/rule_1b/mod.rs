//! Rule 1b: the report matches the disk. Every value that follows from results.json and the records is derived again.

mod attempts;
mod rebuild;

use serde_json::Value;

use super::{Facts, Findings, Rule};
use crate::files;

pub(super) const RULE: Rule = Rule {
    code: "rule 1b",
    description: "The report says what results.json and the write records in the run directory say, every record and every trace belongs to one reported attempt of this run, and each case is about the spec that was hashed when the run started; a merged run is its shards",
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
            kept(facts, findings);
            if list(facts, "unmapped_specs") != Value::from(rerun.derived.unmapped_specs.clone()) {
                findings.refuse("unmapped_specs", "differ from those in results.json");
            }
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
    if list(facts, "errors") != Value::from(found.to_vec()) {
        findings.refuse("errors", "differ from those in results.json");
    }
}

/// A list of the claim; one that is left out is empty.
fn list(facts: &Facts, key: &str) -> Value {
    facts.claim.get(key).cloned().unwrap_or_else(|| Value::Array(Vec::new()))
}

/// What each verdict is about is what the run hashed before anything ran.
fn kept(facts: &Facts, findings: &mut Findings) {
    let kept = match &facts.disk.spec_shas {
        Err(why) => return findings.refuse("spec-shas.json", format!("cannot be used: {why}")),
        Ok(None) if facts.names_runs() => {
            return findings.refuse("spec-shas.json", "is gone: the run kept it when it started");
        }
        Ok(kept) => kept,
    };
    for case in facts.claim.cases() {
        let (Some(id), claimed) = (case.id(), case.get("spec_sha")) else { continue };
        match kept {
            Some(kept) if claimed.map(Value::as_str) != kept.get(id).map(|hash| Some(hash.as_str())) => {
                findings
                    .refuse(case.place(), "spec_sha differs from the hash that the run kept when it started");
            }
            None if claimed.is_some() => findings.warn(
                case.place(),
                "nothing in the run directory says that its spec_sha is that of what ran",
            ),
            _ => {}
        }
    }
}
