//! What to write where there is no tracker: the statuses that change, and the summary in the run directory.

use std::path::Path;

use indexmap::IndexMap;
use serde::Serialize;

use super::{Facts, Mode, Summary};
use crate::files::{self, Held};
use crate::publish::{PublishError, ledger_file};

/// A plan of local writes; paths are relative to the repository. The order of keys is part of the format.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// Always `none`.
    pub mode: Mode,
    /// Where statuses are kept.
    pub statuses_file: String,
    /// The statuses that change, by case id.
    pub status_writes: IndexMap<String, String>,
    /// Where the summary goes.
    pub summary_file: String,
    /// The summary.
    pub summary: Summary,
    /// Where bugs go.
    pub bugs_dir: String,
}

impl Plan {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let run_dir = facts.told.run_dir();
        let writes = facts.transitions.transitions.iter().map(|one| {
            let name = facts.profile.statuses.name(one.to);
            (one.id.to_string(), name.to_owned())
        });
        Self {
            mode: facts.mode,
            statuses_file: format!("testing/{}/statuses.json", facts.told.feature),
            status_writes: writes.collect(),
            summary_file: format!("{run_dir}/summary.json"),
            summary: Summary::of(facts),
            bugs_dir: format!("{run_dir}/bugs/"),
        }
    }

    /// Does the writes in the repository `root`: statuses of other cases stay as they are.
    ///
    /// # Errors
    /// When the statuses file is there and is no object, or a file cannot be written; the statuses come first.
    pub fn write(&self, root: &Path) -> Result<(), PublishError> {
        let held = Held::take(&root.join(&self.statuses_file))?;
        let mut statuses = ledger_file::read(held.path(), "status", Ok)?.unwrap_or_default();
        for (id, status) in &self.status_writes {
            statuses.insert(id.clone(), serde_json::Value::from(status.as_str()));
        }
        ledger_file::write(&held, &statuses)?;
        files::write_atomic(&root.join(&self.summary_file), &files::json_bytes(&self.summary)?)?;
        Ok(())
    }
}
