//! unclassified.json, beside the records of a run: which requests no signature named although their method usually writes.
//!
//! Records count them only. A list of signatures starts from here, so each is kept once, by method, path and the names in its query;
//! neither values of the query nor bodies are. The list is bounded, and says how many requests it leaves out.

use crate::files::{self, FileError, RECORD_CAP};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The name of the file in the run directory.
pub const UNCLASSIFIED: &str = "unclassified.json";

/// The most different requests that are kept.
const MAX_REQUESTS: usize = 1_000;

/// The longest URL that is kept, in bytes.
const MAX_URL: usize = 2_048;

/// The longest method that is kept, in bytes.
const MAX_METHOD: usize = 32;

/// What was seen so far.
#[derive(Debug, Default)]
pub struct Unclassified {
    /// By URL and method.
    seen: BTreeMap<(String, String), u64>,
    more: u64,
}

/// The file. Key order is part of the format.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnclassifiedList {
    /// 1.
    pub version: u64,
    /// Sorted by URL and method, each once.
    pub requests: Vec<UnclassifiedRequest>,
    /// How many requests are in no entry, because there were too many different ones or they are too long.
    pub more: u64,
}

/// Requests of one method and URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnclassifiedRequest {
    /// The method on the wire.
    pub method: String,
    /// Without user, password and fragment; of the query the names alone.
    pub url: String,
    /// How often it was sent.
    pub count: u64,
}

impl Unclassified {
    /// Notes one request; `url` carries neither user nor password.
    pub fn note(&mut self, method: &str, url: &str) {
        let url = without_values(url);
        if url.len() > MAX_URL || method.len() > MAX_METHOD {
            self.more += 1;
            return;
        }
        let full = self.seen.len() >= MAX_REQUESTS;
        match self.seen.get_mut(&(url.clone(), method.to_owned())) {
            Some(count) => *count += 1,
            None if full => self.more += 1,
            None => {
                self.seen.insert((url, method.to_owned()), 1);
            }
        }
    }

    /// What the file says.
    pub fn list(&self) -> UnclassifiedList {
        let request = |((url, method), count): (&(String, String), &u64)| UnclassifiedRequest {
            method: method.clone(),
            url: url.clone(),
            count: *count,
        };
        UnclassifiedList { version: 1, requests: self.seen.iter().map(request).collect(), more: self.more }
    }
}

impl UnclassifiedList {
    /// Writes it into `run_dir`. It proves nothing, so that of two guards in one directory the later one's stays.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, run_dir: &Path) -> Result<(), FileError> {
        files::write_atomic(&run_dir.join(UNCLASSIFIED), &files::json_bytes(self)?)
    }

    /// Reads the one of `run_dir`.
    ///
    /// # Errors
    /// When there is none, or it has another shape.
    pub fn read(run_dir: &Path) -> Result<Self, FileError> {
        files::read_json(&run_dir.join(UNCLASSIFIED), RECORD_CAP)
    }
}

/// The query keeps its names: they tell calls apart, and their values may be anybody's.
fn without_values(url: &str) -> String {
    let Some((path, query)) = url.split_once('?') else { return url.to_owned() };
    let mut names: Vec<&str> = query.split('&').map(|pair| pair.split('=').next().unwrap_or(pair)).collect();
    names.sort_unstable();
    names.dedup();
    format!("{path}?{}", names.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_once_and_no_values() {
        let mut seen = Unclassified::default();
        for (method, url) in [
            ("POST", "https://b.test/x?token=secret&a=1"),
            ("POST", "https://b.test/x?a=2&token=other&a=3"),
            ("PUT", "https://b.test/x"),
            ("POST", "https://a.test/x"),
        ] {
            seen.note(method, url);
        }
        let list = seen.list();
        let told: Vec<_> = list
            .requests
            .iter()
            .map(|request| (request.method.as_str(), request.url.as_str(), request.count))
            .collect();
        assert_eq!(
            told,
            [
                ("POST", "https://a.test/x", 1),
                ("PUT", "https://b.test/x", 1),
                ("POST", "https://b.test/x?a&token", 2)
            ]
        );
        assert_eq!(list.more, 0);
    }

    #[test]
    fn it_is_bounded_and_says_so() {
        let mut seen = Unclassified::default();
        for n in 0..MAX_REQUESTS + 7 {
            seen.note("POST", &format!("https://a.test/{n}"));
        }
        seen.note("POST", "https://a.test/0");
        seen.note("POST", &format!("https://a.test/{}", "x".repeat(MAX_URL)));
        seen.note(&"M".repeat(MAX_METHOD + 1), "https://a.test/0");
        let list = seen.list();
        assert_eq!((list.requests.len(), list.more), (MAX_REQUESTS, 9));
        assert_eq!(list.requests.iter().map(|request| request.count).sum::<u64>(), MAX_REQUESTS as u64 + 1);
    }

    #[test]
    fn reads_what_it_wrote_last() {
        let folder = tempfile::tempdir().unwrap();
        let mut seen = Unclassified::default();
        seen.note("POST", "https://a.test/");
        seen.list().write(folder.path()).unwrap();
        assert_eq!(UnclassifiedList::read(folder.path()).unwrap(), seen.list());
        seen.note("POST", "https://a.test/later");
        seen.list().write(folder.path()).unwrap();
        assert_eq!(UnclassifiedList::read(folder.path()).unwrap().requests.len(), 2);
    }
}
