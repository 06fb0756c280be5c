//! `qa-pilot merge`: the runs of the shards of one suite become one run that reports and gates.
//!
//! Each shard's directory is kept whole below the merged one (`shard-1`, `shard-2`), so records and traces keep their bytes.
//! results.json is theirs in a row, with paths into those folders. The gate does not take a merged run's word for it:
//! [`faults`] holds it once more against the shards that lie below it.

mod join;
mod one_run;
mod place;
mod source;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::files::{self, FileError, RESULTS_CAP};
use crate::host::meta::Meta;
use crate::model::RunId;
use crate::playwright::results::{Results, ResultsError};
use crate::yaml::YamlError;
use one_run::one_run;
use place::Place;
use source::Source;

/// The names that a run gives to its files.
const META: &str = "meta.json";
const RESULTS: &str = "results.json";
const STATUSES: &str = "statuses.json";
const SPEC_SHAS: &str = "spec-shas.json";

/// Why there is no merged run.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A file cannot be read, copied or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A shard's statuses cannot be read.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// A shard's results.json is no report of Playwright's.
    #[error("{}: {source}", path.display())]
    Results {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: ResultsError,
    },
    /// A shard without an identity.
    #[error("{}: {why}", path.display())]
    Meta {
        /// Its meta.json.
        path: PathBuf,
        /// What it lacks.
        why: &'static str,
    },
    /// The new directory would lie in one of those that are copied into it.
    #[error("{} lies in {}, which is to be copied into it; choose a folder beside it", into.display(), shard.display())]
    Inside {
        /// The new directory.
        into: PathBuf,
        /// The shard's.
        shard: PathBuf,
    },
    /// They are not the shards of one run.
    #[error("these are not the shards of one run: {}", .0.join("; "))]
    NotOneRun(Vec<String>),
}

/// A merged run.
#[derive(Clone, Debug)]
pub struct Merged {
    /// Its directory.
    pub path: PathBuf,
    /// Its id.
    pub run_id: RunId,
    /// How many shards it has.
    pub shards: usize,
}

/// Makes the run directory `into` from those of all shards of one run, in any order. It appears whole or not at all, and
/// the shards' own directories stay as they are.
///
/// # Errors
/// When `into` is there already, a shard cannot be read, one is missing or doubled, or they disagree.
pub fn merge(into: &Path, shards: &[PathBuf]) -> Result<Merged, MergeError> {
    let into = files::absolute(into)?;
    if files::is_there(&into) {
        return Err(FileError::Exists(into).into());
    }
    let mut sources = Vec::new();
    for shard in shards {
        let path = files::canonical(shard)?;
        if into.starts_with(&path) {
            return Err(MergeError::Inside { into, shard: path });
        }
        let merged_from = path.to_string_lossy().into_owned();
        sources.push(Source::read(&path, shard.display().to_string(), merged_from)?);
    }
    let (meta, run_id) = one_run(&mut sources).map_err(MergeError::NotOneRun)?;
    let staged = files::stage(&into)?;
    let mut reports = Vec::new();
    for (source, shard) in sources.iter().zip(&meta.shards) {
        let copy = staged.path().join(&shard.directory);
        files::copy_folder(&source.path, &copy)?;
        reports.push((copy.join(RESULTS), Place::new(staged.path(), shard)));
    }
    let mut results = files::create_new_file(&staged.path().join(RESULTS))?;
    join::reports(&reports, &mut results)?;
    results.flush().map_err(FileError::from)?;
    let write = |name: &str, bytes: &[u8]| files::write_once(&staged.path().join(name), bytes);
    write(META, &files::json_bytes(&meta)?)?;
    if let Some((bytes, _)) = sources.iter().find_map(|source| source.statuses.as_ref()) {
        write(STATUSES, bytes)?;
    }
    write(SPEC_SHAS, &files::json_bytes(&one_run::spec_shas(&sources))?)?;
    verify(staged.path(), &meta)?;
    files::publish(staged, &into)?;
    Ok(Merged { path: into, run_id, shards: sources.len() })
}

/// What the gate will ask of the merged run is asked before it appears.
fn verify(run_dir: &Path, meta: &Meta) -> Result<(), MergeError> {
    let path = run_dir.join(RESULTS);
    let bytes = files::read_capped(&path, RESULTS_CAP)?;
    let results = Results::parse(&bytes).map_err(|source| MergeError::Results { path, source })?;
    match faults(run_dir, meta, &results) {
        faults if faults.is_empty() => Ok(()),
        faults => Err(MergeError::NotOneRun(faults)),
    }
}

/// What a merged run says that the shards below it do not. A run that is its own has no faults of this kind.
pub fn faults(run_dir: &Path, meta: &Meta, results: &Results<'_>) -> Vec<String> {
    if meta.shards.is_empty() {
        return Vec::new();
    }
    compare(run_dir, meta, results).unwrap_or_else(|error| match error {
        MergeError::NotOneRun(faults) => faults,
        other => vec![other.to_string()],
    })
}

fn compare(run_dir: &Path, meta: &Meta, results: &Results<'_>) -> Result<Vec<String>, MergeError> {
    let mut sources = Vec::new();
    for shard in &meta.shards {
        // Found by its meta.json, so that no link and no `..` leads elsewhere.
        let own = files::resolve_inside(run_dir, &format!("{}/{META}", shard.directory))?;
        let path = own.parent().unwrap_or(run_dir).to_owned();
        sources.push(Source::read(&path, shard.directory.clone(), shard.merged_from.clone())?);
    }
    let (own, _) = one_run(&mut sources).map_err(MergeError::NotOneRun)?;
    let mut faults = Vec::new();
    if own != *meta {
        faults.push("meta.json is not what follows from the shards'".to_owned());
    }
    if !join::is_of(results, &sources, meta, run_dir)? {
        faults.push("results.json is not those of the shards in a row".to_owned());
    }
    let top = Source::statuses(run_dir)?;
    if top.map(|(_, value)| value)
        != sources.iter().find_map(|source| source.statuses.clone()).map(|(_, value)| value)
    {
        faults.push("statuses.json is not that of the shards".to_owned());
    }
    if Source::spec_shas(run_dir)? != one_run::spec_shas(&sources) {
        faults.push("spec-shas.json is not those of the shards".to_owned());
    }
    Ok(faults)
}
