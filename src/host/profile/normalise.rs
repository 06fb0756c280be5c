//! The profile as other tools read it: as written, with the effective upload filled in and without what is not looked at.

use indexmap::IndexMap;
use serde_json::Value;

use super::super::values::Object;
use super::Tracker;
use super::environments::{Environment, effective_upload};

pub(super) fn normalise(
    root: &Object,
    tracker: Tracker,
    environments: &IndexMap<String, Environment>,
) -> Value {
    let mut copy = root.clone();
    if tracker == Tracker::None {
        copy.shift_remove("clickup");
    }
    if let Some(all) = copy.get_mut("environments").and_then(Value::as_object_mut) {
        for (name, env) in environments {
            if let Some(object) = all.get_mut(name).and_then(Value::as_object_mut) {
                let upload = effective_upload(tracker, env.kind, env.upload);
                object.insert("evidence_upload".to_owned(), Value::from(upload.as_str()));
            }
        }
    }
    Value::Object(copy)
}
