//! Which build is deployed: what the environment's `sha_source` answers, before a run and after it.

use crate::host::profile::{Extract, ShaFormat, ShaSource};
use crate::proxy::{self, Way};
use serde_json::Value;
use std::time::{Duration, Instant};
use url::Url;

/// How long the environment may take to tell its build, redirects included, when nobody says otherwise.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// What tells a build is short.
const ANSWER_CAP: usize = 1 << 20;
/// As many redirects as are followed (WHATWG Fetch, HTTP-redirect fetch).
const REDIRECTS: usize = 20;

/// Why no build id could be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BuildIdError {
    /// The URL did not answer with a 2xx and a body.
    #[error(
        "cannot read the deployed build from {url}: {reason}; the environment must be up before the run starts (an application that the test command starts is no registered environment)"
    )]
    Fetch {
        /// What was asked.
        url: String,
        /// What happened.
        reason: String,
    },
    /// The answer is no JSON.
    #[error("{url} answered no JSON, so json_path has nothing to look in: {start}")]
    NotJson {
        /// What was asked.
        url: String,
        /// How the answer starts.
        start: String,
    },
    /// Nothing was found where the profile points.
    #[error("{url} answered nothing at {place}")]
    NotFound {
        /// What was asked.
        url: String,
        /// The path or pattern.
        place: String,
    },
    /// What was found is no build id.
    #[error("{url} answered {value:?}, which is no {}", wanted(*.format))]
    Malformed {
        /// What was asked.
        url: String,
        /// What it answered.
        value: String,
        /// What was wanted.
        format: ShaFormat,
    },
}

fn wanted(format: ShaFormat) -> &'static str {
    match format {
        ShaFormat::Commit => {
            "commit (7 to 40 hexadecimal digits); declare format: build-id if it is a fingerprint"
        }
        ShaFormat::BuildId => {
            "build id (6 to 64 letters, digits, `.`, `_` or `-`, the first a letter or digit)"
        }
    }
}

/// Asks `source` which build is deployed, over the guard's own client: verified TLS, redirects followed, an answer within
/// `limit`. Must run within a tokio runtime.
///
/// # Errors
/// When it does not answer with a 2xx, or what it answers holds no build id of the declared format.
pub async fn read(source: &ShaSource, way: &Way, limit: Duration) -> Result<String, BuildIdError> {
    let until = Instant::now() + limit;
    let fault = |reason: String| BuildIdError::Fetch { url: source.url.clone(), reason };
    let mut url = Url::parse(&source.url).map_err(|error| fault(error.to_string()))?;
    for _ in 0..=REDIRECTS {
        let left = until.saturating_duration_since(Instant::now());
        let answer = proxy::fetch(url.as_str(), way.clone(), left, ANSWER_CAP)
            .await
            .map_err(|error| fault(error.to_string()))?;
        if answer.status.is_success() {
            return extract(source, &String::from_utf8_lossy(&answer.body));
        }
        let location = answer.headers.get(http::header::LOCATION).and_then(|value| value.to_str().ok());
        match location.filter(|_| answer.status.is_redirection()) {
            Some(location) => url = url.join(location).map_err(|error| fault(error.to_string()))?,
            None => return Err(fault(format!("it answered {}", answer.status))),
        }
    }
    Err(fault(format!("it redirected more than {REDIRECTS} times")))
}

/// The build id in the text that `source` answered.
///
/// # Errors
/// When it holds none, or what it holds is not of the declared format.
fn extract(source: &ShaSource, text: &str) -> Result<String, BuildIdError> {
    let url = || source.url.clone();
    let found = match &source.extract {
        Extract::JsonPath(path) => {
            let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
                .map_err(|_| BuildIdError::NotJson { url: url(), start: text.chars().take(200).collect() })?;
            at(&value, path).map(|found| found.as_str().map_or_else(|| found.to_string(), str::to_owned))
        }
        Extract::Regex(pattern) => pattern.first_group(text),
    };
    let place = || match &source.extract {
        Extract::JsonPath(path) => format!("json_path {path}"),
        Extract::Regex(pattern) => format!("the first group of {pattern:?}"),
    };
    let value = found.ok_or_else(|| BuildIdError::NotFound { url: url(), place: place() })?;
    let value = value.trim();
    let fits = match source.format {
        ShaFormat::Commit => (7..=40).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_hexdigit()),
        ShaFormat::BuildId => {
            (6..=64).contains(&value.len())
                && value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
                && value.as_bytes()[0].is_ascii_alphanumeric()
        }
    };
    match (fits, source.format) {
        (true, ShaFormat::Commit) => Ok(value.to_ascii_lowercase()),
        (true, ShaFormat::BuildId) => Ok(value.to_owned()),
        (false, format) => {
            Err(BuildIdError::Malformed { url: url(), value: value.chars().take(200).collect(), format })
        }
    }
}

/// What stands at a dotted path; a number is an index where there is a list.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, step| match value {
        Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
        Value::Object(map) => map.get(step),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;

    fn source(extract: Extract, format: ShaFormat) -> ShaSource {
        ShaSource { url: "https://a.test/v".into(), extract, format }
    }

    fn json(path: &str, text: &str) -> Result<String, BuildIdError> {
        extract(&source(Extract::JsonPath(path.into()), ShaFormat::Commit), text)
    }

    #[test]
    fn by_path() {
        assert_eq!(json("a.1.sha", r#"{"a":[0,{"sha":" 3F2A91C \n"}]}"#).as_deref(), Ok("3f2a91c"));
        assert_eq!(
            json("v", "\u{feff}{\"v\":\"3f2a91c\"}").as_deref(),
            Ok("3f2a91c"),
            "after a byte order mark"
        );
        assert_eq!(json("v", r#"{"v":1234567}"#).as_deref(), Ok("1234567"), "digits alone may be a commit");
        assert!(matches!(json("v", "<html>"), Err(BuildIdError::NotJson { .. })));
        assert!(matches!(json("a.b", r#"{"a":1}"#), Err(BuildIdError::NotFound { .. })));
        assert!(matches!(json("v", r#"{"v":null}"#), Err(BuildIdError::Malformed { .. })));
        assert!(matches!(json("v", r#"{"v":"abc"}"#), Err(BuildIdError::Malformed { .. })));
    }

    #[test]
    fn by_pattern() {
        let found = |format, text: &str| {
            extract(&source(Extract::Regex(Pattern::new("build=([^;]*)").unwrap()), format), text)
        };
        assert_eq!(found(ShaFormat::BuildId, "x build=2026.11.30-rc1; y").as_deref(), Ok("2026.11.30-rc1"));
        assert!(matches!(found(ShaFormat::BuildId, "build=-bad-start"), Err(BuildIdError::Malformed { .. })));
        assert!(matches!(found(ShaFormat::BuildId, "nothing"), Err(BuildIdError::NotFound { .. })));
        assert!(matches!(found(ShaFormat::BuildId, "build=;"), Err(BuildIdError::Malformed { .. })));
    }

    proptest::proptest! {
        #[test]
        fn never_panics(path in ".{0,12}", text in ".{0,40}") {
            let _ = json(&path, &text);
        }
    }
}
