//! `environments.<env>.sha_source`: where the deployed build tells what it is.

use super::super::values::{Faults, Object, text};
use super::environments::is_http_url;
use crate::pattern::Pattern;

/// Where and how a build id is read.
#[derive(Clone, Debug)]
pub struct ShaSource {
    /// The URL to ask.
    pub url: String,
    /// How the id is taken from the answer.
    pub extract: Extract,
    /// What the id is.
    pub format: ShaFormat,
}

/// How the id is taken from the answer.
#[derive(Clone, Debug)]
pub enum Extract {
    /// A dotted path into a JSON answer.
    JsonPath(String),
    /// The first group of a pattern over the text.
    Regex(Pattern),
}

/// What a build id is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ShaFormat {
    /// A commit, 7 to 40 hexadecimal digits.
    #[default]
    Commit,
    /// Another fingerprint of the build.
    BuildId,
}

impl ShaFormat {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::BuildId => "build-id",
        }
    }
}

pub(super) fn read(env: &Object, at: &str, faults: &mut Faults, warnings: &mut Faults) -> Option<ShaSource> {
    let block = faults.mapping(env, at, "sha_source")?;
    let at = format!("{at}.sha_source");
    let url = text(block.get("url")).filter(|url| is_http_url(url));
    if url.is_none() {
        faults.add(format!("{at}.url"), "must be an http or https URL");
    }
    let extract = extract(block, &at, faults);
    let format = if block.contains_key("format") {
        let words = [("commit", ShaFormat::Commit), ("build-id", ShaFormat::BuildId)];
        faults.word(block, &at, "format", &words)
    } else {
        Some(ShaFormat::default())
    };
    if format == Some(ShaFormat::BuildId) {
        warnings.add(format!("{at}.format"), "is build-id: verdicts will not name a commit");
    }
    Some(ShaSource { url: url?.to_owned(), extract: extract?, format: format? })
}

fn extract(block: &Object, at: &str, faults: &mut Faults) -> Option<Extract> {
    match (block.contains_key("json_path"), block.contains_key("regex")) {
        (true, false) => Some(Extract::JsonPath(faults.text(block, at, "json_path")?.to_owned())),
        (false, true) => {
            let source = faults.text(block, at, "regex")?;
            match Pattern::new(source) {
                Ok(pattern) if pattern.has_group() => Some(Extract::Regex(pattern)),
                Ok(_) => {
                    faults.add(format!("{at}.regex"), "needs a capturing group around the build id");
                    None
                }
                Err(error) => {
                    faults.add(format!("{at}.regex"), error.to_string());
                    None
                }
            }
        }
        _ => {
            faults.add(at, "must have exactly one of json_path and regex");
            None
        }
    }
}
