//! The ledger of bugs, `testing/<feature>/bugs.json`: case id to the bug that is known of it. It is committed.
//!
//! A ledger that cannot be read is refused, never taken as empty: what we print would replace it, and every bug would be
//! filed anew.

use std::path::Path;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::files::Held;
use crate::publish::{PublishError, ledger_file};

/// Known bugs by case id, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct BugLedger(IndexMap<String, Entry>);

/// A known bug. Keys that we do not know are kept.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Entry {
    /// Its task; none until somebody has filed it.
    pub task_id: Option<String>,
    /// By what its failure is known again.
    pub signature: String,
    /// The run that showed it first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen_run: Option<String>,
    /// The run that showed it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_run: Option<String>,
    /// In how many runs it was confirmed.
    #[serde(default = "once")]
    pub seen_count: u64,
    /// The tasks of older bugs of the case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

fn once() -> u64 {
    1
}

impl BugLedger {
    /// Reads the file at `path`; none when there is none yet.
    ///
    /// # Errors
    /// When it is there and is no mapping from case id to a bug.
    pub fn read(path: &Path) -> Result<Option<Self>, PublishError> {
        let entry = |value: Value| match value {
            Value::Object(_) => serde_json::from_value(value).map_err(|error| format!("is no bug: {error}")),
            _ => Err("is no bug".to_owned()),
        };
        Ok(ledger_file::read(path, "bug", entry)?.map(Self))
    }

    /// Replaces the file in one step.
    ///
    /// # Errors
    /// When it cannot be written; then the old file is as it was.
    pub fn write(&self, held: &Held) -> Result<(), PublishError> {
        ledger_file::write(held, self)
    }

    /// The bug that is known of a case.
    pub fn entry(&self, id: &str) -> Option<&Entry> {
        self.0.get(id)
    }

    /// Notes that the run `run` showed the bug `known` of a case again.
    pub(super) fn seen_again(&mut self, id: &str, known: &Entry, run: &str) {
        let mut entry = known.clone();
        entry.last_seen_run = Some(run.to_owned());
        entry.seen_count = entry.seen_count.saturating_add(1);
        self.0.insert(id.to_owned(), entry);
    }

    /// Notes a new bug of a case, which begins to count anew; of the one that was `known` only the tasks of older bugs
    /// are carried over.
    pub(super) fn filed(&mut self, id: &str, known: Option<&Entry>, signature: &str, run: &str) {
        let mut superseded = known.map(|entry| entry.superseded.clone()).unwrap_or_default();
        let replaced =
            known.filter(|entry| entry.signature != signature).and_then(|entry| entry.task_id.clone());
        superseded.extend(replaced);
        let entry = Entry {
            task_id: None,
            signature: signature.to_owned(),
            first_seen_run: Some(run.to_owned()),
            last_seen_run: Some(run.to_owned()),
            seen_count: 1,
            superseded,
            rest: Map::new(),
        };
        self.0.insert(id.to_owned(), entry);
    }
}
