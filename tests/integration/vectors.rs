//! Conformance vectors: each lays out a small repository, usually with a run directory, runs the binary in it step by step,
//! and says what must follow.
//!
//! A vector is `{name, why, files: {path: text}, files_b64: {path: base64}, steps}`. In texts and arguments `@DIR@` is the
//! repository. A step is one of
//!
//! - `{argv, exit, ...}`: runs the binary. `exit` is a code or a list of codes. Further keys: `report_has` and
//!   `stdout_json` (`{dotted path: value}`, with `len`, `keys`, `first`, and `len<=`), `codes` and `codes_within` (the
//!   gate's refusals), `warnings` (its warnings of rule 5), `stdout_empty`, `stderr_lines_start` (each prefix begins a
//!   line of its own), `stderr_no_other` (no further line matches), `stdout_contains` and `stdout_lacks` (texts, or texts by
//!   dotted path; likewise for stderr), `file_json` (`{path or glob: facts}`), `file_same` (files that stay as they are),
//!   `file_absent` (globs that find nothing), `learn` (a ledger that takes over the hash which `skipped <id>: ...` names
//!   beside its own), `what` (a name for messages). A word of `argv` with `**` is a glob for one file
//! - `{patch_report: {pointer: value}, after: {path: text or null}}`: edits report.json, then writes or removes files
//! - `{move: [from, to]}`
//!
//! A key that is not known here fails the vector: nothing is skipped.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::run_dir::patch;
use crate::support::{qa_pilot, told};

type Faults = Vec<String>;

#[test]
fn all_vectors_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut files: Vec<PathBuf> =
        fs_err::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 100, "the vectors are not there");
    let mut failed = Vec::new();
    for file in files {
        let vector: Value = serde_json::from_slice(&fs_err::read(&file).unwrap()).unwrap();
        for fault in Vector::new(&vector).run() {
            failed.push(format!("{} ({}): {fault}", text(&vector["name"]), text(&vector["why"])));
        }
    }
    assert!(failed.is_empty(), "{} fault(s)\n{}", failed.len(), failed.join("\n"));
}

struct Vector<'a> {
    vector: &'a Value,
    root: tempfile::TempDir,
}

impl<'a> Vector<'a> {
    fn new(vector: &'a Value) -> Self {
        let made = Self { vector, root: tempfile::tempdir().unwrap() };
        for (path, content) in object(&vector["files"]) {
            made.write(path, text(content).as_bytes());
        }
        for (path, content) in object(&vector["files_b64"]) {
            made.write_bytes(path, &STANDARD.decode(text(content)).unwrap());
        }
        made
    }

    fn run(&self) -> Faults {
        let mut faults = Vec::new();
        for step in self.vector["steps"].as_array().unwrap() {
            let step = object(step);
            if step.contains_key("patch_report") {
                self.patch(step);
            } else if let Some(pair) = step.get("move") {
                let target = self.path(text(&pair[1]));
                fs_err::create_dir_all(target.parent().unwrap()).unwrap();
                fs_err::rename(self.path(text(&pair[0])), target).unwrap();
            } else {
                faults.extend(self.command(step));
            }
        }
        faults
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    /// The directory that holds meta.json.
    fn run_dir(&self) -> PathBuf {
        let meta = object(&self.vector["files"]).keys().find_map(|path| path.strip_suffix("/meta.json"));
        self.path(meta.unwrap_or("run"))
    }

    fn expand(&self, text: &str) -> String {
        text.replace("@DIR@", &self.root.path().to_string_lossy())
    }

    fn write(&self, path: &str, content: &[u8]) {
        self.write_bytes(path, self.expand(std::str::from_utf8(content).unwrap()).as_bytes());
    }

    fn write_bytes(&self, path: &str, content: &[u8]) {
        let path = self.path(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
    }

    fn patch(&self, step: &Map<String, Value>) {
        known(step, &["patch_report", "after"]);
        let edits = object(&step["patch_report"]);
        if !edits.is_empty() {
            let report = self.run_dir().join("report.json");
            let mut document: Value = serde_json::from_slice(&fs_err::read(&report).unwrap()).unwrap();
            edits.iter().for_each(|(pointer, value)| patch(&mut document, pointer, value));
            fs_err::write(&report, document.to_string()).unwrap();
        }
        for (path, content) in object(&step["after"]) {
            match content.as_str() {
                Some(content) => self.write(path, content.as_bytes()),
                None => fs_err::remove_file(self.path(path)).unwrap(),
            }
        }
    }

    fn command(&self, step: &Map<String, Value>) -> Faults {
        known(
            step,
            &[
                "argv",
                "exit",
                "report_has",
                "codes",
                "codes_within",
                "warnings",
                "what",
                "stdout_empty",
                "stdout_json",
                "stderr_lines_start",
                "stderr_no_other",
                "stdout_contains",
                "stdout_lacks",
                "stderr_contains",
                "stderr_lacks",
                "file_json",
                "file_same",
                "file_absent",
                "learn",
            ],
        );
        let argv: Vec<String> =
            step["argv"].as_array().unwrap().iter().map(|word| self.word(text(word))).collect();
        let kept: Vec<(&str, Option<Vec<u8>>)> =
            names(step, "file_same").map(|path| (path, fs_err::read(self.path(path)).ok())).collect();
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        let output = qa_pilot(self.root.path(), &words).output().unwrap();
        let what = step.get("what").map_or(words[0], text);
        let code = output.status.code();
        let wanted = match &step["exit"] {
            Value::Array(codes) => codes.clone(),
            code => vec![code.clone()],
        };
        if !wanted.iter().any(|wanted| wanted.as_i64() == code.map(i64::from)) {
            return vec![format!("{what}: wanted {wanted:?}: {}", told(&output))];
        }
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let mut faults = Vec::new();
        if step.get("stdout_empty") == Some(&Value::Bool(true)) && !stdout.is_empty() {
            faults.push(format!("stdout is not empty: {stdout}"));
        }
        if let Some(wants) = step.get("stdout_json") {
            match serde_json::from_str(&stdout) {
                Ok(document) => facts("stdout", &document, wants, &mut faults),
                Err(error) => faults.push(format!("stdout is no JSON: {error}: {stdout}")),
            }
        }
        if let Some(wants) = step.get("report_has") {
            let report = fs_err::read(self.run_dir().join("report.json")).unwrap();
            facts("report.json", &serde_json::from_slice(&report).unwrap(), wants, &mut faults);
        }
        lines(step, &stderr, &mut faults);
        self.texts(step, "stdout", &stdout, &mut faults);
        self.texts(step, "stderr", &stderr, &mut faults);
        self.files(step, &kept, &mut faults);
        if let Some(ledger) = step.get("learn") {
            self.learn(text(ledger), &stderr, &mut faults);
        }
        if words[0] == "gate" && step.keys().any(|key| key.starts_with("codes") || key == "warnings") {
            decision(step, &stdout, &mut faults);
        }
        faults.into_iter().map(|fault| format!("{what}: {fault}")).collect()
    }

    /// A word of the command; one with `**` is the file that it finds.
    fn word(&self, word: &str) -> String {
        if !word.contains("**") {
            return self.expand(word);
        }
        let pattern = word.strip_prefix("@DIR@/").unwrap_or(word);
        self.find(pattern)
            .first()
            .unwrap_or_else(|| panic!("{word} finds nothing"))
            .to_string_lossy()
            .into_owned()
    }

    /// The files that a glob with `**` and `*` finds.
    fn find(&self, pattern: &str) -> Vec<PathBuf> {
        let escaped = regex::escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*");
        let regex = regex::Regex::new(&format!("^{escaped}$")).unwrap();
        walkdir::WalkDir::new(self.root.path())
            .into_iter()
            .map(|entry| entry.unwrap().into_path())
            .filter(|path| path.is_file())
            .filter(|path| regex.is_match(&path.strip_prefix(self.root.path()).unwrap().to_string_lossy()))
            .collect()
    }

    fn texts(&self, step: &Map<String, Value>, stream: &str, output: &str, faults: &mut Faults) {
        for (kind, wanted) in [("contains", true), ("lacks", false)] {
            let by_path = match step.get(&format!("{stream}_{kind}")) {
                None => continue,
                Some(Value::Object(by_path)) => by_path.clone(),
                Some(words) => Map::from_iter([(String::new(), words.clone())]),
            };
            for (path, words) in by_path {
                let found = if path.is_empty() {
                    Some(output.to_owned())
                } else {
                    let document: Value = serde_json::from_str(output).unwrap_or_default();
                    lookup(&document, &path).map(|value| text(&value).to_owned())
                };
                let Some(found) = found else {
                    faults.push(format!("{stream} {path}: nothing"));
                    continue;
                };
                for word in words.as_array().unwrap().iter().map(|word| self.expand(text(word))) {
                    if found.contains(&word) != wanted {
                        faults.push(format!("{stream} {path} {kind} {word:?} does not hold: {found}"));
                    }
                }
            }
        }
    }

    fn files(&self, step: &Map<String, Value>, kept: &[(&str, Option<Vec<u8>>)], faults: &mut Faults) {
        for (path, before) in kept {
            if fs_err::read(self.path(path)).ok() != *before {
                faults.push(format!("{path} was changed"));
            }
        }
        for pattern in names(step, "file_absent") {
            faults.extend(self.find(pattern).iter().map(|path| format!("{} was written", path.display())));
        }
        for (pattern, wants) in step.get("file_json").map(object).into_iter().flatten() {
            match self.find(pattern).as_slice() {
                [file] => match serde_json::from_slice(&fs_err::read(file).unwrap()) {
                    Ok(document) => facts(pattern, &document, wants, faults),
                    Err(error) => faults.push(format!("{pattern} is no JSON: {error}")),
                },
                found => faults.push(format!("{pattern} finds {} files", found.len())),
            }
        }
    }

    fn learn(&self, ledger: &str, stderr: &str, faults: &mut Faults) {
        let path = self.path(ledger);
        let mut known: Value = serde_json::from_slice(&fs_err::read(&path).unwrap()).unwrap();
        let hash = regex::Regex::new(r"\b[0-9a-f]{16,64}\b").unwrap();
        for (id, own) in known.as_object_mut().unwrap() {
            let line = stderr.lines().find(|line| line.starts_with(&format!("skipped {id}: "))).unwrap_or("");
            let others: Vec<&str> = hash
                .find_iter(line)
                .map(|found| found.as_str())
                .filter(|found| *found != text(own))
                .collect();
            match others.as_slice() {
                [other] => *own = (*other).into(),
                _ => faults.push(format!("the skip line of {id} does not name both hashes: {line:?}")),
            }
        }
        fs_err::write(path, known.to_string()).unwrap();
    }
}

/// A list of names in a step; empty when it has none.
fn names<'a>(step: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = &'a str> {
    step.get(key).map(|list| list.as_array().unwrap().as_slice()).unwrap_or_default().iter().map(text)
}

/// What `gate --format json` printed, against what must follow.
fn decision(step: &Map<String, Value>, stdout: &str, faults: &mut Faults) {
    let Ok(document) = serde_json::from_str::<Value>(stdout) else {
        faults.push(format!("the gate printed no JSON: {stdout}"));
        return;
    };
    let codes = |key: &str| -> BTreeSet<String> {
        document[key].as_array().unwrap().iter().map(|finding| text(&finding["code"]).to_owned()).collect()
    };
    let strings = |value: &Value| -> BTreeSet<String> {
        value.as_array().unwrap().iter().map(|word| text(word).to_owned()).collect()
    };
    let refusals = codes("refusals");
    if let Some(wanted) = step.get("codes")
        && refusals != strings(wanted)
    {
        faults.push(format!("refusals {refusals:?}, wanted {wanted}: {}", document["refusals"]));
    }
    if let Some(wanted) = step.get("codes_within")
        && (refusals.is_empty() || !refusals.is_subset(&strings(wanted)))
    {
        faults.push(format!("refusals {refusals:?}, wanted some of {wanted}"));
    }
    if let Some(wanted) = step.get("warnings") {
        let found: BTreeSet<String> = codes("warnings").into_iter().filter(|code| code == "rule 5").collect();
        if found != strings(wanted) {
            faults.push(format!("warnings {found:?}, wanted {wanted}"));
        }
    }
    if document["publishable"].as_bool() != Some(step["exit"] == 0) {
        faults.push("publishable disagrees with the exit code".to_owned());
    }
}

/// Each prefix begins a line of its own, the longest taken first; what is left matches nothing that is not wanted.
fn lines(step: &Map<String, Value>, stderr: &str, faults: &mut Faults) {
    let mut left: Vec<&str> = stderr.lines().collect();
    let mut prefixes: Vec<&str> = step
        .get("stderr_lines_start")
        .map(|list| list.as_array().unwrap().iter().map(text).collect())
        .unwrap_or_default();
    prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
    for prefix in prefixes {
        match left.iter().position(|line| line.starts_with(prefix)) {
            Some(at) => {
                left.remove(at);
            }
            None => faults.push(format!("no line (left) on stderr starts with {prefix:?}: {stderr}")),
        }
    }
    if let Some(pattern) = step.get("stderr_no_other") {
        let pattern = regex::Regex::new(&format!("^(?:{})", text(pattern))).unwrap();
        faults.extend(
            left.iter().filter(|line| pattern.is_match(line)).map(|line| format!("unexpected line {line:?}")),
        );
    }
}

fn facts(place: &str, document: &Value, wants: &Value, faults: &mut Faults) {
    for (path, wanted) in object(wants) {
        let (path, is_limit) = match path.strip_suffix("<=") {
            Some(path) => (path, true),
            None => (path.as_str(), false),
        };
        let found = lookup(document, path);
        let holds = match (&found, is_limit) {
            (Some(found), true) => found.as_u64() <= wanted.as_u64(),
            (Some(found), false) => found == wanted,
            (None, _) => false,
        };
        if !holds {
            faults.push(format!("{place} {path} is {found:?}, wanted {wanted}"));
        }
    }
}

fn lookup(document: &Value, path: &str) -> Option<Value> {
    let mut at = document.clone();
    for key in path.split('.').filter(|key| !key.is_empty()) {
        at = match (key, &at) {
            ("len", Value::Array(list)) => list.len().into(),
            ("len", Value::Object(object)) => object.len().into(),
            ("len", Value::String(text)) => text.chars().count().into(),
            ("keys", Value::Object(object)) => {
                object.keys().collect::<BTreeSet<_>>().into_iter().cloned().collect()
            }
            ("first", Value::Object(object)) => object.keys().next()?.clone().into(),
            (index, Value::Array(list)) => list.get(index.parse::<usize>().ok()?)?.clone(),
            (key, other) => other.get(key)?.clone(),
        };
    }
    Some(at)
}

fn known(step: &Map<String, Value>, keys: &[&str]) {
    for key in step.keys() {
        assert!(keys.contains(&key.as_str()), "a step has the unknown key {key}");
    }
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
