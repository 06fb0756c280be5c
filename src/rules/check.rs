//! Packs held against their own examples: each says of one request whether it writes, reads or is dropped.

use super::described::{Described, DescribedError, Payload};
use super::judged::{Judgement, Verdict, judge};
use crate::files::{self, FileError};
use crate::model::{Fault, Policy};
use crate::policy::packs::{self, Pack};
use crate::policy::{MutationConfig, Rules};
use crate::yaml::{self, Spanned, YamlError};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;

/// A pack that was held against its examples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What it is for.
    pub title: String,
    /// How many write, allow and drop signatures it has.
    pub signatures: [usize; 3],
    /// How many examples were tried.
    pub examples: usize,
    /// Those that are not judged as they say.
    pub failures: Vec<Failure>,
}

/// An example that is not judged as it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its line in the file, from 1.
    pub line: u64,
    /// Its index in `examples`.
    pub index: usize,
    /// `METHOD URL`.
    pub request: String,
    /// What it says.
    pub expected: Expect,
    /// What it is.
    pub found: Expect,
    /// The entries that spoke.
    pub because: String,
}

/// What a pack makes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// A write.
    Write,
    /// No write.
    Read,
    /// Neither sent nor held against the run.
    Drop,
}

impl Expect {
    const ALL: [Self; 3] = [Self::Write, Self::Read, Self::Drop];

    /// The word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::Drop => "drop",
        }
    }

    fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Block | Verdict::Observe => Self::Write,
            Verdict::Drop => Self::Drop,
            Verdict::Pass | Verdict::Unclassified => Self::Read,
        }
    }
}

/// Why a pack cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is no YAML.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// It is no pack.
    #[error("{file} is no signature pack: {}", list(faults))]
    Malformed {
        /// The file.
        file: String,
        /// Every fault.
        faults: Vec<Fault>,
    },
}

fn list(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Checks the pack in the file at `path`.
///
/// # Errors
/// When it cannot be read or is no pack.
pub fn file(path: &Path) -> Result<Checked, CheckError> {
    text(path, &files::read_text(path, files::DECLARED_CAP)?)
}

/// Checks the shipped pack `name`; nothing when there is none of that name.
///
/// # Errors
/// When it is no pack.
pub fn shipped(name: &str) -> Option<Result<Checked, CheckError>> {
    packs::text(name).map(|found| text(Path::new(&format!("proxy-rules/{name}.yaml")), found))
}

/// Checks a pack that was read from `path`.
///
/// # Errors
/// When it is no pack.
pub fn text(path: &Path, text: &str) -> Result<Checked, CheckError> {
    let malformed = |faults: Vec<Fault>| CheckError::Malformed { file: path.display().to_string(), faults };
    let document = yaml::parse(path, text)?;
    let pack = Pack::parse(&document);
    let mut faults = pack.as_ref().err().cloned().unwrap_or_default();
    let examples = examples(path, text, &mut faults)?;
    let Ok(pack) = pack else { return Err(malformed(faults)) };
    if !faults.is_empty() {
        return Err(malformed(faults));
    }
    let (title, signatures) = (pack.title.clone(), [pack.write.len(), pack.allow.len(), pack.drop.len()]);
    let rules = Rules::new(Policy::read_only(), MutationConfig::of_pack(pack));
    let failures = examples.iter().enumerate().filter_map(|(index, example)| example.failure(&rules, index));
    Ok(Checked { title, signatures, examples: examples.len(), failures: failures.collect() })
}

/// The part of a pack that is about requests, with lines.
#[derive(Deserialize)]
struct Shown {
    #[serde(default)]
    examples: Vec<Spanned<Value>>,
}

/// One example of a pack.
#[derive(Debug)]
struct Example {
    line: u64,
    request: Described,
    text: String,
    expect: Expect,
}

impl Example {
    fn failure(&self, rules: &Rules, index: usize) -> Option<Failure> {
        let judgement = judge(rules, &self.request);
        let found = Expect::of(judgement.verdict);
        (found != self.expect).then(|| Failure {
            line: self.line,
            index,
            request: self.text.clone(),
            expected: self.expect,
            found,
            because: because(&judgement),
        })
    }
}

fn because(judgement: &Judgement) -> String {
    // The lists are the pack's own, and no profile's.
    let own = |place: &String| place.trim_start_matches("mutation.").to_owned();
    let cleared = judgement.cleared.as_ref().map(|place| format!("cleared by {}", own(place)));
    let dropped = judgement.dropped.as_ref().map(|place| format!("dropped by {}", own(place)));
    judgement
        .reason
        .clone()
        .or(dropped)
        .or(cleared.filter(|_| judgement.fired.is_some()))
        .unwrap_or_else(|| "no write signature fires".to_owned())
}

fn examples(path: &Path, text: &str, faults: &mut Vec<Fault>) -> Result<Vec<Example>, YamlError> {
    let Shown { examples } = yaml::parse_as(path, text)?;
    if examples.is_empty() {
        faults.push(Fault::new("examples", "must be a list with at least one request and what to expect"));
    }
    let read = |(index, item): (usize, &Spanned<Value>)| {
        let place = format!("examples[{index}]");
        example(&item.value, item.referenced.line(), &place, faults)
    };
    Ok(examples.iter().enumerate().filter_map(read).collect())
}

fn example(item: &Value, line: u64, place: &str, faults: &mut Vec<Fault>) -> Option<Example> {
    let Some(object) = item.as_object() else {
        faults.push(Fault::new(place, "must be a mapping with request and expect"));
        return None;
    };
    let before = faults.len();
    for key in object.keys().filter(|key| !EXAMPLE_KEYS.contains(&key.as_str())) {
        faults.push(Fault::new(
            format!("{place}.{key}"),
            format!("unknown key; known are {}", EXAMPLE_KEYS.join(", ")),
        ));
    }
    let expect = object.get("expect").and_then(Value::as_str);
    let expect = expect.and_then(|word| Expect::ALL.into_iter().find(|expect| expect.as_str() == word));
    if expect.is_none() {
        faults.push(Fault::new(format!("{place}.expect"), "must be write, read or drop"));
    }
    let text = object.get("request").and_then(Value::as_str).unwrap_or_default();
    let request = match request(text, object) {
        Ok(request) => Some(request),
        Err((key, why)) => {
            faults.push(Fault::new(format!("{place}.{key}"), why));
            None
        }
    };
    if faults.len() > before {
        return None;
    }
    Some(Example { line, request: request?, text: text.to_owned(), expect: expect? })
}

const EXAMPLE_KEYS: [&str; 5] = ["request", "headers", "body", "expect", "note"];

fn request(text: &str, object: &Map<String, Value>) -> Result<Described, (&'static str, String)> {
    let in_headers = |error: DescribedError| ("headers", error.to_string());
    let mut request = Described::parse(text).map_err(|error| ("request", error.to_string()))?;
    match object.get("headers") {
        None | Some(Value::Null) => {}
        Some(Value::Object(headers)) => {
            for (name, value) in headers {
                let value = value.as_str().ok_or_else(|| ("headers", format!("{name} must be text")))?;
                request.header(name, value).map_err(in_headers)?;
            }
        }
        Some(_) => return Err(("headers", "must be a mapping of name to value".to_owned())),
    }
    match object.get("body") {
        None | Some(Value::Null) => {}
        Some(Value::String(body)) => request.body(Payload::Bytes(body.clone().into_bytes())),
        Some(_) => return Err(("body", "must be text".to_owned())),
    }
    Ok(request)
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
