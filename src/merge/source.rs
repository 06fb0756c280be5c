//! A shard's run directory, as far as the merged run follows from it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{META, MergeError, RESULTS, STATUSES};
use crate::files::{self, DECLARED_CAP, FileError, RESULTS_CAP};
use crate::host::meta::Meta;
use crate::model::{RunId, Shard};
use crate::playwright::results::Results;
use crate::{report, yaml};

/// What was read of a shard.
pub(super) struct Source {
    /// Its directory.
    pub path: PathBuf,
    /// How messages call it.
    pub name: String,
    /// Where it was merged from.
    pub merged_from: String,
    pub meta: Meta,
    pub run_id: RunId,
    /// Which shard it is, as results.json says.
    pub shard: Option<Shard>,
    /// The statuses that it started with, as bytes and as a value.
    pub statuses: Option<(Vec<u8>, Value)>,
    /// The specs' hashes by case.
    pub spec_shas: BTreeMap<String, String>,
}

impl Source {
    pub(super) fn read(path: &Path, name: String, merged_from: String) -> Result<Self, MergeError> {
        let meta = Meta::read(&files::resolve_inside(path, META)?)?;
        let run_id = meta.run_id.as_deref().and_then(RunId::parse);
        let run_id =
            run_id.ok_or_else(|| MergeError::Meta { path: path.join(META), why: "names no run_id" })?;
        let results = files::resolve_inside(path, RESULTS)?;
        let bytes = files::read_capped(&results, RESULTS_CAP)?;
        let shard = match Results::parse(&bytes) {
            Ok(parsed) => parsed.shard,
            Err(source) => return Err(MergeError::Results { path: results, source }),
        };
        let (statuses, spec_shas) = (Self::statuses(path)?, Self::spec_shas(path)?);
        Ok(Self { path: path.to_owned(), name, merged_from, meta, run_id, shard, statuses, spec_shas })
    }

    pub(super) fn statuses(run_dir: &Path) -> Result<Option<(Vec<u8>, Value)>, MergeError> {
        let path = match files::resolve_inside(run_dir, STATUSES) {
            Err(FileError::Missing(_)) => return Ok(None),
            other => other?,
        };
        Ok(Some((files::read_capped(&path, DECLARED_CAP)?, yaml::read(&path)?)))
    }

    pub(super) fn spec_shas(run_dir: &Path) -> Result<BTreeMap<String, String>, MergeError> {
        Ok(report::spec_shas(run_dir)?.unwrap_or_default())
    }
}
