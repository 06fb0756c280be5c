//! results.json of all shards in a row, with paths into their folders.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::place::Place;
use super::source::Source;
use super::{MergeError, RESULTS};
use crate::files::{self, RESULTS_CAP};
use crate::host::meta::Meta;
use crate::model::clock;
use crate::playwright::results::{Results, Spec};

/// One report from those of the shards, in their order. What we do not read is kept.
pub(super) fn reports(shards: Vec<(Value, Place)>) -> Value {
    let mut config = Value::Null;
    let (mut suites, mut errors, mut all_stats) = (Vec::new(), Vec::new(), Vec::new());
    for (mut report, place) in shards {
        let mut own = list(&mut report, "suites");
        own.iter_mut().for_each(|suite| relocate(suite, &place));
        suites.extend(own);
        errors.extend(list(&mut report, "errors"));
        all_stats.push(report.get("stats").cloned().unwrap_or_default());
        if config.is_null() {
            config = report.get("config").cloned().unwrap_or_else(|| json!({}));
        }
    }
    if let Value::Object(config) = &mut config {
        config.insert("shard".to_owned(), Value::Null);
    }
    json!({ "config": config, "suites": suites, "errors": errors, "stats": stats(&all_stats) })
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
        let mut own = match Results::parse(&bytes) {
            Ok(results) => results,
            Err(source) => return Err(MergeError::Results { path, source }),
        };
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

fn list(value: &mut Value, key: &str) -> Vec<Value> {
    match value.get_mut(key).map(Value::take) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

fn each<'a>(value: &'a mut Value, key: &str) -> impl Iterator<Item = &'a mut Value> {
    value.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Suites nest; the reader of JSON keeps them from nesting without end.
fn relocate(suite: &mut Value, place: &Place) {
    for spec in each(suite, "specs") {
        for test in each(spec, "tests") {
            for attempt in each(test, "results") {
                for attachment in each(attempt, "attachments") {
                    let path = attachment.get("path").and_then(Value::as_str).filter(|path| !path.is_empty());
                    if let Some(path) = path.and_then(|path| place.of(path)) {
                        attachment["path"] = path.into();
                    }
                }
            }
        }
    }
    each(suite, "suites").for_each(|nested| relocate(nested, place));
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
