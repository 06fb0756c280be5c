//! The `writes` of a case or a fixture: what all its attempts' records say together, retries and projects included. A
//! write on a failed first attempt is still a write.

use serde::Serialize;

use super::read::{Reading, Records};

/// What one attempt attached.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttemptRecords {
    /// A skipped attempt owes no record; one that it left all the same is counted.
    pub skipped: bool,
    /// The record files, relative to the run directory, in the order in which they were attached.
    pub paths: Vec<String>,
}

/// All records of a case or a fixture together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Writes {
    /// Attempts that were not skipped.
    pub attempts: u64,
    /// Every record, in attempt order.
    pub paths: Vec<String>,
    /// Whether each of those attempts was under the page guard.
    pub installed: bool,
    /// The policy that all records name; none when they disagree.
    pub policy: Option<String>,
    /// The prefix that all records name; none when they disagree.
    pub prefix: Option<String>,
    /// The smallest number of signatures.
    pub write_signatures: u64,
    /// The sum.
    pub routed_requests: u64,
    /// The sum.
    pub blocked: u64,
    /// The sum.
    pub observed: u64,
}

/// Adds up the records of `attempts`; none when no attempt attached one.
pub fn aggregate(attempts: &[AttemptRecords], records: &mut Records) -> Option<Writes> {
    let ran = attempts.iter().filter(|attempt| !attempt.skipped).count() as u64;
    let mut readings: Vec<(String, Reading)> = Vec::new();
    let mut installed = true;
    for attempt in attempts {
        let own: Vec<Reading> = attempt.paths.iter().map(|path| records.load(path).clone()).collect();
        installed &= attempt.skipped || is_installed(&own);
        readings.extend(attempt.paths.iter().cloned().zip(own));
    }
    if readings.is_empty() {
        return None;
    }
    let said = |read: fn(&super::Record) -> u64| -> Vec<u64> {
        readings.iter().map(|(_, reading)| reading.record.as_ref().map_or(0, read)).collect()
    };
    let sum = |numbers: Vec<u64>| numbers.into_iter().fold(0, u64::saturating_add);
    Some(Writes {
        attempts: ran,
        installed,
        policy: common(&readings, |record| record.policy.clone()),
        prefix: common(&readings, |record| record.prefix.clone()),
        write_signatures: said(|record| record.write_signatures).into_iter().min().unwrap_or(0),
        routed_requests: sum(said(|record| record.routed_requests)),
        blocked: sum(said(|record| record.blocked)),
        observed: sum(said(|record| record.observed)),
        paths: readings.into_iter().map(|(path, _)| path).collect(),
    })
}

/// Whether the records of one attempt show that it was guarded: one of them says so, and each that does not saw no
/// document (a hook that only sent requests).
fn is_installed(own: &[Reading]) -> bool {
    own.iter().any(Reading::is_installed)
        && own.iter().all(|reading| {
            reading.sound().is_some_and(|record| record.installed || record.documents == Some(0))
        })
}

/// The value that all records name; an unreadable record names none.
fn common(readings: &[(String, Reading)], read: fn(&super::Record) -> Option<String>) -> Option<String> {
    let mut all = readings.iter().map(|(_, reading)| reading.record.as_ref().and_then(read));
    let first = all.next()??;
    all.all(|other| other.as_deref() == Some(&first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;
    use proptest::prelude::*;

    fn record(installed: bool, policy: &str, routed: u64, blocked: u64, extra: &str) -> String {
        let events = vec![
            r#"{"kind":"request","action":"block","reason":"r","method":"POST","url":"u","at":"t"}"#;
            blocked as usize
        ]
        .join(",");
        format!(
            r#"{{"installed":{installed},"policy":"{policy}","prefix":null,"write_signatures":{routed},"routed_requests":{routed},
               "blocked":{blocked},"observed":0,"events":[{events}]{extra}}}"#
        )
    }

    fn run(attempts: &[(bool, &[String])]) -> Option<Writes> {
        let folder = tempfile::tempdir().unwrap();
        let mut listed = Vec::new();
        for (index, (skipped, texts)) in attempts.iter().enumerate() {
            let mut paths = Vec::new();
            for (at, text) in texts.iter().enumerate() {
                let path = format!("{index}/{at}.json");
                files::write_atomic(&folder.path().join(&path), text.as_bytes()).unwrap();
                paths.push(path);
            }
            listed.push(AttemptRecords { skipped: *skipped, paths });
        }
        aggregate(&listed, &mut Records::new(folder.path()))
    }

    #[test]
    fn no_record_at_all_is_none() {
        assert_eq!(run(&[(false, &[]), (true, &[])]), None);
    }

    #[test]
    fn sums_and_the_smallest() {
        let writes = run(&[
            (false, &[record(true, "read-only", 3, 1, "")]),
            (false, &[record(true, "read-only", 5, 0, "")]),
        ])
        .unwrap();
        assert_eq!((writes.attempts, writes.installed, writes.write_signatures), (2, true, 3));
        assert_eq!((writes.routed_requests, writes.blocked, writes.observed), (8, 1, 0));
        assert_eq!(writes.policy.as_deref(), Some("read-only"));
        assert_eq!(writes.paths, ["0/0.json", "1/0.json"]);
    }

    #[test]
    fn every_attempt_that_ran_must_be_guarded() {
        let good = record(true, "read-only", 3, 0, "");
        let bad = record(false, "read-only", 3, 0, "");
        assert!(!run(&[(false, std::slice::from_ref(&good)), (false, &[])]).unwrap().installed);
        assert!(
            !run(&[(false, std::slice::from_ref(&good)), (false, std::slice::from_ref(&bad))])
                .unwrap()
                .installed
        );
        let skipped = run(&[(false, std::slice::from_ref(&good)), (true, &[bad])]).unwrap();
        assert!(skipped.installed && skipped.attempts == 1 && skipped.routed_requests == 6);
    }

    #[test]
    fn a_hook_that_only_sent_requests_does_not_unguard_its_attempt() {
        let page = record(true, "read-only", 3, 0, "");
        let hook = |documents: &str| record(false, "read-only", 1, 0, documents);
        assert!(run(&[(false, &[hook(r#","documents":0"#), page.clone()])]).unwrap().installed);
        assert!(!run(&[(false, &[hook(r#","documents":2"#), page.clone()])]).unwrap().installed);
        assert!(
            !run(&[(false, &[hook(""), page])]).unwrap().installed,
            "a guard that does not count documents"
        );
        assert!(!run(&[(false, &[hook(r#","documents":0"#)])]).unwrap().installed, "requests alone");
    }

    #[test]
    fn records_that_disagree_name_no_policy() {
        let one = record(true, "read-only", 1, 0, "");
        let other = record(true, "unrestricted", 1, 0, "");
        assert_eq!(run(&[(false, std::slice::from_ref(&one)), (false, &[other])]).unwrap().policy, None);
        assert_eq!(run(&[(false, &[one, "{".to_owned()])]).unwrap().policy, None);
    }

    proptest! {
        /// However attempts are cut up, sums are sums and one unguarded attempt unguards the whole.
        #[test]
        fn agrees_with_an_oracle(attempts in prop::collection::vec((any::<bool>(), prop::collection::vec((any::<bool>(), 0u64..4, 0u64..3), 0..3)), 0..5)) {
            let texts: Vec<(bool, Vec<String>)> = attempts.iter().map(|(skipped, own)| {
                (*skipped, own.iter().map(|(installed, routed, blocked)| record(*installed, "read-only", *routed, *blocked, "")).collect())
            }).collect();
            let borrowed: Vec<(bool, &[String])> = texts.iter().map(|(skipped, own)| (*skipped, own.as_slice())).collect();
            let writes = run(&borrowed);
            let all: Vec<_> = attempts.iter().flat_map(|(_, own)| own).collect();
            prop_assert_eq!(writes.is_some(), !all.is_empty());
            if let Some(writes) = writes {
                prop_assert_eq!(writes.routed_requests, all.iter().map(|r| r.1).sum::<u64>());
                prop_assert_eq!(writes.blocked, all.iter().map(|r| r.2).sum::<u64>());
                prop_assert_eq!(writes.write_signatures, all.iter().map(|r| r.1).min().unwrap());
                let guarded = attempts.iter().filter(|(skipped, _)| !skipped).all(|(_, own)| !own.is_empty() && own.iter().all(|r| r.0));
                prop_assert_eq!(writes.installed, guarded);
            }
        }
    }
}
