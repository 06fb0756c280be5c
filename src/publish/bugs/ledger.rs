//! The ledger of bugs, `testing/<feature>/bugs.json`: case id to the bug that is known of it. It is committed.
//!
//! A ledger that cannot be read is refused, never taken as empty: what we print would replace it, and every bug would be
//! filed anew.

use std::path::Path;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::files::{self, DECLARED_CAP, FileError};
use crate::json;
use crate::publish::PublishError;

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
        let corrupt = |message: String| PublishError::Ledger { path: path.to_owned(), message };
        let bytes = match files::read_capped(path, DECLARED_CAP) {
            Err(FileError::Missing(_)) => return Ok(None),
            other => other?,
        };
        let value = json::parse(path, &bytes).map_err(|error| corrupt(format!("is no ledger ({error})")))?;
        let Value::Object(object) = value else {
            return Err(corrupt("is no ledger: it must be an object from case id to bug".to_owned()));
        };
        let mut entries = IndexMap::new();
        for (id, value) in object {
            if !value.is_object() {
                return Err(corrupt(format!("is no ledger: {id:?} is no bug")));
            }
            let entry = serde_json::from_value(value)
                .map_err(|error| corrupt(format!("is no ledger: {id:?}: {error}")))?;
            entries.insert(id, entry);
        }
        Ok(Some(Self(entries)))
    }

    /// Replaces the file at `path` in one step.
    ///
    /// # Errors
    /// When it cannot be written; then the old file is as it was.
    pub fn write(&self, path: &Path) -> Result<(), PublishError> {
        Ok(files::write_atomic(path, &files::json_bytes(self)?)?)
    }

    /// The bug that is known of a case.
    pub fn entry(&self, id: &str) -> Option<&Entry> {
        self.0.get(id)
    }

    /// Notes that the run `run` showed a known bug again.
    pub(super) fn seen_again(&mut self, id: &str, run: &str) {
        if let Some(entry) = self.0.get_mut(id) {
            entry.last_seen_run = Some(run.to_owned());
            entry.seen_count = entry.seen_count.saturating_add(1);
        }
    }

    /// Notes a new bug, which begins to count anew; only the tasks of older bugs are carried over.
    pub(super) fn filed(&mut self, id: &str, signature: &str, run: &str) {
        let old = self.0.get(id);
        let mut superseded = old.map(|entry| entry.superseded.clone()).unwrap_or_default();
        let replaced =
            old.filter(|entry| entry.signature != signature).and_then(|entry| entry.task_id.clone());
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
