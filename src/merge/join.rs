//! results.json of all shards in a row, with paths into their folders.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::place::Place;
use super::source::Source;
use super::{MergeError, RESULTS};
use crate::files::{self, FileError, RESULTS_CAP};
use crate::host::meta::Meta;
use crate::model::clock;
use crate::playwright::results::{Results, Spec};

/// A shard's results.json, the parts that a merged one repeats as they stand.
#[derive(Deserialize)]
struct Report<'a> {
    #[serde(default)]
    config: Value,
    #[serde(default, borrow)]
    suites: Option<&'a RawValue>,
    #[serde(default, borrow)]
    errors: Option<&'a RawValue>,
    #[serde(default)]
    stats: Value,
}

/// Writes one report from those of the shards, in their order: (results.json, where the shard lies now). What we do not read
/// is kept as it stands; one shard is in memory at a time.
///
/// # Errors
/// When one cannot be read, or nothing can be written.
pub(super) fn reports(shards: &[(PathBuf, Place)], out: &mut impl Write) -> Result<(), MergeError> {
    let (mut errors, mut all_stats) = (Vec::new(), Vec::new());
    let mut is_first = true;
    for (index, (path, place)) in shards.iter().enumerate() {
        let bytes = files::read_capped(path, RESULTS_CAP)?;
        let results = parse(path, &bytes)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| FileError::NotText(path.to_owned()))?;
        let report: Report<'_> = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| FileError::Json { path: path.to_owned(), message: error.to_string() })?;
        if index == 0 {
            let mut config = report.config;
            if let Value::Object(config) = &mut config {
                config.insert("shard".to_owned(), Value::Null);
            }
            write!(out, "{{\"config\":{config},\"suites\":[").map_err(FileError::from)?;
        }
        if let Some(inner) = inner(report.suites) {
            let comma = if is_first { "" } else { "," };
            write!(out, "{comma}\n{}", relocated(text, inner, &results, place)).map_err(FileError::from)?;
            is_first = false;
        }
        errors.extend(inner(report.errors).map(str::to_owned));
        all_stats.push(report.stats);
    }
    let errors = errors.join(",\n");
    writeln!(out, "],\n\"errors\":[{errors}],\"stats\":{}}}", stats(&all_stats)).map_err(FileError::from)?;
    Ok(())
}

fn parse<'a>(path: &Path, bytes: &'a [u8]) -> Result<Results<'a>, MergeError> {
    Results::parse(bytes).map_err(|source| MergeError::Results { path: path.to_owned(), source })
}

/// What stands between the brackets of a list; none of an empty one.
fn inner(list: Option<&RawValue>) -> Option<&str> {
    let inner = list?.get().strip_prefix('[')?.strip_suffix(']')?;
    Some(inner).filter(|inner| !inner.trim().is_empty())
}

/// The part `inner` of the file `text`, the paths of attachments led into the shard's folder.
fn relocated(text: &str, inner: &str, results: &Results<'_>, place: &Place) -> String {
    // A part of a text begins as many bytes behind it as its address does.
    let offset = |part: &str| (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    let attempts = results.specs.iter().flat_map(|spec| &spec.tests).flat_map(|test| &test.results);
    let paths = attempts.flat_map(|attempt| &attempt.attachments).filter_map(|attachment| {
        let new = place.of(attachment.file()?)?;
        let old = attachment.path.as_ref()?.raw();
        Some((offset(old), old.len(), Value::from(new).to_string()))
    });
    let mut paths: Vec<(usize, usize, String)> = paths.collect();
    paths.sort_unstable();
    let end = offset(inner) + inner.len();
    let (mut out, mut at) = (String::with_capacity(inner.len()), offset(inner));
    for (start, length, new) in paths {
        out.push_str(text.get(at..start).unwrap_or_default());
        out.push_str(&new);
        at = start + length;
    }
    out.push_str(text.get(at..end).unwrap_or_default());
    out
}

/// Whether `merged` is what the shards below `run_dir` say in a row.
///
/// # Errors
/// When the results.json of a shard cannot be read.
pub(super) fn is_of(
    merged: &Results<'_>,
    sources: &[Source],
    meta: &Meta,
    run_dir: &Path,
) -> Result<bool, MergeError> {
    let (mut specs, mut errors) = (0, 0);
    let mut is_same = merged.shard.is_none();
    for (source, shard) in sources.iter().zip(&meta.shards) {
        let path = source.path.join(RESULTS);
        let bytes = files::read_capped(&path, RESULTS_CAP)?;
        let mut own = parse(&path, &bytes)?;
        let place = Place::new(run_dir, shard);
        own.specs.iter_mut().for_each(|spec| relocate_spec(spec, &place));
        is_same &= goes_on(&merged.specs, specs, &own.specs) && goes_on(&merged.errors, errors, &own.errors);
        specs += own.specs.len();
        errors += own.errors.len();
    }
    Ok(is_same && specs == merged.specs.len() && errors == merged.errors.len())
}

/// Whether the list `all` goes on with `own` at `from`.
fn goes_on<T: PartialEq>(all: &[T], from: usize, own: &[T]) -> bool {
    all.get(from..).is_some_and(|rest| rest.starts_with(own))
}

fn relocate_spec(spec: &mut Spec<'_>, place: &Place) {
    let attempts = spec.tests.iter_mut().flat_map(|test| &mut test.results);
    for attachment in attempts.flat_map(|attempt| &mut attempt.attachments) {
        if let Some(path) = attachment.file().and_then(|path| place.of(path)) {
            attachment.path = Some(path.into());
        }
    }
}

/// Counts are summed; the run starts with the first shard and lasts as long as the longest.
fn stats(all: &[Value]) -> Value {
    let mut out = Map::new();
    for stats in all.iter().filter_map(Value::as_object) {
        for (key, value) in stats {
            let joined = match (out.get(key), key.as_str()) {
                (None, _) => value.clone(),
                (Some(old), "startTime") => earlier(old, value),
                (Some(old), "duration") if value.as_f64() > old.as_f64() => value.clone(),
                (Some(old), "duration") => old.clone(),
                (Some(old), _) => match (old.as_u64(), value.as_u64()) {
                    (Some(a), Some(b)) => a.saturating_add(b).into(),
                    _ => old.clone(),
                },
            };
            out.insert(key.clone(), joined);
        }
    }
    out.into()
}

fn earlier(a: &Value, b: &Value) -> Value {
    let time = |value: &Value| value.as_str().and_then(clock::read);
    match (time(a), time(b)) {
        (Some(first), Some(second)) if second < first => b.clone(),
        (None, Some(_)) => b.clone(),
        _ => a.clone(),
    }
}
