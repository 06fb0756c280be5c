//! The only door to YAML: text in, one JSON value out, or one line that names file, line and column.
//!
//! YAML 1.2: `no` and `2026-11-30` are text. Duplicate keys, unknown tags, several documents and anchors that explode
//! are refused. JSON is YAML and is read as such.

use crate::files::{self, FileError};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};

pub use serde_saphyr::Spanned;

/// The most that aliases may repeat, in events of the parser: what people write with them takes a few hundred, and each costs
/// as much as if it stood there.
const MOST_REPLAYED: usize = 10_000;

/// Why a YAML file was refused.
#[derive(Debug, thiserror::Error)]
pub enum YamlError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is no YAML, or has something in it that we refuse.
    #[error("{}:{line}:{column}: {message}", .path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: u64,
        /// The column, from 1.
        column: u64,
        /// What is wrong.
        message: String,
    },
}

/// Reads and parses the YAML file at `path`; an empty file is null.
///
/// # Errors
/// When it cannot be read or does not parse.
pub fn read(path: &Path) -> Result<Value, YamlError> {
    parse(path, &files::read_text(path, files::DECLARED_CAP)?)
}

/// Parses YAML text that was read from `path`; blank text is null.
///
/// # Errors
/// When it does not parse; the error names line and column.
pub fn parse(path: &Path, text: &str) -> Result<Value, YamlError> {
    parse_as::<Option<Value>>(path, text).map(Option::unwrap_or_default)
}

/// Parses YAML text that was read from `path` into `T`, in which a [`Spanned`] value knows its line.
///
/// # Errors
/// When it does not parse, or not into `T`; the error names line and column.
pub fn parse_as<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, YamlError> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MOST_REPLAYED },
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options::<T>(text, options).map_err(|error| {
        let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
        let message = error.without_snippet().to_string();
        // One line: what follows the first is a picture of the place, which line and column give already.
        let message = plain(message.lines().next().unwrap_or("does not parse"));
        YamlError::Syntax { path: path.to_owned(), line, column, message }
    })
}

/// The parser's words without the place, which stands in front, and without advice to programmers.
fn plain(message: &str) -> String {
    let message = message.find(" at line ").map_or(message, |at| &message[..at]);
    message.split(", set DuplicateKeyPolicy").next().unwrap_or(message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        parse(Path::new("f.yaml"), text).unwrap()
    }

    fn fault(text: &str) -> String {
        let error = parse(Path::new("f.yaml"), text).unwrap_err().to_string();
        assert!(error.starts_with("f.yaml:"), "{error}");
        assert!(!error.contains('\n'), "{error}");
        error
    }

    #[test]
    fn scalars_are_yaml_1_2() {
        assert_eq!(
            value("a: no\nb: 2026-11-30T10:00:00Z\nc: 12\nd: true\ne:\nf: '1'\ng: 1.5\nh: 0o17"),
            serde_json::json!({"a": "no", "b": "2026-11-30T10:00:00Z", "c": 12, "d": true, "e": null, "f": "1", "g": 1.5, "h": 15})
        );
        assert_eq!(value(""), Value::Null);
        assert_eq!(value("# only a comment\n"), Value::Null);
        assert_eq!(value("{\"a\": [1, \"x\"]}"), serde_json::json!({"a": [1, "x"]}));
        assert_eq!(value("\"\\u00e9\""), serde_json::json!("é"));
    }

    #[test]
    fn refusals_name_the_place() {
        assert_eq!(fault("a: 1\na: 2\n"), "f.yaml:2:1: duplicate mapping key: a");
        fault("a:\n\t- b\n");
        fault("a: [1, 2");
        fault("a: 1\n---\nb: 2\n");
        let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned()
            + &(b'b'..=b'k').fold(String::new(), |text, c| {
                let (c, before) = (c as char, (c - 1) as char);
                text + &format!("{c}: &{c} [*{before},*{before},*{before},*{before},*{before},*{before},*{before},*{before},*{before}]\n")
            });
        fault(&bomb);
        let repeated = format!("a: &a [{}]\nb: [{}]\n", ["x"; 100].join(","), ["*a"; 100].join(","));
        let error = fault(&repeated);
        assert!(error.contains("alias"), "{error}");
        fault(&"[".repeat(100_000));
    }
}
