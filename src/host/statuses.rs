//! The statuses that were recorded when a run started: the only proof that each case was approved to run.

use std::path::Path;

use serde_json::Value;

use super::profile::{StatusKey, StatusNames};
use super::values::Object;
use crate::yaml::{self, YamlError};

/// Recorded statuses, by case id.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Statuses(Object);

/// What the record says about one case.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Status<'a> {
    /// One of the host's statuses.
    Known(StatusKey),
    /// A name that the host does not declare, or no text at all.
    Undeclared(&'a Value),
    /// Nothing.
    Missing,
}

impl Statuses {
    /// Reads the statuses that hold today, which may be none at all.
    ///
    /// # Errors
    /// When the file cannot be read, does not parse, or is no mapping.
    pub fn today(path: &Path) -> Result<Self, YamlError> {
        match yaml::read(path)? {
            Value::Object(object) => Ok(Self(object)),
            _ => Err(YamlError::Syntax {
                path: path.to_owned(),
                line: 1,
                column: 1,
                message: "must be a mapping from case id to status".to_owned(),
            }),
        }
    }

    /// Takes a document. Nothing when it is no mapping, or an empty one: that approves nothing.
    pub fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Object(object) if !object.is_empty() => Some(Self(object)),
            _ => None,
        }
    }

    /// What is recorded about the case `id`.
    pub fn of(&self, id: &str, names: &StatusNames) -> Status<'_> {
        match self.0.get(id) {
            None => Status::Missing,
            Some(value) => match value.as_str().and_then(|name| names.key(name)) {
                Some(key) => Status::Known(key),
                None => Status::Undeclared(value),
            },
        }
    }

    /// The text that is recorded about the case `id`.
    pub fn text(&self, id: &str) -> Option<&str> {
        self.0.get(id).and_then(Value::as_str)
    }

    /// All recorded ids and values, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(id, value)| (id.as_str(), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_no_mapping_approves_nothing() {
        for value in [json!(null), json!([]), json!({}), json!("Approved"), json!(["X"])] {
            assert_eq!(Statuses::from_value(value), None);
        }
    }

    #[test]
    fn a_status_is_known_undeclared_or_missing() {
        let statuses = Statuses::from_value(
            json!({ "A": " APPROVED ", "B": "Fine", "C": null, "D": 3, "E": "approved_for_execution" }),
        )
        .unwrap();
        let names = StatusNames::default();
        assert_eq!(statuses.of("A", &names), Status::Known(StatusKey::Approved));
        for id in ["B", "C", "D", "E"] {
            assert!(matches!(statuses.of(id, &names), Status::Undeclared(_)), "{id}");
        }
        assert_eq!(statuses.of("F", &names), Status::Missing);
    }
}
