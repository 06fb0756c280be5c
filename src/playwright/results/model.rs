//! The parts of results.json that are read, borrowed from its bytes.

use serde::Deserialize;

use super::lenient::{is_there, or_default};
use super::suites::Suites;
use super::text::{PathText, Text};
use crate::model::Shard;

/// Why results.json cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// Anything that does not begin like an object.
    #[error("not a Playwright JSON report: no object")]
    NoObject,
    /// Not JSON, or JSON of another shape.
    #[error("not a Playwright JSON report: at {place}: {source}")]
    Shape {
        /// The place in the file, such as `suites[0].specs[2].title`.
        place: String,
        /// What was found there.
        source: serde_json::Error,
    },
}

/// A whole report, its suites flattened.
#[derive(Debug, Default)]
pub struct Results<'a> {
    /// Playwright's version, where the report names it.
    pub version: Option<Text<'a>>,
    /// The folder that files of specs are relative to, absolute on the machine that ran.
    pub root_dir: Option<Text<'a>>,
    /// Set when this is one shard of a run.
    pub shard: Option<Shard>,
    /// When the run started, ISO 8601, where the report has `stats`.
    pub start_time: Option<Text<'a>>,
    /// Errors that belong to no test: global set-up, a file that does not load, no tests found.
    pub errors: Vec<TestError<'a>>,
    /// All specs, depth first, a suite's own before nested ones.
    pub specs: Vec<Spec<'a>>,
}

/// One titled test of a file, with an entry for each project and repetition.
#[derive(Debug, Deserialize, PartialEq)]
pub struct Spec<'a> {
    /// The title of the test itself, without those of its describes.
    #[serde(borrow)]
    pub title: Text<'a>,
    /// The file that it stands in, relative to the report's root folder; empty where the report does not say.
    #[serde(default, deserialize_with = "or_default", borrow)]
    pub file: Text<'a>,
    /// Playwright's id of the test in the first entry; empty where the report does not say.
    #[serde(default, deserialize_with = "or_default", borrow)]
    pub id: Text<'a>,
    /// One for each project, and each repetition of it.
    #[serde(default, deserialize_with = "or_default", borrow)]
    pub tests: Vec<Entry<'a>>,
}

/// A spec in one project.
#[derive(Debug, Deserialize, PartialEq)]
pub struct Entry<'a> {
    /// The project's name; empty when the configuration has none.
    #[serde(default, rename = "projectName", deserialize_with = "or_default", borrow)]
    pub project: Text<'a>,
    /// The attempts, first to last. None: it never started.
    #[serde(default, deserialize_with = "or_default", borrow)]
    pub results: Vec<Attempt<'a>>,
}

/// One try.
#[derive(Debug, Default, Deserialize, PartialEq)]
pub struct Attempt<'a> {
    /// `passed`, `failed`, `timedOut`, `skipped`, `interrupted`; other words mean that nothing was shown.
    #[serde(default, deserialize_with = "or_default", borrow)]
    pub status: Text<'a>,
    /// Milliseconds.
    #[serde(default, deserialize_with = "or_default")]
    pub duration: f64,
    /// Which try this is, from 0, where the report says.
    #[serde(default)]
    pub retry: Option<u64>,
    /// The first error.
    #[serde(default, borrow)]
    pub error: Option<TestError<'a>>,
    /// All errors.
    #[serde(default, deserialize_with = "or_default", borrow)]
    pub errors: Vec<TestError<'a>>,
    /// Files and bodies that the attempt left.
    #[serde(default, deserialize_with = "or_default", borrow)]
    pub attachments: Vec<Attachment<'a>>,
}

/// An error: thrown `Error`s have a message, other thrown values a value.
#[derive(Debug, Default, Deserialize, PartialEq)]
pub struct TestError<'a> {
    /// The message, colours included.
    #[serde(default, borrow)]
    pub message: Option<Text<'a>>,
    /// What was thrown when it was no `Error`.
    #[serde(default, borrow)]
    pub value: Option<Text<'a>>,
}

impl TestError<'_> {
    /// The message, else the value.
    pub fn text(&self) -> Option<&str> {
        self.message.as_deref().or(self.value.as_deref())
    }
}

/// A file or a body that an attempt attached.
#[derive(Debug, Default, Deserialize, PartialEq)]
pub struct Attachment<'a> {
    /// Its name, such as `trace`.
    #[serde(default, deserialize_with = "or_default", borrow)]
    pub name: Text<'a>,
    /// Where the file is, absolute on the machine that ran.
    #[serde(default, borrow)]
    pub path: Option<PathText<'a>>,
    /// Whether the report holds a body for it.
    #[serde(default, rename = "body", deserialize_with = "is_there")]
    pub has_body: bool,
}

impl Attachment<'_> {
    /// The path, unless it is empty.
    pub fn file(&self) -> Option<&str> {
        self.path.as_deref().filter(|path| !path.is_empty())
    }
}

impl Attempt<'_> {
    /// Whether the test was skipped: it owes no record.
    pub fn is_skipped(&self) -> bool {
        &*self.status == "skipped"
    }
}

impl<'a> Results<'a> {
    /// Reads a report.
    ///
    /// # Errors
    /// When the bytes are no JSON, or not of a report's shape; the message names the place.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ResultsError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        // serde would read a list as the fields in their order.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(ResultsError::NoObject);
        }
        let file: File<'a> = match serde_json::from_slice(bytes) {
            Ok(file) => file,
            // The place is worked out only when it is needed: tracking it costs a third of the time.
            Err(error) => return Err(locate(bytes, error)),
        };
        let specs = file
            .suites
            .into_specs()
            .map_err(|source| ResultsError::Shape { place: "a nested suite".to_owned(), source })?;
        Ok(Self {
            version: file.config.version,
            root_dir: file.config.root_dir,
            shard: file.config.shard,
            start_time: file.stats.start_time,
            errors: file.errors,
            specs,
        })
    }
}

fn locate(bytes: &[u8], error: serde_json::Error) -> ResultsError {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    match serde_path_to_error::deserialize::<_, File<'_>>(&mut json) {
        Err(traced) => ResultsError::Shape { place: traced.path().to_string(), source: traced.into_inner() },
        Ok(_) => ResultsError::Shape { place: "the end".to_owned(), source: error },
    }
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(default, deserialize_with = "or_default", borrow)]
    config: Config<'a>,
    #[serde(default, borrow)]
    suites: Suites<'a>,
    #[serde(default, deserialize_with = "or_default", borrow)]
    errors: Vec<TestError<'a>>,
    #[serde(default, deserialize_with = "or_default", borrow)]
    stats: Stats<'a>,
}

#[derive(Default, Deserialize)]
struct Config<'a> {
    #[serde(default, borrow)]
    version: Option<Text<'a>>,
    #[serde(default, rename = "rootDir", borrow)]
    root_dir: Option<Text<'a>>,
    #[serde(default)]
    shard: Option<Shard>,
}

#[derive(Default, Deserialize)]
struct Stats<'a> {
    #[serde(default, rename = "startTime", borrow)]
    start_time: Option<Text<'a>>,
}
