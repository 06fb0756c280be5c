//! No try is missing, and a record that names its attempt fits the try it is attached to and is the only one of its
//! interval.

use std::collections::BTreeSet;

use super::super::super::finding::Findings;
use crate::record::{AttemptInfo, Records};
use crate::report::{Derived, Outcome, Try};

pub(super) fn check(derived: &Derived, records: &Records, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for attempt in &derived.tries {
        if attempt.retry != attempt.index {
            let message = format!(
                "try {} of results.json is number {}: a try is missing",
                attempt.index, attempt.retry
            );
            findings.refuse(attempt.subject.place(), message);
        }
        for path in &attempt.records {
            let record = records.get(path).and_then(|reading| reading.record.as_ref());
            let Some(named) = record.and_then(|record| record.attempt.as_ref()) else { continue };
            if is_failure(named) && attempt.outcome != Outcome::Failed {
                let status = named.status.as_deref().unwrap_or_default();
                let message = format!(
                    "the record {path} says that its try ended as {status}, and results.json does not"
                );
                findings.refuse(attempt.subject.place(), message);
            }
            for (what, own, other) in differences(attempt, named) {
                let message = format!(
                    "the record {path} is of {what} {other}, and is attached to {what} {own}: a copy"
                );
                findings.refuse(attempt.subject.place(), message);
            }
            if !seen.insert((&named.test_id, named.retry, named.interval)) {
                let message = format!("the record {path} is of an attempt that has a record already: a copy");
                findings.refuse(attempt.subject.place(), message);
            }
        }
    }
}

/// Whether the guard was told that the try had failed. What happens after that can only make a try worse.
fn is_failure(named: &AttemptInfo) -> bool {
    named.status.as_deref().map(Outcome::of) == Some(Outcome::Failed)
}

fn differences(attempt: &Try, named: &AttemptInfo) -> Vec<(&'static str, String, String)> {
    let pairs = [
        ("retry", attempt.retry.to_string(), named.retry.to_string()),
        ("project", format!("{:?}", attempt.project), format!("{:?}", named.project)),
        ("title", format!("{:?}", attempt.title), format!("{:?}", named.title)),
    ];
    pairs.into_iter().filter(|(_, own, other)| own != other).collect()
}
