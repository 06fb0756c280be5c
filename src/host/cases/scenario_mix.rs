//! `scenario_mix`: each of five kinds of scenario is covered by a case, or has a reason not to be.

use serde_json::Value;

use super::super::values::{Faults, Object, text};
use super::general::types;

/// The slots, each with the type of case that fills it.
const SLOTS: [(&str, &str); 5] = [
    ("happy", "happy"),
    ("negative", "negative"),
    ("boundary", "edge"),
    ("permission", "permission"),
    ("data-validation", "data-validation"),
];

pub(super) fn check(root: &Object, faults: &mut Faults) {
    let Some(mix) = faults.mapping(root, "", "scenario_mix") else { return };
    faults.closed(mix, "scenario_mix", &SLOTS.map(|(slot, _)| slot));
    let present = types(root);
    for (slot, kind) in SLOTS {
        let at = format!("scenario_mix.{slot}");
        let has_case = present.contains(kind);
        match mix.get(slot) {
            None => faults.add(at, "is missing: say covered, or n_a with a reason"),
            Some(Value::String(word)) if word == "covered" => {
                if !has_case {
                    faults.add(at, format!("says covered and no case has the type {kind}"));
                }
            }
            Some(Value::Object(object)) if object.contains_key("n_a") => {
                if text(object.get("n_a")).is_none() {
                    faults.add(at, "n_a needs a reason");
                } else if has_case {
                    faults.add(at, format!("says n_a and a case has the type {kind}"));
                }
            }
            Some(_) => faults.add(at, "must be covered, or n_a with a reason"),
        }
    }
}
