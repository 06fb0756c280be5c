//! Reading loosely shaped values while collecting every fault, so that a user mends a file once and not line by line.

use serde_json::{Map, Value};

use crate::model::Fault;

/// A JSON object.
pub(super) type Object = Map<String, Value>;

/// The faults found so far, in the order of the checks.
#[derive(Debug, Default)]
pub(super) struct Faults(pub(super) Vec<Fault>);

impl Faults {
    /// Notes one.
    pub(super) fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(Fault { path: path.into(), message: message.into() });
    }

    /// The text at `key`, or a fault that it is missing or blank.
    pub(super) fn text<'a>(&mut self, object: &'a Object, at: &str, key: &str) -> Option<&'a str> {
        let found = text(object.get(key));
        if found.is_none() {
            self.add(join(at, key), "must be text that is not blank");
        }
        found
    }

    /// The text at `key` if the key is there; a fault if it is there and no text.
    pub(super) fn optional_text<'a>(&mut self, object: &'a Object, at: &str, key: &str) -> Option<&'a str> {
        if object.contains_key(key) { self.text(object, at, key) } else { None }
    }

    /// The mapping at `key`, or a fault that there is none.
    pub(super) fn mapping<'a>(&mut self, object: &'a Object, at: &str, key: &str) -> Option<&'a Object> {
        let found = object.get(key).and_then(Value::as_object);
        if found.is_none() {
            let why = if object.contains_key(key) {
                "must be a mapping"
            } else {
                "is missing: it must be a mapping"
            };
            self.add(join(at, key), why);
        }
        found
    }

    /// One of a closed set of words at `key`.
    pub(super) fn word<T: Copy>(
        &mut self,
        object: &Object,
        at: &str,
        key: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let found = object.get(key).and_then(Value::as_str);
        let hit = words.iter().find(|(word, _)| Some(*word) == found).map(|(_, value)| *value);
        if hit.is_none() {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.add(join(at, key), format!("must be one of {}", all.join(", ")));
        }
        hit
    }

    /// Refuses keys outside a closed set.
    pub(super) fn closed(&mut self, object: &Object, at: &str, known: &[&str]) {
        for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
            self.add(join(at, key), format!("is no known key here (known: {})", known.join(", ")));
        }
    }
}

/// `at.key`, or the key alone at the top.
pub(super) fn join(at: &str, key: &str) -> String {
    if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") }
}

/// The text of a value, unless it is none or blank.
pub(super) fn text(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

/// A list of texts, none of them blank.
pub(super) fn texts(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(|item| text(Some(item))).collect()
}
