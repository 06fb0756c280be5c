//! `qa-pilot report`: from a run directory to report.json.
//!
//! The core ([`derive()`]) takes values and gives values; reading and writing happen here.

mod derive;
mod evidence;
mod failure;
mod model;
mod paths;
mod verdict;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use derive::{Derived, Subject, Try, derive};
pub use evidence::digests;
pub use model::{CaseEntry, FixtureEntry, Report, RunFacts, Summary};
pub use paths::RunPaths;
pub use verdict::Outcome;

use crate::files::{self, DECLARED_CAP, FileError, RESULTS_CAP};
use crate::host::meta::Meta;
use crate::json;
use crate::playwright::results::{Results, ResultsError};
use crate::record::Records;

/// The file of spec hashes in a run directory, written when the run starts.
pub const SPEC_SHAS: &str = "spec-shas.json";

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// An input is missing, unreadable or has another shape.
    #[error(transparent)]
    Input(FileError),
    /// Playwright's report has another shape.
    #[error("{}: {source}", path.display())]
    Results {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: ResultsError,
    },
    /// The report cannot be written.
    #[error("cannot write the report: {0}")]
    Output(FileError),
}

/// A report that was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Where.
    pub path: PathBuf,
    /// What it says.
    pub report: Report,
    /// What a person should look at.
    pub warnings: Vec<String>,
}

impl Written {
    /// One line about it.
    pub fn line(&self) -> String {
        let Summary { pass, fail, flaky, blocked } = self.report.summary;
        format!(
            "wrote {}: {} case(s) ({pass} pass, {fail} fail, {flaky} flaky, {blocked} blocked), {} fixture(s)",
            self.path.display(),
            self.report.cases.len(),
            self.report.fixtures.len(),
        )
    }
}

/// Writes the report of the run whose metadata is at `meta`; the directory of that file is the run directory. Spec
/// hashes come from `spec_shas`, else from the run directory; the report goes to `out`, else into the run directory.
///
/// # Errors
/// When an input cannot be used, or the report cannot be written. A verdict is never an error.
pub fn write(
    results: &Path,
    meta: &Path,
    spec_shas: Option<&Path>,
    out: Option<&Path>,
) -> Result<Written, ReportError> {
    let run_dir = meta.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (report, warnings) = read(results, meta, run_dir, spec_shas)?;
    let path = out.map_or_else(|| run_dir.join("report.json"), Path::to_owned);
    let bytes = files::json_bytes(&report).map_err(ReportError::Output)?;
    files::write_atomic(&path, &bytes).map_err(ReportError::Output)?;
    Ok(Written { path, report, warnings })
}

fn read(
    results_path: &Path,
    meta_path: &Path,
    run_dir: &Path,
    spec_shas: Option<&Path>,
) -> Result<(Report, Vec<String>), ReportError> {
    let bytes = files::read_capped(results_path, RESULTS_CAP).map_err(ReportError::Input)?;
    let results = Results::parse(&bytes)
        .map_err(|source| ReportError::Results { path: results_path.to_owned(), source })?;
    let meta = Meta::read(meta_path).map_err(ReportError::Input)?;
    let shas = read_spec_shas(run_dir, spec_shas).map_err(ReportError::Input)?;

    let paths = RunPaths::new(run_dir, meta.run_id.as_deref().unwrap_or_default());
    let mut records = Records::new(run_dir);
    let derived = derive(&results, &paths, meta.sha_mismatch(), &mut records);
    let mut report = Report::new(meta, RunFacts::of(&results), derived);
    let mut warnings = Vec::new();
    if !report.unmapped_specs.is_empty() {
        let titles = report.unmapped_specs.join(", ");
        warnings.push(format!("titles that are neither a case's nor a fixture's are left out: {titles}"));
    }
    let traces = report.cases.iter().map(|case| &case.trace).chain(report.fixtures.iter().map(|f| &f.trace));
    let traces = digests(run_dir, traces.flatten().cloned());
    let mut pin = |trace: Option<&String>| match traces.get(trace?)? {
        Ok(digest) => Some(*digest),
        Err(error) => {
            warnings.push(format!("a trace has no digest: {error}"));
            None
        }
    };
    for case in &mut report.cases {
        case.trace_sha256 = pin(case.trace.as_ref());
        case.spec_sha = shas.get(case.id.as_str()).cloned();
    }
    for fixture in &mut report.fixtures {
        fixture.trace_sha256 = pin(fixture.trace.as_ref());
    }
    let writes =
        report.cases.iter().map(|case| &case.writes).chain(report.fixtures.iter().map(|f| &f.writes));
    for path in writes.flatten().flat_map(|writes| &writes.paths) {
        if let Some(fault) = records.get(path).and_then(|reading| reading.fault.as_deref()) {
            warnings.push(format!("the record {path} does not count: {fault}"));
        }
    }
    Ok((report, warnings))
}

fn read_spec_shas(run_dir: &Path, named: Option<&Path>) -> Result<BTreeMap<String, String>, FileError> {
    match named {
        Some(path) => parse_spec_shas(path),
        None => Ok(spec_shas(run_dir)?.unwrap_or_default()),
    }
}

/// `{case id: hash}` as the run directory keeps it since the run started; none where there is no such file.
///
/// # Errors
/// When it cannot be read, lies outside, is no mapping of texts, or names a case twice.
pub fn spec_shas(run_dir: &Path) -> Result<Option<BTreeMap<String, String>>, FileError> {
    match files::resolve_inside(run_dir, SPEC_SHAS).and_then(|path| parse_spec_shas(&path)) {
        Err(FileError::Missing(_)) => Ok(None),
        other => other.map(Some),
    }
}

fn parse_spec_shas(path: &Path) -> Result<BTreeMap<String, String>, FileError> {
    let value = json::parse(path, &files::read_capped(path, DECLARED_CAP)?)?;
    serde_path_to_error::deserialize(value).map_err(|error| FileError::Json {
        path: path.to_owned(),
        message: format!("{}: {}", error.path(), error.inner()),
    })
}
