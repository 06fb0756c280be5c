//! The ledger of approvals, `testing/<feature>/approved.json`: case id to the hash of what QA approved. It is committed,
//! and CI runs nothing but what stands in it.
//!
//! It has two writers. A result review approves verdicts and seeds entries ([`approve`]); transitions keep or clear them.
//! A ledger that cannot be read is refused: what we print would replace it.

use std::path::Path;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use super::verdicts::Verdicts;
use super::{PublishError, ledger_file};
use crate::files::Held;
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
        let hash = |value| match value {
            Value::String(hash) if !hash.trim().is_empty() => Ok(hash),
            _ => Err("has no hash".to_owned()),
        };
        Ok(ledger_file::read(path, "hash", hash)?.map(Self))
    }

    /// Replaces the file in one step.
    ///
    /// # Errors
    /// When it cannot be written; then the old file is as it was.
    pub fn write(&self, held: &Held) -> Result<(), PublishError> {
        ledger_file::write(held, self)
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
    if !verdicts.is_report() {
        return Err(PublishError::Report {
            place: "verdicts".to_owned(),
            message: "a bare mapping does not say what the verdicts were about; name a report or a record"
                .to_owned(),
        });
    }
    for id in ids {
        let fault = |message| PublishError::Approval { id: id.clone(), message };
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
