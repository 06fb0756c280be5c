//! The gate's only I/O: the claim, what the host declares, and what lies in the run directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::claim::Claim;
use super::facts::{CasesFact, Disk, Evidence, Facts, Recorded, Rerun, StatusesFact};
use super::{GateError, Inputs};
use crate::files::{self, FileError, FileId, RESULTS_CAP, Root};
use crate::host::cases::{Cases, mutation_faults};
use crate::host::meta::{Meta, sha_mismatch};
use crate::host::profile::Profile;
use crate::host::statuses::Statuses;
use crate::merge;
use crate::model::Digest;
use crate::playwright::results::Results;
use crate::record::{FIXTURES, Records, sweep};
use crate::report::{self, Derived, Outcome, Report, RunFacts, RunPaths, derive, digests};
use crate::{json, yaml};
use serde_json::Map;

/// The name that a run gives to Playwright's report.
const RESULTS: &str = "results.json";
/// The name that a run gives to its metadata.
const META: &str = "meta.json";
/// The name that a run gives to its copy of the statuses.
const STATUSES: &str = "statuses.json";

/// Reads everything once.
///
/// # Errors
/// When an input file cannot be read or does not parse, or the profile is not valid. What is wrong in the run directory
/// is a fact, not an error.
pub fn gather(inputs: &Inputs) -> Result<Facts, GateError> {
    let profile = Profile::load(&inputs.profile)?.profile;
    let claim = Claim::new(json::parse(&inputs.report, &files::read_capped(&inputs.report, RESULTS_CAP)?)?);
    let own = inputs.report.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let base = inputs.base.as_deref().unwrap_or(own);
    let map = inputs.map.as_deref().map(yaml::read).transpose()?;
    let statuses = inputs.statuses.as_deref().map(|path| statuses(path, base)).transpose()?;
    let cases = inputs.cases.as_deref().map(cases).transpose()?;
    let mut facts = Facts {
        claim,
        profile,
        statuses,
        cases,
        map,
        disk: Disk {
            meta: Err("was not read".to_owned()),
            header: Map::new(),
            spec_shas: Ok(None),
            rerun: Err("was not read".to_owned()),
            records: Records::new(base),
            evidence: BTreeMap::new(),
            traces: BTreeMap::new(),
            strays: Vec::new(),
        },
    };
    facts.disk = disk(&facts, base);
    Ok(facts)
}

fn statuses(path: &Path, base: &Path) -> Result<StatusesFact, GateError> {
    let passed = yaml::read(path)?;
    let recorded = match files::resolve_inside(base, STATUSES) {
        Err(FileError::Missing(_)) => Recorded::Absent,
        Err(_) => Recorded::Differs,
        Ok(own) if yaml::read(&own).is_ok_and(|value| value == passed) => Recorded::Same,
        Ok(_) => Recorded::Differs,
    };
    Ok(StatusesFact { statuses: Statuses::from_value(passed), recorded })
}

fn cases(path: &Path) -> Result<CasesFact, GateError> {
    let value = yaml::read(path)?;
    Ok(CasesFact { cases: Cases::from_value(&value), faults: mutation_faults(&value) })
}

fn disk(facts: &Facts, base: &Path) -> Disk {
    let mut records = Records::new(base);
    let meta = files::resolve_inside(base, META)
        .and_then(|path| Meta::read(&path))
        .map_err(|error| error.to_string());
    let (rerun, run) = match rerun(&facts.claim, base, meta.as_ref().ok(), &mut records) {
        Ok((rerun, run)) => (Ok(rerun), Some(run)),
        Err(why) => (Err(why), None),
    };
    let header = meta.as_ref().map(|meta| Report::header(meta.clone(), run)).unwrap_or_default();
    let spec_shas = report::spec_shas(base).map_err(|error| error.to_string());
    let listed: Vec<String> =
        facts.claim.entries().flat_map(|entry| entry.record_paths()).map(str::to_owned).collect();
    for path in &listed {
        records.load(path);
    }
    let shards = meta.as_ref().map(|meta| meta.shards.as_slice()).unwrap_or_default();
    let shared: Vec<String> = std::iter::once(FIXTURES.to_owned())
        .chain(shards.iter().map(|shard| format!("{}/{FIXTURES}", shard.directory)))
        .collect();
    let strays = sweep(base, &shared, &listed, &mut records);
    let evidence = evidence(facts, rerun.as_ref().ok().map(|rerun| &rerun.derived), base);
    let traces = traces(rerun.as_ref().ok().map(|rerun| &rerun.derived), base);
    Disk { meta, header, spec_shas, rerun, records, evidence, traces, strays }
}

fn rerun(
    claim: &Claim,
    base: &Path,
    meta: Option<&Meta>,
    records: &mut Records,
) -> Result<(Rerun, RunFacts), String> {
    let path = files::resolve_inside(base, RESULTS).map_err(|error| error.to_string())?;
    let bytes = files::read_capped(&path, RESULTS_CAP).map_err(|error| error.to_string())?;
    let results = Results::parse(&bytes).map_err(|error| error.to_string())?;
    let paths = RunPaths::new(base, claim.text("run_id").unwrap_or_default());
    let mismatch = sha_mismatch(claim.text("sha_before"), claim.text("sha_after"));
    let rerun = Rerun {
        derived: derive(&results, &paths, mismatch, records),
        shard: results.shard,
        unlike_shards: meta.map(|meta| merge::faults(base, meta, &results)).unwrap_or_default(),
    };
    Ok((rerun, RunFacts::of(&results)))
}

/// Which file each try's trace is, by the path that results.json gives.
fn traces(derived: Option<&Derived>, base: &Path) -> BTreeMap<String, FileId> {
    let tries = derived.map(|derived| derived.tries.as_slice()).unwrap_or_default();
    let paths = tries.iter().filter_map(|attempt| attempt.trace.as_ref());
    paths.filter_map(|path| Some((path.clone(), files::identity(&base.join(path)).ok()?))).collect()
}

/// Looks at every file that the claim names. Traces are hashed where they are pinned; elsewhere it is enough that they
/// are there.
fn evidence(facts: &Facts, derived: Option<&Derived>, base: &Path) -> BTreeMap<String, Evidence> {
    let root = Root::new(base);
    let texts = |key: &'static str| facts.claim.entries().filter_map(move |entry| entry.get(key)?.as_str());
    let traces: BTreeSet<String> = texts("trace").map(str::to_owned).collect();
    // The traces of failed tries, so that a flaky case cannot hide the try that failed.
    let tries = derived.map(|derived| derived.tries.as_slice()).unwrap_or_default();
    let failed = tries
        .iter()
        .filter(|attempt| attempt.outcome == Outcome::Failed)
        .filter_map(|attempt| attempt.trace.as_deref());
    let others = texts("video").chain(texts("console_log")).chain(failed);
    let mut found: BTreeMap<String, Evidence> =
        others.map(|path| (path.to_owned(), sized(&root, path))).collect();
    if facts.is_pinned() {
        let empty = Digest::of(b"");
        found.extend(digests(base, traces).into_iter().map(|(path, digest)| {
            let evidence = match digest {
                Ok(digest) if digest == empty => Evidence::Empty,
                Ok(digest) => Evidence::File(Some(digest)),
                Err(error) => unusable(error),
            };
            (path, evidence)
        }));
    } else {
        found.extend(traces.into_iter().map(|path| {
            let evidence = sized(&root, &path);
            (path, evidence)
        }));
    }
    found
}

fn sized(root: &Root, path: &str) -> Evidence {
    match root.resolve(path).and_then(|found| files::size(&found)) {
        Ok(0) => Evidence::Empty,
        Ok(_) => Evidence::File(None),
        Err(error) => unusable(error),
    }
}

fn unusable(error: FileError) -> Evidence {
    match error {
        FileError::Escapes { .. } => Evidence::Outside,
        other => Evidence::Unusable(other.to_string()),
    }
}
