//! The forms that texts of a report must have before they are told to anybody: no markup, no line breaks, no paths out of
//! the run directory, no URLs.

use serde::Serialize;

use crate::files;

/// The longest text that names a person, an app or a browser.
const LONGEST: usize = 120;

/// A short name on one line: letters, digits, blanks and `. _ - @ + , : ' & # [ ] ( )`, but no Markdown link.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Word(String);

impl Word {
    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        let allowed = |c: char| c.is_alphanumeric() || " ._-@+,:'&#[]()".contains(c);
        (!text.trim().is_empty()
            && text.chars().count() <= LONGEST
            && text.chars().all(allowed)
            && !text.contains("]("))
        .then(|| Self(text.to_owned()))
    }

    /// Reads the name of a model, which may stand in a family: `family/model-1:tag`. A family has no colon, and so is no
    /// drive and no scheme.
    pub fn model(text: &str) -> Option<Self> {
        let (families, _) = text.rsplit_once('/').unwrap_or_default();
        let is_name = |part: &str| !part.starts_with('.') && Self::parse(part).is_some();
        (!families.contains(':') && text.split('/').all(is_name)).then(|| Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A commit or another fingerprint of a build: 1 to 64 letters, digits, `.`, `_` and `-`, the first a letter or digit.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct BuildId(String);

impl BuildId {
    /// Reads a build id.
    pub fn parse(text: &str) -> Option<Self> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        (text.len() <= 64
            && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
            && text.bytes().all(allowed))
        .then(|| Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The hash of a spec as ledgers have it: 16 to 64 lower-case hexadecimal digits.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct SpecSha(String);

impl SpecSha {
    /// Reads a hash.
    pub fn parse(text: &str) -> Option<Self> {
        ((16..=64).contains(&text.len()) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
            .then(|| Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A path that stays inside its root and is one line of visible characters without markup. It has no colon, and so is no
/// URL and names no drive.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct InnerPath(String);

impl InnerPath {
    /// Reads a path with `/` between its parts.
    pub fn parse(text: &str) -> Option<Self> {
        let allowed = |c: char| !c.is_control() && !is_hidden(c) && !"<>`|\"*?\\:".contains(c);
        (files::is_inner(text) && !text.contains("](") && text.chars().all(allowed))
            .then(|| Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a character shows nothing, breaks lines or turns the direction of what follows, so that a text reads as
/// another: Unicode's categories Cf, Zl and Zp without the marks that do show.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A time in ISO 8601, as it was written.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Moment(String);

impl Moment {
    /// Reads a time.
    pub fn parse(text: &str) -> Option<Self> {
        let allowed = |b: u8| b.is_ascii_digit() || matches!(b, b'-' | b':' | b'T' | b'.' | b'Z' | b'+');
        (text.bytes().all(allowed) && text.parse::<jiff::Timestamp>().is_ok()).then(|| Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        for word in [
            "tester",
            "Jane (QA)",
            "Jane O'Neil",
            "jane@client.test",
            "github-actions[bot]",
            "uid 1000",
            "chromium-156.0",
        ] {
            assert!(Word::parse(word).is_some(), "{word}");
        }
        for text in [
            "",
            " ",
            "a/b",
            "C:\\x",
            "<b>",
            "a\nb",
            "`x`",
            "[a](b)",
            "a|b",
            "https://a.test",
            "a\u{202e}b",
            "a\u{2028}b",
            "\u{ff0f}etc\u{ff0f}passwd",
            &"x".repeat(121),
        ] {
            assert!(Word::parse(text).is_none(), "{text}");
        }
        for text in ["family/model-1.5", "family/model-1.5:latest", "model:latest"] {
            assert!(Word::model(text).is_some(), "{text}");
        }
        for text in [
            "c:/x",
            "C:/home/x",
            "file:/x",
            "a/b:c/d",
            "/etc/passwd",
            "a//b",
            "a/../b",
            "https://a.test",
            "a/",
            "",
        ] {
            assert!(Word::model(text).is_none(), "{text}");
        }
    }

    #[test]
    fn builds_hashes_paths_and_times() {
        assert!(BuildId::parse("3f2a91c04be17d55").is_some() && BuildId::parse("2026.11-rc1").is_some());
        assert!(["", "-a", "a/b", "a b", "é"].iter().all(|text| BuildId::parse(text).is_none()));
        assert!(SpecSha::parse("0000000000000007").is_some());
        assert!(["", "0007", "000000000000000G"].iter().all(|text| SpecSha::parse(text).is_none()));
        assert!(InnerPath::parse("test-results/a b-é/trace.zip").is_some());
        for text in [
            "",
            "/x",
            "../x",
            "a/../../x",
            "C:/x",
            "a\\b",
            "a\n/b",
            "<a>",
            "http://a.test/x",
            "x`y",
            "file:/x",
            "\\\\host\\x",
            "[x](y)",
            "a\u{202e}b",
            "a\u{2028}b",
            "a\u{feff}b",
        ] {
            assert!(InnerPath::parse(text).is_none(), "{text}");
        }
        assert!(
            Moment::parse("2026-11-30T10:16:00Z").is_some()
                && Moment::parse("2026-11-30T10:16:00.123+02:00").is_some()
        );
        assert!(
            ["", "yesterday", "2026-11-30", "2026-11-30T10:16:00Z[UTC]"]
                .iter()
                .all(|text| Moment::parse(text).is_none())
        );
    }
}
