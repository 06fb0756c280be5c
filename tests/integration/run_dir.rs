//! A clean, publishable run of a small feature, and the ways in which tests spoil it.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use qa_pilot::policy::MutationConfig;

use crate::support::qa_pilot;

pub const RUN_ID: &str = "20261130T101500Z-checkout-3f2a91c";
pub const RUN: &str = "testing/checkout/runs/20261130T101500Z-checkout-3f2a91c";
const BUILD: &str = "3f2a91c04be17d5566aa0f9b1c2d3e4f50617283";
/// Cases in the run: one more than ten, so that one may be blocked.
const CASES: usize = 11;

/// Sets the value at a pointer, appends it to a list (index = length), or takes it out (`"__remove__"`).
pub fn patch(document: &mut Value, pointer: &str, value: &Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let is_removal = value == "__remove__";
    match document.pointer_mut(parent).unwrap_or_else(|| panic!("nothing at {parent}")) {
        Value::Array(list) => {
            let index: usize = key.parse().unwrap();
            match (is_removal, index == list.len()) {
                (true, _) => drop(list.remove(index)),
                (false, true) => list.push(value.clone()),
                (false, false) => list[index] = value.clone(),
            }
        }
        Value::Object(object) if is_removal => drop(object.shift_remove(key).unwrap()),
        Value::Object(object) => drop(object.insert(key.to_owned(), value.clone())),
        other => panic!("{parent} is {other}"),
    }
}

/// A repository with one run: scoped-write on qa (evidence pinned), eleven passing cases, of which the first uses the
/// shared entity `order`, and that entity's set-up and teardown. Records are those of our own guard.
pub struct RunDir {
    root: tempfile::TempDir,
}

impl RunDir {
    pub fn new() -> Self {
        let made = Self { root: tempfile::tempdir().unwrap() };
        made.write_json("qa-pilot.config.yaml", &profile());
        made.write_json("testing/checkout/cases.yaml", &cases());
        let ids: Vec<String> = (1..=CASES).map(case_id).collect();
        let map =
            |value: &str| ids.iter().map(|id| (id.clone(), json!(value))).collect::<serde_json::Map<_, _>>();
        made.write_json("testing/checkout/map.json", &map("task").into());
        made.write_json(&format!("{RUN}/statuses.json"), &map("Approved").into());
        let hashes = ids.iter().enumerate().map(|(index, id)| (id.clone(), json!(format!("{index:016x}"))));
        made.write_json(&format!("{RUN}/spec-shas.json"), &hashes.collect::<serde_json::Map<_, _>>().into());
        made.write_json(&format!("{RUN}/meta.json"), &meta());
        let titles = ids
            .iter()
            .map(|id| format!("{id} pays"))
            .chain(["FIXTURE order".to_owned(), "FIXTURE order teardown".to_owned()]);
        let specs: Vec<Value> = titles.enumerate().map(|(index, title)| made.spec(index, &title)).collect();
        let results = json!({
            "config": { "version": "1.65.1", "shard": null },
            "suites": [{ "title": "checkout.spec.ts", "specs": specs, "suites": [] }],
            "errors": [],
            "stats": { "startTime": "2026-11-30T10:15:00.000Z" }
        });
        made.write_json(&format!("{RUN}/results.json"), &results);
        made
    }

    pub fn path(&self) -> &Path {
        self.root.path()
    }

    pub fn run_dir(&self) -> PathBuf {
        self.path().join(RUN)
    }

    pub fn read_json(&self, path: &str) -> Value {
        serde_json::from_slice(&fs_err::read(self.path().join(path)).unwrap()).unwrap()
    }

    pub fn write_json(&self, path: &str, value: &Value) {
        self.write(path, serde_json::to_string_pretty(value).unwrap().as_bytes());
    }

    pub fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, bytes).unwrap();
    }

    /// Applies edits, each on one file: `set` (pointers to values), `text`, `remove`, `link` (a symlink's target), `hard_link` (to another file), `copy`
    /// (from another file), `move` (to another place). `RUN/` is the run directory; `RECORD/n` means both files of the
    /// n-th test's record, the original and the attached copy; `RECORD/*` those of every test.
    pub fn edit(&self, edits: &Value) {
        for edit in edits.as_array().map(Vec::as_slice).unwrap_or_default() {
            let file = edit["file"].as_str().unwrap();
            let files = match file.strip_prefix("RECORD/") {
                Some("*") => (0..CASES + 2)
                    .map(|index| index.to_string())
                    .flat_map(|index| [original(&index), attached(&index)])
                    .map(|path| format!("{RUN}/{path}"))
                    .collect(),
                Some(index) => {
                    vec![format!("{RUN}/{}", original(index)), format!("{RUN}/{}", attached(index))]
                }
                None => vec![expand(file)],
            };
            for file in files {
                self.edit_one(&file, edit);
            }
        }
    }

    fn edit_one(&self, file: &str, edit: &Value) {
        let path = self.path().join(file);
        for (key, value) in edit.as_object().unwrap() {
            match key.as_str() {
                "file" => {}
                "set" => {
                    let mut document = self.read_json(file);
                    value
                        .as_object()
                        .unwrap()
                        .iter()
                        .for_each(|(pointer, value)| patch(&mut document, pointer, value));
                    self.write_json(file, &document);
                }
                "text" => self.write(file, value.as_str().unwrap().as_bytes()),
                "remove" => fs_err::remove_file(&path).unwrap(),
                "copy" => {
                    let from = fs_err::read(self.path().join(expand(value.as_str().unwrap()))).unwrap();
                    self.write(file, &from);
                }
                "move" => {
                    let target = self.path().join(expand(value.as_str().unwrap()));
                    fs_err::create_dir_all(target.parent().unwrap()).unwrap();
                    fs_err::rename(&path, target).unwrap();
                }
                #[cfg(unix)]
                "link" => {
                    let _ = fs_err::remove_file(&path);
                    fs_err::os::unix::fs::symlink(value.as_str().unwrap(), &path).unwrap();
                }
                "hard_link" => {
                    let _ = fs_err::remove_file(&path);
                    fs_err::hard_link(self.path().join(expand(value.as_str().unwrap())), &path).unwrap();
                }
                other => panic!("unknown edit {other}"),
            }
        }
    }

    pub fn report(&self) -> Output {
        let (results, meta) = (format!("{RUN}/results.json"), format!("{RUN}/meta.json"));
        qa_pilot(self.path(), &["report", &results, &meta]).output().unwrap()
    }

    /// Runs the gate with all its inputs but those in `without`, and with `more`.
    pub fn gate(&self, without: &[&str], more: &[&str]) -> Output {
        let (report, statuses) = (format!("{RUN}/report.json"), format!("{RUN}/statuses.json"));
        let all = [
            ("--profile", "qa-pilot.config.yaml"),
            ("--statuses", &statuses),
            ("--cases", "testing/checkout/cases.yaml"),
            ("--map", "testing/checkout/map.json"),
        ];
        let mut arguments = vec!["gate", &report];
        for (flag, value) in all.iter().filter(|(flag, _)| !without.contains(flag)) {
            arguments.extend([flag, value]);
        }
        arguments.extend(more);
        qa_pilot(self.path(), &arguments).output().unwrap()
    }

    /// One spec with one passing attempt, its files written.
    fn spec(&self, index: usize, title: &str) -> Value {
        let own = index.to_string();
        let absolute = |path: &str| self.run_dir().join(path).to_string_lossy().into_owned();
        self.write(&format!("{RUN}/{}", trace(&own)), format!("trace of {title}").as_bytes());
        let record = record(index, title);
        self.write_json(&format!("{RUN}/{}", original(&own)), &record);
        self.write_json(&format!("{RUN}/{}", attached(&own)), &record);
        json!({
            "title": title,
            "id": format!("id{index}"),
            "ok": true,
            "tests": [{
                "projectName": "chromium",
                "expectedStatus": "passed",
                "status": "expected",
                "results": [{
                    "status": "passed",
                    "retry": 0,
                    "duration": 1000 + index,
                    "errors": [],
                    "attachments": [
                        { "name": "trace", "contentType": "application/zip", "path": absolute(&trace(&own)) },
                        { "name": "writes.json", "contentType": "application/json", "path": absolute(&attached(&own)) }
                    ]
                }]
            }]
        })
    }
}

fn expand(path: &str) -> String {
    path.replace("RUN/", &format!("{RUN}/"))
}

pub fn case_id(number: usize) -> String {
    format!("CHECKOUT-ORDER-{number:03}")
}

fn trace(index: &str) -> String {
    format!("test-results/t{index}/trace.zip")
}

fn original(index: &str) -> String {
    format!("test-results/t{index}/writes.json")
}

fn attached(index: &str) -> String {
    format!("test-results/t{index}/attachments/writes-json-{index}.json")
}

fn mutation() -> Value {
    json!({ "write_signatures": [{ "method": "POST", "url": "/orders" }, { "method": "DELETE", "url": "/orders/" }] })
}

fn record(index: usize, title: &str) -> Value {
    json!({
        "installed": true,
        "policy": "scoped-write",
        "prefix": "QA_TEST_",
        "scope_urls": [],
        "write_signatures": 2,
        "routed_requests": 10 + index,
        "blocked": 0,
        "observed": 0,
        "events": [],
        "version": 1,
        "attempt": {
            "test_id": format!("id{index}"), "retry": 0, "interval": 1, "project": "chromium", "title": title,
            "file": "checkout.spec.ts", "line": index, "worker_index": 0, "status": "passed"
        },
        "signatures_sha256": MutationConfig::parse(&mutation()).unwrap().signatures_sha256(),
        "documents": 1,
        "origins": ["https://qa.shop.test"],
    })
}

fn meta() -> Value {
    json!({
        "run_id": RUN_ID, "run_kind": "verdict", "feature": "checkout", "app": "storefront", "env_name": "qa",
        "env_url": "https://qa.shop.test", "env_kind": "qa", "api_mode": "server", "sha_before": BUILD, "sha_after": BUILD,
        "sha_source": "https://qa.shop.test/version.json", "sha_format": "commit", "evidence_capture": "always",
        "mutation_policy": "scoped-write", "mutation_prefix": "QA_TEST_", "executor": "tester", "model_version": "model-a",
        "playwright_version": "1.65.1", "browser": "chromium", "started_at": "2026-11-30T10:15:00Z",
        "finished_at": "2026-11-30T10:16:00Z"
    })
}

fn cases() -> Value {
    let cases: Vec<Value> = (1..=CASES)
        .map(|number| {
            let mut case = json!({
                "id": case_id(number), "title": "Pays", "priority": "P1", "type": "happy", "steps": ["Press Pay"],
                "expected": ["The order number is shown"]
            });
            if number == 1 {
                case["fixture"] = json!("order");
            }
            case
        })
        .collect();
    let n_a = json!({ "n_a": "none" });
    json!({
        "feature": "checkout", "model_version": "model-a", "generated_at": "2026-11-28T09:00:00Z",
        "scenario_mix": { "happy": "covered", "negative": n_a, "boundary": n_a, "permission": n_a, "data-validation": n_a },
        "cases": cases,
        "mutation": { "policy": "scoped-write", "prefix": "QA_TEST_" },
        "fixtures": [{ "name": "order", "teardown": "delete" }]
    })
}

fn profile() -> Value {
    let environment = |kind: &str, host: &str| {
        json!({
            "kind": kind, "apps": { "storefront": format!("https://{host}") },
            "sha_source": { "url": format!("https://{host}/version.json"), "json_path": "commit" }
        })
    };
    let mut production = environment("production", "shop.test");
    production["test_account"] = json!("qa-runner@shop.test, own tenant, no admin rights");
    json!({
        "project": "shop",
        "apps": { "storefront": { "framework": "react", "spec_dir": "e2e/specs", "repo": "." } },
        "environments": {
            "qa": environment("qa", "qa.shop.test"),
            "staging": environment("staging", "staging.shop.test"),
            "prod": production
        },
        "auth": { "model": "role-accounts", "playwright_min": "1.51.0", "storage_state": { "indexed_db": true } },
        "assertions": { "network_events": "allowed", "style": "mixed" },
        "selectors": { "testid_attribute": "data-testid" },
        "models": { "generation_approved": ["model-a"] },
        "sandbox": { "mode": { "env_var": "VITE_API_MODE", "value": "mocks" } },
        "mutation": mutation(),
        "clickup": { "space": "QA" }
    })
}
