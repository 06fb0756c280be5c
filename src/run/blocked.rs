//! What the guard blocked in a run, test by test, as its records tell it: for whoever wonders why a click did nothing.

use crate::files::{self, RECORD_CAP};
use crate::record::{Event, EventAction, FIXTURES, WritesRecord};
use serde::Serialize;
use std::path::Path;
use walkdir::WalkDir;

/// How many are told one by one.
const TOLD: usize = 20;

/// Blocked controls and requests of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Blocked {
    /// The first of them, by file and line of their tests and then in the order in which they were blocked.
    pub first: Vec<BlockedEvent>,
    /// How many there are beside those.
    pub more: usize,
}

/// One control or request that was blocked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlockedEvent {
    /// The test's title; empty where no test is to blame.
    pub title: String,
    /// Its spec file, as Playwright reported it.
    pub file: String,
    /// Its line there.
    pub line: u64,
    /// 0 for the first try.
    pub retry: u64,
    /// `control "<name>"`, or method and URL.
    pub what: String,
    /// What decided.
    pub reason: String,
}

/// Reads the records below `run_dir`. One that cannot be read tells nothing here; the gate refuses the run for it.
pub(super) fn of_run(run_dir: &Path) -> Blocked {
    let mut records: Vec<WritesRecord> = WalkDir::new(run_dir)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() != 1 || entry.file_name() != FIXTURES)
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file() && entry.file_name() == "writes.json")
        .filter_map(|entry| files::read_json(entry.path(), RECORD_CAP).ok())
        .collect();
    records.sort_by(|a, b| place(a).cmp(&place(b)));
    let mut blocked = Blocked::default();
    for record in &records {
        for event in record.events.iter().filter(|event| event.action() == EventAction::Block) {
            if blocked.first.len() < TOLD {
                blocked.first.push(told(record, event));
            } else {
                blocked.more += 1;
            }
        }
    }
    blocked
}

fn place(record: &WritesRecord) -> Option<(&str, u64, u64, u64)> {
    let attempt = record.attempt.as_ref()?;
    Some((&attempt.file, attempt.line, attempt.retry, attempt.interval))
}

fn told(record: &WritesRecord, event: &Event) -> BlockedEvent {
    let (what, reason) = match event {
        Event::Control(control) => (format!("control \"{}\"", control.label), &control.reason),
        Event::Request(request) => (format!("{} {}", request.method, request.url), &request.reason),
    };
    let attempt = record.attempt.clone().unwrap_or_default();
    BlockedEvent {
        title: attempt.title,
        file: attempt.file,
        line: attempt.line,
        retry: attempt.retry,
        what,
        reason: reason.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(file: &str, line: u64, retry: u64, events: &serde_json::Value) -> Vec<u8> {
        let attempt =
            json!({ "title": format!("{file} {line}"), "file": file, "line": line, "retry": retry });
        let record = json!({ "policy": "read-only", "prefix": null, "blocked": 0, "observed": 0, "attempt": attempt, "events": events });
        serde_json::to_vec(&record).unwrap()
    }

    fn control(label: &str, action: &str) -> serde_json::Value {
        json!({ "kind": "control", "action": action, "reason": "why", "label": label, "at": "" })
    }

    #[test]
    fn by_file_and_line_and_only_what_was_blocked() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, bytes: &[u8]| files::write_atomic(&folder.path().join(path), bytes).unwrap();
        let request = json!({ "kind": "request", "action": "block", "reason": "listed", "method": "POST", "url": "https://a.test/x", "at": "" });
        put(
            "test-results/a/writes.json",
            &record("b.spec.ts", 9, 0, &json!([control("Save", "block"), control("Send", "observe")])),
        );
        put("test-results/b/writes.json", &record("b.spec.ts", 3, 1, &json!([request])));
        put("outside/c/writes.json", &record("a.spec.ts", 7, 0, &json!([control("Pay", "block")])));
        put("fixtures/writes.json", &record("a.spec.ts", 1, 0, &json!([control("never", "block")])));
        put("test-results/d/writes.json", b"{");
        let Blocked { first, more } = of_run(folder.path());
        let told: Vec<(&str, u64, u64, &str)> = first
            .iter()
            .map(|event| (event.file.as_str(), event.line, event.retry, event.what.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                ("a.spec.ts", 7, 0, "control \"Pay\""),
                ("b.spec.ts", 3, 1, "POST https://a.test/x"),
                ("b.spec.ts", 9, 0, "control \"Save\"")
            ]
        );
        assert_eq!(more, 0);
    }

    #[test]
    fn of_many_the_first_twenty() {
        let folder = tempfile::tempdir().unwrap();
        let events: Vec<_> = (0..25).map(|n| control(&format!("Delete {n}"), "block")).collect();
        files::write_atomic(&folder.path().join("writes.json"), &record("a.spec.ts", 1, 0, &json!(events)))
            .unwrap();
        let blocked = of_run(folder.path());
        assert_eq!((blocked.first.len(), blocked.more), (20, 5));
        assert_eq!(blocked.first[19].what, "control \"Delete 19\"");
    }
}
