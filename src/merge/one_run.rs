//! Whether shards are those of one run, and that run's identity.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Source;
use crate::host::meta::{Meta, ShardMeta};
use crate::model::{RunId, clock};

type Field = fn(&Meta) -> Option<&str>;

/// What all shards must say alike: what was tested, where, which build, under which policy, what for.
const SHARED: &[(&str, Field)] = &[
    ("feature", |meta| meta.feature.as_deref()),
    ("app", |meta| meta.app.as_deref()),
    ("run_kind", |meta| meta.run_kind.as_deref()),
    ("env_name", |meta| meta.env_name.as_deref()),
    ("env_url", |meta| meta.env_url.as_deref()),
    ("env_kind", |meta| meta.env_kind.as_deref()),
    ("api_mode", |meta| meta.api_mode.as_deref()),
    ("commit_sha", |meta| meta.commit_sha.as_deref()),
    ("sha_before", |meta| meta.sha_before.as_deref()),
    ("sha_after", |meta| meta.sha_after.as_deref()),
    ("sha_source", |meta| meta.sha_source.as_deref()),
    ("sha_format", |meta| meta.sha_format.as_deref()),
    ("evidence_capture", |meta| meta.evidence_capture.as_deref()),
    ("mutation_policy", |meta| meta.mutation_policy.as_deref()),
    ("mutation_prefix", |meta| meta.mutation_prefix.as_deref()),
    ("model_version", |meta| meta.model_version.as_deref()),
];

/// Puts the shards in their order and gives the identity of the run that they are together: the earliest start, the latest
/// end, and the id of the shard that started first with `-merged` behind it.
///
/// # Errors
/// Everything that keeps them from being one run, a line each.
pub(super) fn one_run(sources: &mut [Source]) -> Result<(Meta, RunId), Vec<String>> {
    let mut faults = Vec::new();
    sources.sort_by_key(|source| source.shard.map(|shard| shard.current));
    whole(sources, &mut faults);
    let Some((first, others)) = sources.split_first() else { return Err(faults) };
    for (key, field) in SHARED {
        for other in others.iter().filter(|other| field(&other.meta) != field(&first.meta)) {
            let said = |source: &Source| {
                field(&source.meta).map_or("nothing".to_owned(), |text| format!("{text:?}"))
            };
            faults.push(format!(
                "{key} is {} in {} and {} in {}",
                said(first),
                first.name,
                said(other),
                other.name
            ));
        }
    }
    for other in others {
        let values = |source: &Source| source.statuses.as_ref().map(|(_, value)| value.clone());
        if values(other) != values(first) {
            faults.push(format!("{} and {} started with different statuses", first.name, other.name));
        }
        for (id, hash) in &other.spec_shas {
            if sources.iter().any(|source| source.spec_shas.get(id).is_some_and(|own| own != hash)) {
                faults.push(format!("the spec of {id} is another one in {}", other.name));
            }
        }
    }
    let started = moment(sources, "started_at", |meta| meta.started_at.as_deref(), &mut faults);
    let finished = moment(sources, "finished_at", |meta| meta.finished_at.as_deref(), &mut faults);
    let earliest = started.iter().min().map(|(_, index)| *index).and_then(|index| sources.get(index));
    let latest = finished.iter().max().map(|(_, index)| *index).and_then(|index| sources.get(index));
    let id = earliest.and_then(|source| RunId::parse(&format!("{}-merged", source.run_id)));
    let (Some(earliest), Some(latest), Some(id), true) = (earliest, latest, id, faults.is_empty()) else {
        return Err(faults);
    };
    let insecure: BTreeSet<&String> =
        sources.iter().flat_map(|source| &source.meta.upstream_insecure).collect();
    let meta = Meta {
        run_id: Some(id.to_string()),
        executor: together(sources, |meta| meta.executor.as_deref()),
        playwright_version: together(sources, |meta| meta.playwright_version.as_deref()),
        browser: together(sources, |meta| meta.browser.as_deref()),
        started_at: earliest.meta.started_at.clone(),
        finished_at: latest.meta.finished_at.clone(),
        upstream_insecure: insecure.into_iter().cloned().collect(),
        shard: None,
        shards: sources.iter().filter_map(shard_meta).collect(),
        ..first.meta.clone()
    };
    Ok((meta, id))
}

/// The specs' hashes of all shards.
pub(super) fn spec_shas(sources: &[Source]) -> BTreeMap<String, String> {
    sources.iter().flat_map(|source| source.spec_shas.clone()).collect()
}

fn shard_meta(source: &Source) -> Option<ShardMeta> {
    Some(ShardMeta {
        directory: format!("shard-{}", source.shard?.current),
        run_id: source.run_id.to_string(),
        merged_from: source.merged_from.clone(),
    })
}

/// Each shard once, none missing.
fn whole(sources: &[Source], faults: &mut Vec<String>) {
    let mut totals = BTreeSet::new();
    let mut seen = BTreeMap::new();
    for source in sources {
        if source.meta.shard.is_some() && source.meta.shard != source.shard {
            faults.push(format!("{} was another shard when it ran than its results.json says", source.name));
        }
        match source.shard {
            None => faults.push(format!("{} is no shard: it ran without --shard", source.name)),
            Some(shard) => {
                totals.insert(shard.total);
                if let Some(other) = seen.insert(shard.current, &source.name) {
                    faults.push(format!("{other} and {} are both shard {}", source.name, shard.current));
                }
            }
        }
    }
    match totals.iter().copied().collect::<Vec<_>>()[..] {
        [] => {}
        [total] => {
            // As many as are there can be told apart; a report that says it has millions names no millions here.
            let most = sources.len() as u64 + 1;
            for number in (1..=total.min(most)).filter(|number| !seen.contains_key(number)) {
                faults.push(format!("shard {number} of {total} is missing"));
            }
            for number in seen.keys().filter(|number| **number < 1 || **number > total) {
                faults.push(format!("there is no shard {number} of {total}"));
            }
        }
        _ => faults.push("they are parts of different numbers of shards".to_owned()),
    }
}

/// When each shard started or finished, with its index.
fn moment(
    sources: &[Source],
    key: &str,
    field: Field,
    faults: &mut Vec<String>,
) -> Vec<(clock::Timestamp, usize)> {
    let mut found = Vec::new();
    for (index, source) in sources.iter().enumerate() {
        match field(&source.meta).and_then(clock::read) {
            Some(time) => found.push((time, index)),
            None => faults.push(format!("{key} of {} is no time", source.name)),
        }
    }
    found
}

/// What shards may say differently, each once.
fn together(sources: &[Source], field: Field) -> Option<String> {
    let mut said: Vec<&str> = Vec::new();
    for text in sources.iter().filter_map(|source| field(&source.meta)) {
        if !said.contains(&text) {
            said.push(text);
        }
    }
    (!said.is_empty()).then(|| said.join(", "))
}
