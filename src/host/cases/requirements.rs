//! `requirements` and `covers`: which criterion is shown by which case.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::super::values::{Faults, Object, text};
use super::entries;

/// The longest id of a requirement.
const LONGEST_ID: usize = 64;

static ID: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[A-Za-z0-9][A-Za-z0-9._-]*$").ok());

/// The criteria that can be covered, by requirement.
type Targets<'a> = HashMap<&'a str, HashSet<&'a str>>;

/// What a cases file declares as requirements.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Declared {
    /// Nothing.
    #[default]
    Nothing,
    /// A block that the lint finds fault with.
    Malformed,
    /// A clean block, in the order of the file.
    Requirements(Vec<Requirement>),
}

/// What the feature must do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Requirement {
    /// Its id.
    pub id: String,
    /// What shows that it does, in the order of the file.
    pub criteria: Vec<Criterion>,
}

/// One thing to show.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Criterion {
    /// Its id, within its requirement.
    pub id: String,
}

/// The requirements with types. Titles and texts are left out: nothing that is published needs them.
pub(super) fn declared_in(root: &Object) -> Declared {
    if !root.contains_key("requirements") {
        return Declared::Nothing;
    }
    let mut faults = Faults::default();
    let (list, _) = block(root, &mut faults);
    if !faults.0.is_empty() {
        return Declared::Malformed;
    }
    let id = |value: &Value| text(value.get("id")).map(str::to_owned);
    let criteria = |value: &Value| {
        let list = value.get("criteria").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(id).map(|id| Criterion { id }).collect()
    };
    let all = list.unwrap_or_default().iter();
    Declared::Requirements(
        all.filter_map(|value| Some(Requirement { id: id(value)?, criteria: criteria(value) })).collect(),
    )
}

/// Checks the block itself, and returns its list and what can be covered.
fn block<'a>(root: &'a Object, faults: &mut Faults) -> (Option<&'a [Value]>, Targets<'a>) {
    let list = declared(root, faults);
    let mut targets = Targets::new();
    let mut ids = HashSet::new();
    for (index, value) in list.unwrap_or_default().iter().enumerate() {
        requirement(value, &format!("requirements[{index}]"), &mut ids, &mut targets, faults);
    }
    (list, targets)
}

pub(super) fn check(root: &Object, faults: &mut Faults, warnings: &mut Faults) {
    let before = faults.0.len();
    let (list, targets) = block(root, faults);
    let block_is_clean = faults.0.len() == before;
    let covered = covers(root, list.map(|_| &targets), faults);
    if block_is_clean {
        for (at, reference) in criteria(list.unwrap_or_default()) {
            if !covered.contains(reference.as_str()) {
                warnings.add(at, format!("{reference} is covered by no case"));
            }
        }
    }
}

/// The list of requirements; nothing when there is none that can be read.
fn declared<'a>(root: &'a Object, faults: &mut Faults) -> Option<&'a [Value]> {
    let value = root.get("requirements")?;
    let list = value.as_array().filter(|list| !list.is_empty());
    if list.is_none() {
        faults.add("requirements", "must be a list with at least one requirement");
    }
    list.map(Vec::as_slice)
}

fn requirement<'a>(
    value: &'a Value,
    at: &str,
    ids: &mut HashSet<&'a str>,
    targets: &mut Targets<'a>,
    faults: &mut Faults,
) {
    let Some(object) = value.as_object() else {
        faults.add(at, "must be a mapping with id, title and criteria");
        return;
    };
    faults.closed(object, at, &["id", "title", "criteria"]);
    let id = checked_id(object, at, ids, Some(LONGEST_ID), faults);
    faults.text(object, at, "title");
    let Some(list) = object.get("criteria").and_then(Value::as_array).filter(|list| !list.is_empty()) else {
        faults.add(format!("{at}.criteria"), "must be a list with at least one criterion");
        return;
    };
    let mut own = HashSet::new();
    for (index, value) in list.iter().enumerate() {
        let at = format!("{at}.criteria[{index}]");
        let Some(object) = value.as_object() else {
            faults.add(at, "must be a mapping with id and text");
            continue;
        };
        faults.closed(object, &at, &["id", "text"]);
        let criterion = checked_id(object, &at, &mut own, None, faults);
        faults.text(object, &at, "text");
        // An id of the wrong form still is a target, so that one mistake is not told twice.
        if let (Some(id), Some(criterion)) = (id, criterion) {
            targets.entry(id).or_default().insert(criterion);
        }
    }
}

/// The id, as far as it is text; at most one fault about it.
fn checked_id<'a>(
    object: &'a Object,
    at: &str,
    taken: &mut HashSet<&'a str>,
    longest: Option<usize>,
    faults: &mut Faults,
) -> Option<&'a str> {
    let at = format!("{at}.id");
    let Some(value) = object.get("id") else {
        faults.add(at, "is missing");
        return None;
    };
    let Some(id) = value.as_str() else {
        faults.add(at, "must be text: put it in quotes");
        return None;
    };
    if !is_id(id) {
        faults.add(at, "must begin with a letter or digit and go on with letters, digits, dots, _ and -");
    } else if longest.is_some_and(|longest| id.len() > longest) {
        faults.add(at, format!("is longer than {LONGEST_ID} characters"));
    } else if !taken.insert(id) {
        faults.add(at, format!("{id} is used twice"));
    }
    Some(id)
}

fn is_id(text: &str) -> bool {
    ID.as_ref().is_some_and(|id| id.is_match(text))
}

/// Checks every `covers` entry and returns those that have the right form. No targets: there are no requirements that
/// could be covered, or none that can be read; then only the form is looked at.
fn covers<'a>(root: &'a Object, targets: Option<&Targets<'_>>, faults: &mut Faults) -> HashSet<&'a str> {
    let mut covered = HashSet::new();
    for (at, entry) in entries(root) {
        let Some(value) = entry.and_then(|entry| entry.get("covers")) else { continue };
        let at = format!("{at}.covers");
        let list = value.as_array();
        if !list.is_some_and(|list| list.iter().all(Value::is_string)) {
            faults.add(&at, "must be a list of requirement/criterion");
        }
        let list = list.map(Vec::as_slice).unwrap_or_default();
        if !root.contains_key("requirements") {
            if !list.is_empty() {
                faults.add(&at, "no requirements are declared in this file");
            }
            continue;
        }
        for reference in list.iter().filter_map(Value::as_str) {
            let parts = reference.split_once('/').filter(|(req, criterion)| is_id(req) && is_id(criterion));
            match (parts, targets) {
                (None, _) => faults.add(&at, format!("{reference} is not requirement/criterion")),
                (Some((req, criterion)), Some(targets)) => match targets.get(req) {
                    None => faults.add(&at, format!("{reference}: there is no requirement {req}")),
                    Some(own) if !own.contains(criterion) => {
                        faults.add(&at, format!("{reference}: {req} has no criterion {criterion}"));
                    }
                    Some(_) => {
                        covered.insert(reference);
                    }
                },
                (Some(_), None) => {}
            }
        }
    }
    covered
}

/// Every criterion of a block without faults, with its place and its reference.
fn criteria(list: &[Value]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (index, requirement) in list.iter().enumerate() {
        let Some(id) = text(requirement.get("id")) else { continue };
        let own =
            requirement.get("criteria").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (at, criterion) in own.iter().enumerate() {
            if let Some(criterion) = text(criterion.get("id")) {
                all.push((format!("requirements[{index}].criteria[{at}]"), format!("{id}/{criterion}")));
            }
        }
    }
    all
}
