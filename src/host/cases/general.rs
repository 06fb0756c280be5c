//! The head of the file and the fields of each case.

use std::collections::HashSet;

use serde_json::Value;

use super::super::profile::{NetworkEvents, Profile};
use super::super::values::{Faults, Object, text, texts};
use super::{entries, expected};
use crate::model::CaseId;

/// More cases than this in one feature is a feature to split.
const MOST_CASES: usize = 25;

const PRIORITIES: [(&str, ()); 3] = [("P0", ()), ("P1", ()), ("P2", ())];

/// The types of a case.
pub(super) const TYPES: [(&str, ()); 5] =
    [("happy", ()), ("negative", ()), ("edge", ()), ("permission", ()), ("data-validation", ())];

pub(super) fn check(
    root: &Object,
    folder: Option<&str>,
    profile: &Profile,
    faults: &mut Faults,
    warnings: &mut Faults,
) {
    if let Some(feature) = faults.text(root, "", "feature")
        && Some(feature) != folder
    {
        let folder = folder.unwrap_or("(none)");
        faults
            .add("feature", format!("is {feature} and stands in the folder {folder}: they must be the same"));
    }
    if let Some(model) = faults.text(root, "", "model_version")
        && !profile.approved_models.iter().any(|approved| approved == model)
    {
        faults.add(
            "model_version",
            format!("{model} is not approved in the profile's models.generation_approved"),
        );
    }
    if let Some(date) = faults.text(root, "", "generated_at")
        && !is_date(date)
    {
        faults.add("generated_at", format!("{date} is no date; write 2026-11-30T10:15:00Z"));
    }
    match root.get("cases").and_then(Value::as_array) {
        Some(list) if !list.is_empty() => {
            if list.len() > MOST_CASES {
                faults.add(
                    "cases",
                    format!("has {} cases, at most {MOST_CASES}: split the feature", list.len()),
                );
            }
            let mut ids = HashSet::new();
            for (at, entry) in entries(root) {
                match entry {
                    Some(entry) => case(entry, &at, profile, &mut ids, faults, warnings),
                    None => faults.add(at, "must be a mapping"),
                }
            }
        }
        _ => faults.add("cases", "must be a list with at least one case"),
    }
}

fn case<'a>(
    entry: &'a Object,
    at: &str,
    profile: &Profile,
    ids: &mut HashSet<&'a str>,
    faults: &mut Faults,
    warnings: &mut Faults,
) {
    if let Some(id) = faults.text(entry, at, "id") {
        if CaseId::parse(id).is_none() {
            faults.add(
                format!("{at}.id"),
                "must be two groups of capitals and digits and three digits, as ORDER-CART-001",
            );
        } else if !ids.insert(id) {
            faults.add(format!("{at}.id"), "is used twice");
        }
    }
    faults.text(entry, at, "title");
    faults.word(entry, at, "priority", &PRIORITIES);
    faults.word(entry, at, "type", &TYPES);
    if let Some(value) = entry.get("preconditions")
        && texts(value).is_none()
    {
        faults.add(format!("{at}.preconditions"), "must be a list of texts that are not blank");
    }
    for key in ["steps", "expected"] {
        if entry.get(key).and_then(texts).is_none_or(|list| list.is_empty()) {
            faults.add(format!("{at}.{key}"), "must be a list of texts that are not blank, at least one");
        }
    }
    if let Some(list) = entry.get("expected").and_then(texts).filter(|list| !list.is_empty()) {
        let network_forbidden = profile.network_events == NetworkEvents::Forbidden;
        expected::check(&list, at, network_forbidden, faults, warnings);
    }
}

/// Dates and date-times in the forms people write into YAML: ISO 8601, with or without a time and a zone, or RFC 2822.
fn is_date(text: &str) -> bool {
    let text = text.trim();
    text.parse::<jiff::Timestamp>().is_ok()
        || text.parse::<jiff::civil::DateTime>().is_ok()
        || text.parse::<jiff::civil::Date>().is_ok()
        || jiff::fmt::rfc2822::parse(text).is_ok()
        || ["%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%m/%d/%Y", "%Y/%m/%d", "%Y-%m", "%Y"]
            .iter()
            .any(|format| jiff::fmt::strtime::parse(format, text).is_ok())
}

/// The types that cases claim, whatever else is wrong with them.
pub(super) fn types(root: &Object) -> HashSet<&str> {
    entries(root).filter_map(|(_, entry)| text(entry?.get("type"))).collect()
}

#[cfg(test)]
mod tests {
    use super::is_date;

    #[test]
    fn dates() {
        for date in [
            "2026-11-28T09:00:00Z",
            "2026-11-28",
            "2026-11-28 09:00",
            "2026-11-28T09:00:00+02:00",
            "Nov 28, 2026",
        ] {
            assert!(is_date(date), "{date}");
        }
        for date in ["yesterday", "2026-13-01", "28th", "2026-11-28T25:00:00Z"] {
            assert!(!is_date(date), "{date}");
        }
    }
}
