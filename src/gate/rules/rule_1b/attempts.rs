//! No try is missing, and a record that names its run and its attempt is of this run, fits the try it is attached to and is
//! the only one of its interval.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::facts::{Evidence, Facts};
use super::super::super::finding::Findings;
use crate::host::meta::ShardMeta;
use crate::record::{AttemptInfo, Record};
use crate::report::{Derived, Outcome, Try};

pub(super) fn check(facts: &Facts, derived: &Derived, findings: &mut Findings) {
    let records = &facts.disk.records;
    let names_runs = facts.names_runs();
    let (mut seen, mut used) = (BTreeSet::new(), BTreeSet::new());
    shared_traces(facts, derived, findings);
    for attempt in &derived.tries {
        if attempt.retry != attempt.index {
            let message = format!(
                "try {} of results.json is number {}: a try is missing",
                attempt.index, attempt.retry
            );
            findings.refuse(attempt.subject.place(), message);
        }
        for path in &attempt.records {
            let shard = shard_of(facts, path);
            if names_runs && let Some(message) = stranger(facts, shard, path) {
                findings.refuse(attempt.subject.place(), message);
            }
            let file = records.get(path).and_then(|reading| reading.file);
            if file.is_some_and(|file| !used.insert(file)) {
                findings
                    .refuse(attempt.subject.place(), format!("the record {path} is attached to two tries"));
            }
            let record = records.get(path).and_then(|reading| reading.record.as_ref());
            let Some(record) = record else { continue };
            let Some(named) = record.attempt.as_ref() else { continue };
            if record.version.is_some() && named.status.is_none() {
                findings.refuse(
                    attempt.subject.place(),
                    format!("the record {path} is of a try that never ended"),
                );
            }
            if is_worse(named, attempt.outcome) {
                let status = named.status.as_deref().unwrap_or_default();
                let message = format!(
                    "the record {path} says that its try ended as {status}, and results.json does not"
                );
                findings.refuse(attempt.subject.place(), message);
            }
            for (what, own, other) in differences(attempt, record, named) {
                let message = format!(
                    "the record {path} is of {what} {other}, and is attached to {what} {own}: a copy"
                );
                findings.refuse(attempt.subject.place(), message);
            }
            // A set-up that every shard needs runs in each of them, under one test id.
            let directory = shard.map(|shard| shard.directory.as_str());
            if !seen.insert((directory, &named.test_id, named.retry, named.interval)) {
                let message = format!("the record {path} is of an attempt that has a record already: a copy");
                findings.refuse(attempt.subject.place(), message);
            }
        }
    }
}

/// A trace is of one try, whatever names it has. Where traces are hashed, two with the same bytes are one as well: a trace
/// holds the times of its try.
fn shared_traces(facts: &Facts, derived: &Derived, findings: &mut Findings) {
    let (mut files, mut digests) = (BTreeMap::new(), BTreeMap::new());
    for attempt in &derived.tries {
        let Some(path) = attempt.trace.as_deref() else { continue };
        let file = facts.disk.traces.get(path).and_then(|file| files.insert(file, &attempt.subject));
        let digest = match facts.disk.evidence.get(path) {
            Some(Evidence::File(Some(digest))) => digests.insert(digest, &attempt.subject),
            _ => None,
        };
        if let Some(other) = file.or(digest) {
            let message = format!("the trace {path} is also that of another try, of {}", other.place());
            findings.refuse(attempt.subject.place(), message);
        }
    }
}

/// The shard whose record it is, in a merged run.
fn shard_of<'a>(facts: &'a Facts, path: &str) -> Option<&'a ShardMeta> {
    facts.disk.meta.as_ref().ok()?.shard_of(path)
}

/// Why a record is not of this run, where records name their runs: then one that names none was put there.
fn stranger(facts: &Facts, shard: Option<&ShardMeta>, path: &str) -> Option<String> {
    let own = shard.map(|shard| shard.run_id.as_str()).or_else(|| facts.claim.text("run_id"));
    match facts.run_of(path) {
        named if named == own => None,
        Some(other) => Some(format!("the record {path} is of the run {other:?}: a copy")),
        None => Some(format!("the record {path} names no run, and others of this run do")),
    }
}

/// Whether the guard was told a worse end than the one that is reported. What happens after it was told can only make a try
/// worse.
fn is_worse(named: &AttemptInfo, reported: Outcome) -> bool {
    match named.status.as_deref().map(Outcome::of) {
        None | Some(Outcome::Passed) => false,
        Some(Outcome::Failed) => reported != Outcome::Failed,
        Some(_) => reported == Outcome::Passed,
    }
}

fn differences(attempt: &Try, record: &Record, named: &AttemptInfo) -> Vec<(&'static str, String, String)> {
    let mut pairs = vec![
        ("retry", attempt.retry.to_string(), named.retry.to_string()),
        ("project", format!("{:?}", attempt.project), format!("{:?}", named.project)),
        ("title", format!("{:?}", attempt.title), format!("{:?}", named.title)),
    ];
    // Playwright adds to an id where blob reports that share it are merged. Of another guard's ids nothing is known.
    let own = attempt.test_id.as_deref().filter(|_| record.version.is_some());
    if let Some(own) = own.filter(|own| named.test_id.is_empty() || !own.starts_with(&named.test_id)) {
        pairs.push(("test", format!("{own:?}"), format!("{:?}", named.test_id)));
    }
    pairs.into_iter().filter(|(_, own, other)| own != other).collect()
}
