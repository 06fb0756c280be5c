//! `testing/<feature>/run-log.json`: how often in a row each case was green in stabilization runs. A new spec needs three
//! before its verdicts are worth a review; a failure or an edit begins the count anew, a blocked case leaves it.

use super::PlanError;
use crate::files::{self, DECLARED_CAP, FileError};
use crate::model::{CaseId, Verdict};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// As many greens in a row make a spec stable.
pub const STABLE: u64 = 3;

/// Greens by case id, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct RunLog(IndexMap<String, Entry>);

/// The greens of one case.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What was green; an edit makes it something else.
    pub spec_sha: Option<String>,
    /// How often in a row.
    pub greens: u64,
    /// The last run that counted.
    pub last_run: String,
}

impl RunLog {
    /// Where the log of a feature is.
    pub fn path(feature_dir: &Path) -> PathBuf {
        feature_dir.join("run-log.json")
    }

    /// Reads the log; an empty one when there is none yet.
    ///
    /// # Errors
    /// When it is there and is no log: counting would replace it.
    pub fn read(path: &Path) -> Result<Self, PlanError> {
        match files::read_json(path, DECLARED_CAP) {
            Err(FileError::Missing(_)) => Ok(Self::default()),
            Err(error) => Err(PlanError::RunLog(error)),
            Ok(log) => Ok(log),
        }
    }

    /// Replaces the file in one step.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        files::write_atomic(path, &files::json_bytes(self)?)
    }

    /// Counts a verdict of the run `run`.
    pub fn count(&mut self, id: &CaseId, verdict: Verdict, spec_sha: Option<&str>, run: &str) {
        let greens = match verdict {
            Verdict::Blocked => return,
            Verdict::Fail | Verdict::Flaky => 0,
            Verdict::Pass => self.greens(id, spec_sha).saturating_add(1),
        };
        let entry = Entry { spec_sha: spec_sha.map(str::to_owned), greens, last_run: run.to_owned() };
        self.0.insert(id.to_string(), entry);
    }

    /// How often in a row the case was green as it is now; without a hash nobody knows whether it is the same.
    pub fn greens(&self, id: &CaseId, spec_sha: Option<&str>) -> u64 {
        let same = |entry: &&Entry| spec_sha.is_some() && entry.spec_sha.as_deref() == spec_sha;
        self.0.get(id.as_str()).filter(same).map_or(0, |entry| entry.greens)
    }

    /// A note that names those of `ids` which were not green often enough as they are now; `env` is where the host
    /// lets specs prove themselves.
    pub(super) fn note_unproven(
        &self,
        ids: &[CaseId],
        hashes: &BTreeMap<CaseId, String>,
        env: &str,
    ) -> Option<String> {
        let greens = |id: &CaseId| self.greens(id, hashes.get(id).map(String::as_str));
        let unproven: Vec<String> = ids
            .iter()
            .filter(|id| greens(id) < STABLE)
            .map(|id| format!("{id} {} of {STABLE}", greens(id)))
            .collect();
        (!unproven.is_empty()).then(|| {
            format!(
                "not shown to be stable, so a failure may be the spec's own: {}; `qa-pilot run --env {env} --kind stabilization` counts greens in a row",
                unproven.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greens_in_a_row() {
        let id = CaseId::parse("A-B-001").unwrap();
        let mut log = RunLog::default();
        let mut run = |verdict, sha| {
            log.count(&id, verdict, sha, "r");
            log.greens(&id, sha)
        };
        let (a, b) = (Some("a"), Some("b"));
        assert_eq!([run(Verdict::Pass, a), run(Verdict::Pass, a), run(Verdict::Blocked, a)], [1, 2, 2]);
        assert_eq!([run(Verdict::Pass, a), run(Verdict::Flaky, a), run(Verdict::Pass, a)], [3, 0, 1]);
        assert_eq!([run(Verdict::Pass, b), run(Verdict::Fail, b), run(Verdict::Pass, None)], [1, 0, 0]);
    }

    #[test]
    fn a_log_that_is_none_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = RunLog::path(folder.path());
        assert_eq!(RunLog::read(&path).unwrap(), RunLog::default());
        for text in ["", "[]", "{\"A\": 1}", "{\"A\": {\"greens\": -1}}"] {
            files::write_atomic(&path, text.as_bytes()).unwrap();
            assert!(RunLog::read(&path).is_err(), "{text}");
            assert_eq!(files::read_capped(&path, 99).unwrap(), text.as_bytes());
        }
        let mut log = RunLog::default();
        log.count(&CaseId::parse("A-B-001").unwrap(), Verdict::Pass, Some("a"), "r");
        log.write(&path).unwrap();
        assert_eq!(RunLog::read(&path).unwrap(), log);
    }
}
