//! The ledger of approvals, `testing/<feature>/approved.json`: case id to the hash of what QA approved. It is committed,
//! and CI runs nothing but what stands in it.
//!
//! It has two writers. A result review approves verdicts and seeds entries ([`approve`]); transitions keep or clear them.
//! A ledger that cannot be read is refused: what we print would replace it.

use std::path::Path;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use super::PublishError;
use super::verdicts::Verdicts;
use crate::files::{self, DECLARED_CAP, FileError};
use crate::json;
use crate::model::Verdict;

/// Approved hashes by case id, in the order of the file.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Ledger(IndexMap<String, String>);

/// What a review prints.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Approval {
    /// The ledger after it.
    pub approved_ledger: Ledger,
}

impl Ledger {
    /// Reads the file at `path`; none when there is none yet.
    ///
    /// # Errors
    /// When it is there and is no mapping from case id to hash.
    pub fn read(path: &Path) -> Result<Option<Self>, PublishError> {
        let corrupt = |message: String| PublishError::Ledger { path: path.to_owned(), message };
        let bytes = match files::read_capped(path, DECLARED_CAP) {
            Err(FileError::Missing(_)) => return Ok(None),
            other => other?,
        };
        let value = json::parse(path, &bytes).map_err(|error| corrupt(format!("is no ledger ({error})")))?;
        let Value::Object(object) = value else {
            return Err(corrupt("is no ledger: it must be an object from case id to hash".to_owned()));
        };
        let mut entries = IndexMap::new();
        for (id, value) in object {
            match value {
                Value::String(hash) if !hash.trim().is_empty() => entries.insert(id, hash),
                _ => return Err(corrupt(format!("is no ledger: {id:?} has no hash"))),
            };
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

    /// The approved hash of a case.
    pub fn hash(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }

    /// All entries.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(id, hash)| (id.as_str(), hash.as_str()))
    }

    pub(super) fn set(&mut self, id: &str, hash: &str) {
        self.0.insert(id.to_owned(), hash.to_owned());
    }

    pub(super) fn clear(&mut self, id: &str) {
        self.0.shift_remove(id);
    }
}

/// Records that QA approved the verdicts of the cases `ids`: the hash of a pass is set; any other verdict clears its
/// entry, since a confirmed failure is nothing that CI could hold a build against.
///
/// # Errors
/// When the verdicts know no hashes, an id has none, or a pass has no hash; then nothing changes.
pub fn approve(verdicts: &Verdicts, mut ledger: Ledger, ids: &[String]) -> Result<Approval, PublishError> {
    for id in ids {
        let fault = |message| PublishError::Approval { id: id.clone(), message };
        if !verdicts.is_report() {
            return Err(fault(
                "a bare mapping of verdicts does not say what they were about; name a report or a record",
            ));
        }
        let said = verdicts.of_case(id).ok_or_else(|| fault("is not in this run"))?;
        match (said.verdict, &said.spec_sha) {
            (Verdict::Pass, Some(hash)) => ledger.set(id, hash.as_str()),
            (Verdict::Pass, None) => {
                return Err(fault(
                    "passed without a spec_sha, so nothing says what was approved; run it again",
                ));
            }
            _ => ledger.clear(id),
        }
    }
    Ok(Approval { approved_ledger: ledger })
}
