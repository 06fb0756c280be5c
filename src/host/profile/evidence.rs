//! `evidence`: when traces are kept.

use serde_json::Value;

use super::super::values::{Faults, Object};

/// When a run keeps traces.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Capture {
    /// For every attempt.
    #[default]
    Always,
    /// For failures only.
    OnFailure,
    /// Never: such a run cannot be published.
    Off,
}

impl Capture {
    /// The words a profile and a report use.
    pub const WORDS: [(&'static str, Self); 3] =
        [("always", Self::Always), ("on-failure", Self::OnFailure), ("off", Self::Off)];

    /// The capture that `word` means.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, capture)| *capture)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::OnFailure => "on-failure",
            Self::Off => "off",
        }
    }
}

pub(super) fn read(
    root: &Object,
    has_production: bool,
    faults: &mut Faults,
    warnings: &mut Faults,
) -> Option<Capture> {
    if !root.contains_key("evidence") {
        return Some(Capture::default());
    }
    let block = faults.mapping(root, "", "evidence")?;
    if let Some(extra) = block.get("extra") {
        let known = |item: &Value| item.as_str() == Some("console_log");
        if !extra.as_array().is_some_and(|list| list.iter().all(known)) {
            faults.add("evidence.extra", "must be a list that holds console_log or nothing");
        }
    }
    if !block.contains_key("capture") {
        return Some(Capture::default());
    }
    let capture = faults.word(block, "evidence", "capture", &Capture::WORDS)?;
    if capture != Capture::Always {
        if has_production {
            faults.add("evidence.capture", "must be always where a production environment is registered");
        } else {
            warnings.add("evidence.capture", format!("is {}: verdicts will lack evidence", capture.as_str()));
        }
    }
    Some(capture)
}
