//! `mutation` and `fixtures`: what a run may write, and the shared entities it uses. The gate checks these as well.

use std::collections::HashSet;

use serde_json::Value;

use super::super::values::{Faults, Object, text};
use super::{Fixture, Teardown, entries};
use crate::model::{Fault, FixtureTitle, Policy, PolicyKind};

/// The faults of this part alone. The document must be a mapping, else there are none to find.
pub fn faults(value: &Value) -> Vec<Fault> {
    let mut faults = Faults::default();
    if let Some(root) = value.as_object() {
        check(root, &mut faults, &mut Faults::default());
    }
    faults.0
}

pub(super) fn check(root: &Object, faults: &mut Faults, warnings: &mut Faults) {
    if let Some(value) = root.get("mutation") {
        match value.as_object() {
            Some(block) => policy(block, faults),
            None => faults.add("mutation", "must be a mapping with a policy"),
        }
    }
    let declared = declared(root, faults);
    let mut named = HashSet::new();
    for (at, entry) in entries(root) {
        let Some(value) = entry.and_then(|entry| entry.get("fixture")) else { continue };
        match text(Some(value)) {
            None => faults.add(format!("{at}.fixture"), "must be the name of a declared fixture"),
            Some(name) if !declared.contains(&name) => {
                faults.add(format!("{at}.fixture"), format!("{name} is no declared fixture"));
            }
            Some(name) => {
                named.insert(name);
            }
        }
    }
    for name in declared.iter().filter(|name| !named.contains(*name)) {
        warnings.add(format!("fixtures[{name}]"), "is named by no case");
    }
}

fn policy(block: &Object, faults: &mut Faults) {
    faults.closed(block, "mutation", &["policy", "prefix"]);
    let kind = text(block.get("policy")).and_then(PolicyKind::parse);
    let prefix = block.get("prefix");
    match kind {
        None => faults.add("mutation.policy", "must be one of read-only, scoped-write, unrestricted"),
        Some(PolicyKind::ScopedWrite) => {
            let usable = prefix.and_then(Value::as_str).map(str::to_owned);
            if usable.is_none() || Policy::new(PolicyKind::ScopedWrite, usable).is_err() {
                faults
                    .add("mutation.prefix", "must be at least 3 letters, digits, _ or - under scoped-write");
            }
        }
        Some(kind) => {
            if prefix.is_some() {
                faults.add("mutation.prefix", format!("has no meaning under {kind}: remove it"));
            }
        }
    }
}

/// The names of the well-formed fixtures.
fn declared<'a>(root: &'a Object, faults: &mut Faults) -> Vec<&'a str> {
    let mut names = Vec::new();
    let Some(value) = root.get("fixtures") else { return names };
    let Some(list) = value.as_array() else {
        faults.add("fixtures", "must be a list");
        return names;
    };
    if !list.is_empty() && effective(root).0 == PolicyKind::ReadOnly {
        faults.add("fixtures", "must be empty under read-only: a set-up writes");
    }
    for (index, value) in list.iter().enumerate() {
        let at = format!("fixtures[{index}]");
        let Some(entry) = value.as_object() else {
            faults.add(at, "must be a mapping with name and teardown");
            continue;
        };
        match text(entry.get("name")) {
            None => faults.add(format!("{at}.name"), "is missing"),
            Some(name) if !FixtureTitle::is_name(name) => {
                faults.add(format!("{at}.name"), "must be lower-case letters, digits and dashes");
            }
            Some(name) if names.contains(&name) => {
                faults.add(format!("{at}.name"), format!("{name} is used twice"))
            }
            Some(name) => names.push(name),
        }
        if let Some(teardown) = entry.get("teardown")
            && teardown_of(Some(teardown)).is_none()
        {
            faults.add(format!("{at}.teardown"), "must be keep or delete");
        }
    }
    names
}

fn teardown_of(value: Option<&Value>) -> Option<Teardown> {
    match value {
        None => Some(Teardown::Delete),
        Some(value) => match value.as_str() {
            Some("keep") => Some(Teardown::Keep),
            Some("delete") => Some(Teardown::Delete),
            _ => None,
        },
    }
}

/// The policy and prefix that hold: those declared, or unrestricted when there is no declaration that can be used.
pub(super) fn effective(root: &Object) -> (PolicyKind, Option<String>) {
    let block = root.get("mutation").and_then(Value::as_object);
    let kind = block.and_then(|block| text(block.get("policy"))).and_then(PolicyKind::parse);
    let prefix = block.and_then(|block| text(block.get("prefix"))).map(str::to_owned);
    match kind {
        Some(kind) => (kind, prefix.filter(|_| kind == PolicyKind::ScopedWrite)),
        None => (PolicyKind::Unrestricted, None),
    }
}

/// The well-formed fixtures.
pub(super) fn fixtures(root: &Object) -> Vec<Fixture> {
    let list = root.get("fixtures").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(|value| {
            let name = text(value.get("name"))?;
            let teardown = teardown_of(value.get("teardown"))?;
            FixtureTitle::is_name(name).then(|| Fixture { name: name.to_owned(), teardown })
        })
        .collect()
}
