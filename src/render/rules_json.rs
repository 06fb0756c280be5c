//! Judged requests as one JSON object.

use super::rules_text::unclassified;
use crate::files::{self, FileError};
use crate::model::Policy;
use crate::rules::{Judgement, Verdict};
use indexmap::IndexMap;
use serde::Serialize;

/// The object; the order of keys is part of the format.
#[derive(Serialize)]
struct Shape<'a> {
    policy: &'static str,
    prefix: Option<&'a str>,
    write_signatures: usize,
    requests: Vec<Entry<'a>>,
    /// By verdict.
    summary: IndexMap<&'static str, usize>,
    /// Requests of the HAR that were never on the network.
    skipped: usize,
    /// Each once.
    unclassified: Vec<Unclassified<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    /// `log.entries[0]`; null for a request that was given by itself.
    place: Option<String>,
    #[serde(flatten)]
    judgement: &'a Judgement,
}

#[derive(Serialize)]
struct Unclassified<'a> {
    method: &'a str,
    url: &'a str,
}

/// Bytes of the object. `places` are the indexes of the entries of a HAR.
///
/// # Errors
/// When it cannot be serialised.
pub fn judgements(
    policy: &Policy,
    write_signatures: usize,
    places: &[Option<usize>],
    judgements: &[Judgement],
    skipped: usize,
) -> Result<Vec<u8>, FileError> {
    let count = |verdict| judgements.iter().filter(|judged| judged.verdict == verdict).count();
    let place = |index: &Option<usize>| index.map(|index| format!("log.entries[{index}]"));
    files::json_bytes(&Shape {
        policy: policy.kind().as_str(),
        prefix: policy.prefix(),
        write_signatures,
        requests: places
            .iter()
            .zip(judgements)
            .map(|(index, judgement)| Entry { place: place(index), judgement })
            .collect(),
        summary: Verdict::ALL.into_iter().map(|verdict| (verdict.as_str(), count(verdict))).collect(),
        skipped,
        unclassified: unclassified(judgements)
            .into_iter()
            .map(|(method, url)| Unclassified { method, url })
            .collect(),
    })
}
