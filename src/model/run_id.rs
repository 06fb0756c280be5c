//! The id of a run, which is also the name of its directory.

use super::clock;
use jiff::Timestamp;
use std::fmt;

/// `20261130T101500Z-checkout-3f2a91c`: letters, digits, `.`, `_` and `-` only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl RunId {
    /// The id of a run of `feature` that started at `time` against the build `build`; what may not stand in an id
    /// becomes `-`, and of the build the first seven characters are kept.
    pub fn new(time: Timestamp, feature: &str, build: &str) -> Self {
        let clean =
            |text: &str| -> String { text.chars().map(|c| if allowed(c) { c } else { '-' }).collect() };
        let build: String = build.chars().take(7).collect();
        Self(format!("{}-{}-{}", clock::compact(time), clean(feature), clean(&build)))
    }

    /// Reads an id that a file or a person names; a lone `.` or `..` is none.
    pub fn parse(text: &str) -> Option<Self> {
        let named = !text.is_empty() && text.chars().all(allowed) && text.chars().any(|c| c != '.');
        named.then(|| Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_and_read() {
        let id = RunId::new("2026-11-30T10:15:00Z".parse().unwrap(), "check out/x", "3f2a91c04be17d55");
        assert_eq!(id.as_str(), "20261130T101500Z-check-out-x-3f2a91c");
        assert_eq!(RunId::parse(id.as_str()), Some(id));
        for text in ["", "..", ".", "a/b", "a b", "é"] {
            assert_eq!(RunId::parse(text), None, "{text}");
        }
    }
}
