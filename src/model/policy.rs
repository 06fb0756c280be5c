//! The mutation policy that a run declares: what its tests may write.
//!
//! It comes from the feature's cases file and reaches the guard as `QA_PILOT_MUTATION`, a JSON object with `policy` and,
//! under scoped-write alone, `prefix`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What tests may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyKind {
    /// Nothing: every write is blocked.
    ReadOnly,
    /// Only what the tests made themselves, marked by a prefix.
    ScopedWrite,
    /// Anything; writes are recorded.
    Unrestricted,
}

impl PolicyKind {
    /// The spelling in files and variables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::ScopedWrite => "scoped-write",
            Self::Unrestricted => "unrestricted",
        }
    }

    /// Reads the spelling of [`Self::as_str`].
    pub fn parse(text: &str) -> Option<Self> {
        [Self::ReadOnly, Self::ScopedWrite, Self::Unrestricted].into_iter().find(|kind| kind.as_str() == text)
    }
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A policy with its prefix; the prefix is there exactly under scoped-write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    kind: PolicyKind,
    prefix: Option<String>,
}

/// Why a declared policy was refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PolicyError {
    /// Not JSON, or not an object.
    #[error("QA_PILOT_MUTATION is not a JSON object: {0}; write e.g. {{\"policy\":\"read-only\"}}")]
    NotAnObject(String),
    /// A key other than `policy` and `prefix`.
    #[error("QA_PILOT_MUTATION has an unknown key `{0}`; only `policy` and `prefix` are known")]
    UnknownKey(String),
    /// A policy outside the three.
    #[error("QA_PILOT_MUTATION.policy is {0}; use \"read-only\", \"scoped-write\" or \"unrestricted\"")]
    UnknownPolicy(String),
    /// Scoped-write without a usable prefix.
    #[error("QA_PILOT_MUTATION.prefix must match [A-Za-z0-9_-]{{3,}} under scoped-write, and is {0}")]
    BadPrefix(String),
    /// A prefix where none belongs.
    #[error("QA_PILOT_MUTATION.prefix is only for scoped-write; remove it under {0}")]
    UnexpectedPrefix(PolicyKind),
}

impl Policy {
    /// Nothing may be written: what holds when nothing is declared.
    pub fn read_only() -> Self {
        Self { kind: PolicyKind::ReadOnly, prefix: None }
    }

    /// Pairs a kind with its prefix.
    ///
    /// # Errors
    /// When scoped-write lacks a prefix of at least three letters, digits, `_` or `-`, or another kind has one.
    pub fn new(kind: PolicyKind, prefix: Option<String>) -> Result<Self, PolicyError> {
        match (kind, &prefix) {
            (PolicyKind::ScopedWrite, Some(text)) if is_prefix(text) => {}
            (PolicyKind::ScopedWrite, Some(text)) => return Err(PolicyError::BadPrefix(format!("{text:?}"))),
            (PolicyKind::ScopedWrite, None) => return Err(PolicyError::BadPrefix("missing".into())),
            (_, Some(_)) => return Err(PolicyError::UnexpectedPrefix(kind)),
            (_, None) => {}
        }
        Ok(Self { kind, prefix })
    }

    /// Reads the value of `QA_PILOT_MUTATION`; unset or blank means read-only, never unrestricted.
    ///
    /// # Errors
    /// When the text is no JSON object of the declared shape.
    pub fn from_env_json(text: Option<&str>) -> Result<Self, PolicyError> {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok(Self::read_only()) };
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| PolicyError::NotAnObject(error.to_string()))?;
        let Some(object) = value.as_object() else {
            return Err(PolicyError::NotAnObject(format!("it is {value}")));
        };
        if let Some(key) = object.keys().find(|key| !matches!(key.as_str(), "policy" | "prefix")) {
            return Err(PolicyError::UnknownKey(key.clone()));
        }
        let kind = match object.get("policy") {
            Some(serde_json::Value::String(text)) => {
                PolicyKind::parse(text).ok_or_else(|| PolicyError::UnknownPolicy(format!("{text:?}")))?
            }
            Some(other) => return Err(PolicyError::UnknownPolicy(other.to_string())),
            None => return Err(PolicyError::UnknownPolicy("missing".into())),
        };
        let prefix = match object.get("prefix") {
            None | Some(serde_json::Value::Null) => None,
            Some(serde_json::Value::String(text)) => Some(text.clone()),
            Some(other) => return Err(PolicyError::BadPrefix(other.to_string())),
        };
        Self::new(kind, prefix)
    }

    /// The JSON that [`Self::from_env_json`] reads back.
    pub fn to_env_json(&self) -> String {
        match &self.prefix {
            Some(prefix) => serde_json::json!({ "policy": self.kind, "prefix": prefix }),
            None => serde_json::json!({ "policy": self.kind }),
        }
        .to_string()
    }

    /// The kind.
    pub fn kind(&self) -> PolicyKind {
        self.kind
    }

    /// The prefix that marks what tests made; some exactly under scoped-write.
    pub fn prefix(&self) -> Option<&str> {
        self.prefix.as_deref()
    }
}

/// Whether `text` may be a scoped-write prefix: `[A-Za-z0-9_-]{3,}`.
pub(crate) fn is_prefix(text: &str) -> bool {
    text.len() >= 3 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unset_is_read_only() {
        for text in [None, Some(""), Some("  ")] {
            assert_eq!(Policy::from_env_json(text), Ok(Policy::read_only()));
        }
    }

    #[test]
    fn reads_what_it_writes() {
        for text in [r#"{"policy":"read-only"}"#, r#"{"policy":"scoped-write","prefix":"QA_TEST_"}"#] {
            assert_eq!(Policy::from_env_json(Some(text)).unwrap().to_env_json(), text);
        }
        let null_prefix = Policy::from_env_json(Some(r#"{"policy":"unrestricted","prefix":null}"#)).unwrap();
        assert_eq!(null_prefix.kind(), PolicyKind::Unrestricted);
    }

    #[test]
    fn refusals() {
        for (text, want) in [
            ("{", "not a JSON object"),
            ("null", "not a JSON object"),
            ("[]", "not a JSON object"),
            (r#"{"policy":"none"}"#, "policy is \"none\""),
            (r#"{}"#, "policy is missing"),
            (r#"{"policy":null}"#, "policy is null"),
            (r#"{"policy":"read-only","x":1}"#, "unknown key `x`"),
            (r#"{"policy":"scoped-write"}"#, "is missing"),
            (r#"{"policy":"scoped-write","prefix":"ab"}"#, "\"ab\""),
            (r#"{"policy":"scoped-write","prefix":"a b c"}"#, "\"a b c\""),
            (r#"{"policy":"scoped-write","prefix":7}"#, "is 7"),
            (r#"{"policy":"read-only","prefix":"QA_"}"#, "only for scoped-write"),
        ] {
            let error = Policy::from_env_json(Some(text)).unwrap_err().to_string();
            assert!(error.contains(want), "{text}: {error}");
        }
    }
}
