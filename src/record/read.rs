//! The one reader of writes.json, for the report and for the gate.
//!
//! A record speaks for its attempt only when it is sound: it parses, is an object, and counts as many blocked and observed
//! events as it lists. An unsound one is kept with what it says, and never counts as installed.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::format::{AttemptInfo, Event, VERSION};
use crate::files::{self, FileId, RECORD_CAP, Root};
use crate::json;
use crate::model::Digest;

/// What a record says, without its events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Whether the page guard reported in.
    pub installed: bool,
    /// What was enforced, as written.
    pub policy: Option<String>,
    /// The scoped-write prefix.
    pub prefix: Option<String>,
    /// How many write signatures the guard compiled.
    pub write_signatures: u64,
    /// Judged requests.
    pub routed_requests: u64,
    /// Events with action block.
    pub blocked: u64,
    /// Events with action observe.
    pub observed: u64,
    /// Navigations, where the guard counts them.
    pub documents: Option<u64>,
    /// Origins of guarded documents, where the guard records them.
    pub origins: Option<Vec<String>>,
    /// The version of the format, which our own guard states.
    pub version: Option<u64>,
    /// Whose record it is, where the guard says.
    pub attempt: Option<AttemptInfo>,
    /// The digest of the signatures, as written, where the guard records one.
    pub signatures_sha256: Option<String>,
    /// The first event that blocked, else the first at all, in words: what was done, to what, and why.
    pub first_event: Option<String>,
}

/// A record file as it was read, once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The digest of the bytes that were read; none when there are none.
    pub digest: Option<Digest>,
    /// What it says, as far as it can be told.
    pub record: Option<Record>,
    /// Why it does not speak for its attempt.
    pub fault: Option<String>,
    /// Which file it is, whatever its names; none when there is none.
    pub file: Option<FileId>,
}

impl Reading {
    /// The record, if it is sound.
    pub fn sound(&self) -> Option<&Record> {
        self.record.as_ref().filter(|_| self.fault.is_none())
    }

    /// Whether the guard was in a page and the record can be believed.
    pub fn is_installed(&self) -> bool {
        self.sound().is_some_and(|record| record.installed)
    }

    fn unreadable(fault: String) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }
}

/// The records of a run directory, each file read at most once, so that what is judged is what was hashed.
#[derive(Clone, Debug)]
pub struct Records {
    root: Root,
    read: BTreeMap<String, Reading>,
}

impl Records {
    /// The records below `run_dir`; none is read yet.
    pub fn new(run_dir: &Path) -> Self {
        Self { root: Root::new(run_dir), read: BTreeMap::new() }
    }

    /// Reads the record at a path relative to the run directory, unless that was done before. A path that leaves the
    /// directory, by its text or by a link, is not followed.
    pub fn load(&mut self, path: &str) -> &Reading {
        let root = &self.root;
        self.read.entry(path.to_owned()).or_insert_with(|| read(root, path))
    }

    /// The record at `path`, if it was read.
    pub fn get(&self, path: &str) -> Option<&Reading> {
        self.read.get(path)
    }
}

fn read(root: &Root, path: &str) -> Reading {
    let read = root
        .resolve(path)
        .and_then(|found| files::read_capped(&found, RECORD_CAP).map(|bytes| (bytes, found)));
    match read {
        Ok((bytes, found)) => Reading { file: files::identity(&found).ok(), ..parse(&bytes) },
        Err(error) => Reading::unreadable(error.to_string()),
    }
}

/// Reads the bytes of a record.
pub fn parse(bytes: &[u8]) -> Reading {
    let digest = Some(Digest::of(bytes));
    let object = match json::parse(Path::new("the record"), bytes) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return Reading { digest, ..Reading::unreadable("is no object".to_owned()) },
        Err(error) => return Reading { digest, ..Reading::unreadable(error.to_string()) },
    };
    let mut faults = Vec::new();
    let version = object.get("version").and_then(Value::as_u64);
    let record = Record {
        version,
        installed: object.get("installed") == Some(&Value::Bool(true)),
        policy: text(&object, "policy"),
        prefix: text(&object, "prefix"),
        write_signatures: count(&object, "write_signatures", &mut faults),
        routed_requests: count(&object, "routed_requests", &mut faults),
        blocked: count(&object, "blocked", &mut faults),
        observed: count(&object, "observed", &mut faults),
        documents: object.get("documents").map(|_| count(&object, "documents", &mut faults)),
        origins: origins(&object, &mut faults),
        attempt: attempt(&object, &mut faults),
        signatures_sha256: text(&object, "signatures_sha256"),
        first_event: first_event(&object),
    };
    // Our own guard always writes these; without them a record would be judged by less.
    if object.contains_key("version") {
        if version != Some(VERSION) {
            faults.push(format!("is of another version of the format than {VERSION}"));
        }
        for key in ["attempt", "signatures_sha256", "origins"] {
            if object.get(key).is_none_or(Value::is_null) {
                faults.push(format!("states a version and lacks {key}"));
            }
        }
    }
    match object.get("events").and_then(Value::as_array) {
        None => faults.push("lists no events".to_owned()),
        Some(events) => {
            if let Some(error) = events.iter().find_map(|event| Event::deserialize(event).err()) {
                faults.push(format!("lists an event that is none: {error}"));
            }
            for (action, stated) in [("block", record.blocked), ("observe", record.observed)] {
                let listed =
                    events.iter().filter(|event| event.get("action").and_then(Value::as_str) == Some(action));
                let listed = listed.count() as u64;
                if listed != stated {
                    faults.push(format!("counts {stated} and lists {listed} event(s) with action {action}"));
                }
            }
        }
    }
    let fault = (!faults.is_empty()).then(|| faults.join("; "));
    Reading { digest, record: Some(record), fault, file: None }
}

fn first_event(object: &Map<String, Value>) -> Option<String> {
    let events = object.get("events")?.as_array()?;
    let blocked = |event: &&Value| event.get("action").and_then(Value::as_str) == Some("block");
    let event = events.iter().find(blocked).or(events.first())?;
    let of = |key: &str| event.get(key).and_then(Value::as_str);
    let what = match (of("method"), of("url"), of("label")) {
        (Some(method), Some(url), _) => format!("{method} {url}"),
        (_, _, label) => format!("the control {:?}", label?),
    };
    Some(format!("{} {what} ({})", of("action")?, of("reason")?))
}

fn text(object: &Map<String, Value>, key: &str) -> Option<String> {
    object.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// A count; absent or null is 0, anything else that is no count is a fault.
fn count(object: &Map<String, Value>, key: &str, faults: &mut Vec<String>) -> u64 {
    match object.get(key) {
        None | Some(Value::Null) => 0,
        Some(value) => value.as_u64().unwrap_or_else(|| {
            faults.push(format!("{key} is no count"));
            0
        }),
    }
}

fn origins(object: &Map<String, Value>, faults: &mut Vec<String>) -> Option<Vec<String>> {
    let value = object.get("origins").filter(|value| !value.is_null())?;
    let list: Option<Vec<String>> =
        value.as_array().and_then(|list| list.iter().map(|item| item.as_str().map(str::to_owned)).collect());
    if list.is_none() {
        faults.push("origins is no list of texts".to_owned());
    }
    list
}

fn attempt(object: &Map<String, Value>, faults: &mut Vec<String>) -> Option<AttemptInfo> {
    let value = object.get("attempt").filter(|value| !value.is_null())?;
    match serde_json::from_value(value.clone()) {
        Ok(attempt) => Some(attempt),
        Err(error) => {
            faults.push(format!("attempt: {error}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = r#"{"installed":true,"policy":"read-only","prefix":null,"scope_urls":[],"write_signatures":2,
        "routed_requests":3,"blocked":1,"observed":0,"events":[{"action":"block","kind":"request","reason":"r","method":"POST","url":"u","at":"t"}]}"#;

    #[test]
    fn a_sound_record_speaks() {
        let reading = parse(SOUND.as_bytes());
        assert!(reading.is_installed());
        let record = reading.sound().unwrap();
        assert_eq!((record.write_signatures, record.routed_requests, record.blocked), (2, 3, 1));
        assert_eq!((record.documents, &record.origins), (None, &None));
    }

    #[test]
    fn the_first_event_in_words() {
        let first = |events: &str| {
            parse(format!(r#"{{"events":[{events}]}}"#).as_bytes()).record.unwrap().first_event
        };
        let passed = r#"{"action":"observe","method":"POST","url":"https://a.test/x","reason":"POST /x"}"#;
        let control = r#"{"action":"block","label":"Pay\nnow","reason":"pay"}"#;
        assert_eq!(first(passed).unwrap(), "observe POST https://a.test/x (POST /x)");
        assert_eq!(first(&format!("{passed},{control}")).unwrap(), r#"block the control "Pay\nnow" (pay)"#);
        for odd in ["", "7", "{}", r#"{"action":"block","reason":"x"}"#] {
            assert_eq!(first(odd), None, "{odd}");
        }
    }

    #[test]
    fn an_unsound_record_never_counts_as_installed() {
        for (from, to) in [
            (r#""blocked":1"#, r#""blocked":0"#),
            (r#""blocked":1"#, r#""blocked":"1""#),
            (r#""observed":0"#, r#""observed":1"#),
            (r#""routed_requests":3"#, r#""routed_requests":-3"#),
            (r#""events":["#, r#""events":null,"was":["#),
            (r#""prefix":null"#, r#""prefix":null,"attempt":{"retry":"0"}"#),
            (r#""prefix":null"#, r#""prefix":null,"origins":[1]"#),
            (r#""prefix":null"#, r#""prefix":null,"version":1"#),
            (
                r#""at":"t"}"#,
                r#""at":"t"},{"kind":"request","action":"Block","reason":"r","method":"POST","url":"u","at":"t"}"#,
            ),
            (r#""at":"t"}"#, r#""at":"t"},null"#),
            (r#""at":"t"}"#, r#""at":"t"},{}"#),
            (r#","at":"t""#, ""),
            (r#""url":"u""#, r#""url":7"#),
            (r#""kind":"request""#, r#""kind":"control""#),
            (
                r#""prefix":null"#,
                r#""prefix":null,"version":2,"attempt":{"retry":0},"signatures_sha256":"x","origins":[]"#,
            ),
        ] {
            let reading = parse(SOUND.replace(from, to).as_bytes());
            assert!(!reading.is_installed() && reading.sound().is_none(), "{to}");
            assert!(reading.record.is_some() && reading.fault.is_some(), "{to}");
        }
        for bytes in ["", "{", "[]", "null", "7", r#"{"blocked":1,"blocked":0,"observed":0,"events":[]}"#] {
            let reading = parse(bytes.as_bytes());
            assert!(reading.record.is_none() && reading.fault.is_some() && reading.digest.is_some());
        }
    }

    #[test]
    fn installed_is_the_word_true_and_nothing_like_it() {
        for like in ["1", "\"true\"", "null", "false"] {
            let text = SOUND.replace(r#""installed":true"#, &format!(r#""installed":{like}"#));
            assert!(!parse(text.as_bytes()).is_installed(), "{like}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_run_directory_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        files::write_atomic(&run.join("here.json"), SOUND.as_bytes()).unwrap();
        files::write_atomic(&folder.path().join("there.json"), SOUND.as_bytes()).unwrap();
        fs_err::os::unix::fs::symlink(folder.path().join("there.json"), run.join("link.json")).unwrap();
        let mut records = Records::new(&run);
        assert!(records.load("here.json").is_installed());
        assert!(!records.load("link.json").is_installed());
        assert!(!records.load("../there.json").is_installed());
        assert!(records.get("gone.json").is_none());
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            parse(&bytes);
        }

        #[test]
        fn no_object_panics(key in "(installed|policy|blocked|events|attempt|origins|documents)", value in r#"[\[\]{}"0-9a-z:,\-.]{0,30}"#) {
            parse(format!(r#"{{"{key}":{value}}}"#).as_bytes());
        }
    }
}
