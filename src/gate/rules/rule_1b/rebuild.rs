//! Each entry of the report against the one derived from results.json.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::super::super::claim::{Claim, Entry};
use super::super::super::finding::Findings;
use crate::report::{Derived, Subject};

/// What a case's entry derives from results.json and the records. Not the digest of the trace (rule 6 hashes the file)
/// and not the hash of the spec (it needs the repository).
const OF_A_CASE: &[&str] = &[
    "verdict",
    "writes",
    "retries",
    "trace",
    "video",
    "console_log",
    "failure_summary",
    "duration_ms",
    "assertions",
];
const OF_A_FIXTURE: &[&str] = &["verdict", "writes", "trace"];

pub(super) fn check(claim: &Claim, derived: &Derived, findings: &mut Findings) {
    let mut rebuilt: BTreeMap<Subject, (Value, &[&str])> = BTreeMap::new();
    for case in &derived.cases {
        rebuilt.insert(Subject::Case(case.id.clone()), (json(case), OF_A_CASE));
    }
    for fixture in &derived.fixtures {
        rebuilt.insert(Subject::Fixture(fixture.name.clone(), fixture.phase), (json(fixture), OF_A_FIXTURE));
    }
    for entry in claim.entries().filter(|entry| entry.object().is_some()) {
        // Taken out, so that a second entry of the same name finds nothing.
        match entry.subject().and_then(|subject| rebuilt.remove(&subject)) {
            Some((value, keys)) => compare(entry, &value, keys, findings),
            None => findings.refuse(entry.place(), "never ran, as far as results.json says"),
        }
    }
    for subject in rebuilt.keys() {
        findings.refuse(subject.place(), "ran, as results.json says, and is not in the report");
    }
}

fn compare(entry: Entry<'_>, rebuilt: &Value, keys: &[&str], findings: &mut Findings) {
    for key in keys {
        let claimed = entry.get(key).unwrap_or(&Value::Null);
        let found = rebuilt.get(key).unwrap_or(&Value::Null);
        if claimed == found {
            continue;
        }
        let message = match (claimed.as_object(), found.as_object()) {
            (Some(claimed), Some(found)) => {
                let differing = claimed.keys().chain(found.keys().filter(|key| !claimed.contains_key(*key)));
                let differing: Vec<&str> = differing
                    .filter(|key| claimed.get(*key) != found.get(*key))
                    .map(String::as_str)
                    .collect();
                format!("{key} differs from the disk in {}", differing.join(", "))
            }
            _ => format!("{key} is {}, and results.json says {}", short(claimed), short(found)),
        };
        findings.refuse(entry.place(), message);
    }
}

/// A value for a message; long ones are cut.
fn short(value: &Value) -> String {
    const LONGEST: usize = 120;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Entries are plain data, which always serializes; should one not, null never equals a claim.
fn json(entry: &impl Serialize) -> Value {
    serde_json::to_value(entry).unwrap_or(Value::Null)
}
