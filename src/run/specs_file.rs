//! `testing/<feature>/specs.json`: where the spec of each case is, as the last run found it. It is committed: hashes of
//! specs and CI go by it.

use super::plan::Plan;
use crate::files::{self, DECLARED_CAP, FileError, RESULTS_CAP};
use crate::model::CaseId;
use crate::playwright::results::{Results, ResultsError};
use indexmap::IndexMap;
use std::path::{Path, PathBuf};

/// Why nothing was noted.
#[derive(Debug, thiserror::Error)]
pub(super) enum SpecsFileError {
    /// A file cannot be read or written, or specs.json is no mapping.
    #[error(transparent)]
    File(#[from] FileError),
    /// The results.
    #[error(transparent)]
    Results(#[from] ResultsError),
}

/// Adds the specs of a run's cases to the file; what it says of other cases stays.
///
/// # Errors
/// When results or file cannot be read, or the file cannot be written; then it is as it was.
pub(super) fn merge(plan: &Plan, results: &Path) -> Result<(), SpecsFileError> {
    let bytes = files::read_capped(results, RESULTS_CAP)?;
    let results = Results::parse(&bytes)?;
    let Some(root_dir) = results.root_dir.as_deref() else { return Ok(()) };
    let repository = files::canonical(plan.profile_path.parent().unwrap_or(Path::new("/")))?;
    let path = plan.feature_dir.join("specs.json");
    let mut known: IndexMap<String, String> = match files::read_json(&path, DECLARED_CAP) {
        Err(FileError::Missing(_)) => IndexMap::new(),
        other => other?,
    };
    let before = known.clone();
    let mut found: IndexMap<CaseId, Vec<String>> = IndexMap::new();
    for spec in results.specs.iter().filter(|spec| !spec.file.is_empty()) {
        let Some(id) = CaseId::at_start_of(&spec.title).filter(|id| plan.cases.case(id).is_some()) else {
            continue;
        };
        if let Some(inner) = inside(&repository, &Path::new(root_dir).join(&*spec.file)) {
            found.entry(id).or_default().push(inner);
        }
    }
    for (id, paths) in found {
        // A case may stand in several files; the one that is known stays.
        let stays = known.get(id.as_str()).is_some_and(|path| paths.contains(path));
        if let Some(first) = paths.into_iter().next().filter(|_| !stays) {
            known.insert(id.to_string(), first);
        }
    }
    if known != before {
        files::write_atomic(&path, &files::json_bytes(&known)?)?;
    }
    Ok(())
}

/// A file's path relative to the repository, with `/`; none when it is not there or outside.
fn inside(repository: &Path, file: &Path) -> Option<String> {
    let file: PathBuf = files::canonical(file).ok()?;
    let parts: Option<Vec<&str>> =
        file.strip_prefix(repository).ok()?.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}
