//! `qa-pilot report` over real Playwright reports: `tests/playwright-reports/README.md` says what each shows.
//!
//! Their titles carry no case ids, so each distinct title is given one (`REAL-CASE-001` and so on, in the order of the file).
//! Whole reports are snapshots; the facts that a careless parser turns green are asserted one by one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::run_dir::RUN_ID;
use crate::support::{qa_pilot, told};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/playwright-reports").join(name)
}

/// A run directory with one report in it.
struct Run {
    root: tempfile::TempDir,
}

impl Run {
    fn dir(&self) -> PathBuf {
        self.root.path().join(RUN_ID)
    }

    /// A real report, as if it had been made in this run directory.
    fn real(name: &str) -> Self {
        let run = Self { root: tempfile::tempdir().unwrap() };
        let text = fs_err::read_to_string(source(name)).unwrap();
        let text = text.replace("/srv/shop", &run.dir().to_string_lossy());
        let mut results: Value = serde_json::from_str(&text).unwrap();
        let mut ids = BTreeMap::new();
        for suite in results["suites"].as_array_mut().unwrap() {
            name_titles(suite, &mut ids);
        }
        run.write("results.json", &results.to_string());
        run.write("meta.json", &json!({ "run_id": RUN_ID, "run_kind": "verdict" }).to_string());
        run
    }

    fn of(results: &str) -> Self {
        let run = Self { root: tempfile::tempdir().unwrap() };
        run.write("results.json", results);
        run.write("meta.json", &json!({ "run_id": RUN_ID }).to_string());
        run
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.dir().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn report(&self) -> Value {
        let output = qa_pilot(&self.dir(), &["report", "results.json", "meta.json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        serde_json::from_slice(&fs_err::read(self.dir().join("report.json")).unwrap()).unwrap()
    }
}

fn name_titles(suite: &mut Value, ids: &mut BTreeMap<String, usize>) {
    for spec in suite["specs"].as_array_mut().into_iter().flatten() {
        let title = spec["title"].as_str().unwrap().to_owned();
        let next = ids.len() + 1;
        let number = *ids.entry(title.clone()).or_insert(next);
        spec["title"] = format!("REAL-CASE-{number:03} {title}").into();
    }
    for nested in suite.get_mut("suites").and_then(Value::as_array_mut).into_iter().flatten() {
        name_titles(nested, ids);
    }
}

/// Verdicts in the order of the ids.
fn verdicts(name: &str) -> Vec<String> {
    let report = Run::real(name).report();
    report["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["verdict"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_real_report_is_derived_as_it_was() {
    let mut names: Vec<String> = fs_err::read_dir(source(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| name.ends_with(".json"));
    names.sort();
    assert_eq!(names.len(), 19);
    for name in names {
        let report = Run::real(&name).report();
        insta::assert_snapshot!(
            name.trim_end_matches(".json"),
            serde_json::to_string_pretty(&report).unwrap()
        );
    }
}

#[test]
fn outcomes_are_those_of_the_attempts() {
    // passes, fails, flaky, timed out, expected failure that fails, expected failure that passes, fixme, skip, skip at
    // run time, soft failures, thrown non-error, in two projects
    let with_retries = [
        "pass", "fail", "flaky", "fail", "fail", "pass", "blocked", "blocked", "blocked", "fail", "fail",
        "pass",
    ];
    assert_eq!(verdicts("outcomes.json"), with_retries);
    let mut without = with_retries;
    without[2] = "fail";
    assert_eq!(verdicts("outcomes-no-retries.json"), without);
}

#[test]
fn what_did_not_run_is_blocked_though_playwright_calls_it_ok() {
    assert!(verdicts("list-only.json").iter().all(|verdict| verdict == "blocked"));
    assert_eq!(verdicts("interrupted.json"), ["pass", "blocked", "blocked"]);
    let stopped = verdicts("max-failures.json");
    assert_eq!(stopped[..4], ["pass", "fail", "flaky", "blocked"]);
    assert!(stopped[4..].iter().all(|verdict| verdict == "blocked"));
    assert_eq!(verdicts("worker-crash.json"), ["fail"]);
}

#[test]
fn errors_outside_tests_are_kept() {
    for name in [
        "global-setup-error",
        "global-teardown-error",
        "spec-load-error",
        "duplicate-title-error",
        "no-tests-found",
        "max-failures",
    ] {
        let report = Run::real(&format!("{name}.json")).report();
        let errors = report["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 1, "{name}");
        assert!(!errors[0].as_str().unwrap().contains('\u{1b}'), "{name}");
    }
}

#[test]
fn serial_followers_and_victims_of_hooks_are_seen() {
    let report = Run::real("structure.json").report();
    let of = |title: &str| {
        let results: Value =
            serde_json::from_slice(&fs_err::read(source("structure.json")).unwrap()).unwrap();
        assert!(results.to_string().contains(title));
        report["cases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|case| case["verdict"].as_str().unwrap())
            .collect::<Vec<_>>()
    };
    // Eight titles, one of them in two describes: one entry.
    assert_eq!(of("same title"), ["pass", "fail", "pass", "pass", "pass", "fail", "blocked", "fail"]);
}

#[test]
fn repetitions_and_projects_are_combined_and_invent_no_retry() {
    let report = Run::real("ids-projects-repeat-retry.json").report();
    let cases = report["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 1);
    assert_eq!(
        (&cases[0]["verdict"], &cases[0]["retries"]),
        (&json!("flaky"), &json!(4)),
        "four tests, one retry each"
    );
    let merged = Run::real("merged-shards.json").report();
    let both = merged["cases"].as_array().unwrap().iter().filter(|case| case["verdict"] == "pass").count();
    assert!(both > 0 && merged["playwright_version"] == "1.65.1");
}

#[test]
fn one_spec_in_three_projects_and_three_specs_in_one_project_each_are_the_same_run() {
    let entry = |project: &str, status: &str| json!({ "projectName": project, "results": [{ "status": status, "retry": 0, "duration": 5 }] });
    let spec = |tests: Vec<Value>| json!({ "title": "A-B-001 x", "tests": tests });
    let file = |specs: Vec<Value>| json!({ "config": { "projects": [], "shard": null }, "suites": [{ "specs": specs }] });
    let entries = [entry("a", "passed"), entry("b", "failed"), entry("c", "skipped")];
    let together = file(vec![spec(entries.to_vec())]);
    let apart = file(entries.iter().map(|entry| spec(vec![entry.clone()])).collect());
    let report = Run::of(&together.to_string()).report();
    assert_eq!(report, Run::of(&apart.to_string()).report());
    assert_eq!(
        (&report["cases"][0]["verdict"], &report["cases"][0]["duration_ms"]),
        (&json!("fail"), &json!(15))
    );
}

#[test]
fn titles_cannot_draw_on_the_terminal() {
    let run = Run::of(&json!({ "suites": [{ "specs": [{ "title": "a\n\u{1b}[2Jb" }] }] }).to_string());
    let output = qa_pilot(&run.dir(), &["report", "results.json", "meta.json"]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.lines().count() == 1 && !stderr.contains('\u{1b}'), "{stderr:?}");
}

#[test]
fn a_teardown_that_throws_fails_its_test() {
    let verdicts = verdicts("fixture-teardown-attachments.json");
    assert_eq!(verdicts, ["pass", "fail", "fail", "fail"]);
}

#[test]
fn attachments_give_run_relative_paths_or_none() {
    let report = Run::real("attachments.json").report();
    for case in report["cases"].as_array().unwrap() {
        assert!(case["trace"].is_null() && case["writes"].is_null());
    }
    let attempt = |attachments: Value| json!({ "status": "passed", "attachments": attachments });
    let results = json!({ "suites": [{ "specs": [{ "title": "A-B-001", "tests": [{ "results": [
        attempt(json!([{ "name": "trace", "path": "/old/home/20261130T101500Z-checkout-3f2a91c/t/trace.zip" }, { "name": "console", "body": "" }])),
        attempt(json!([{ "name": "trace", "path": "" }, { "name": "trace", "body": "eA==" }, { "name": "video", "path": "C:\\x\\20261130T101500Z-checkout-3f2a91c\\v.webm" }])),
    ] }] }] }] });
    let report = Run::of(&results.to_string()).report();
    let case = &report["cases"][0];
    assert_eq!(case["trace"], "t/trace.zip", "of the last attempt that has one");
    assert_eq!(case["video"], "v.webm");
    assert_eq!(case["console_log"], "inline:console");
    assert_eq!(case["retries"], 1);
}

#[test]
fn suites_nested_ten_thousand_deep_are_read() {
    let depth = 10_000;
    let spec = r#"{"specs":[{"title":"A-B-001 deep","tests":[{"results":[{"status":"passed"}]}]}]}"#;
    let json = format!(r#"{{"suites":[{}{spec}{}]}}"#, r#"{"suites":["#.repeat(depth), "]}".repeat(depth));
    assert_eq!(Run::of(&json).report()["summary"], json!({ "pass": 1, "fail": 0, "flaky": 0, "blocked": 0 }));
}

#[test]
fn keys_come_in_the_order_of_the_format() {
    let run = Run::real("outcomes.json");
    let meta = [
        "run_id",
        "run_kind",
        "feature",
        "app",
        "env_name",
        "env_url",
        "env_kind",
        "api_mode",
        "sha_before",
        "sha_after",
        "sha_source",
        "executor",
        "model_version",
        "browser",
    ];
    let meta: serde_json::Map<String, Value> =
        meta.into_iter().map(|key| (key.to_owned(), json!("x"))).collect();
    run.write("meta.json", &Value::from(meta).to_string());
    let report = run.report();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(
        keys(&report),
        "run_id run_kind feature app env_name env_kind env_url mutation_policy mutation_prefix api_mode commit_sha sha_before \
         sha_after sha_source sha_format evidence_capture sha_mismatch executor model_version playwright_version browser \
         started_at finished_at cases fixtures summary unmapped_specs errors"
    );
    assert_eq!(
        keys(&report["cases"][0]),
        "id verdict duration_ms assertions trace trace_sha256 writes video console_log failure_summary retries spec_sha"
    );
    assert_eq!(report["commit_sha"], "x");
    assert_eq!(report["started_at"], "2026-11-30T17:37:24.433Z", "Playwright knows when meta does not");
}

#[test]
fn spec_shas_come_from_the_run_directory_or_from_the_named_file() {
    let run = Run::real("interrupted.json");
    run.write("spec-shas.json", r#"{"REAL-CASE-001":"aaaa"}"#);
    let report = run.report();
    assert_eq!(
        (&report["cases"][0]["spec_sha"], &report["cases"][1]["spec_sha"]),
        (&json!("aaaa"), &Value::Null)
    );
    run.write("other.json", r#"{"REAL-CASE-002":"bbbb"}"#);
    let arguments = ["report", "results.json", "meta.json", "--spec-shas", "other.json", "-o", "out/r.json"];
    assert!(qa_pilot(&run.dir(), &arguments).output().unwrap().status.success());
    let report: Value = serde_json::from_slice(&fs_err::read(run.dir().join("out/r.json")).unwrap()).unwrap();
    assert_eq!(
        (&report["cases"][0]["spec_sha"], &report["cases"][1]["spec_sha"]),
        (&Value::Null, &json!("bbbb"))
    );
}

#[test]
fn inputs_that_cannot_be_used_are_exit_2_and_outputs_exit_1() {
    let code = |run: &Run, more: &[&str]| {
        let mut arguments = vec!["report", "results.json", "meta.json"];
        arguments.extend(more);
        let output = qa_pilot(&run.dir(), &arguments).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1, "{}", told(&output));
        assert!(output.stdout.is_empty() && !run.dir().join("report.json").exists());
        output.status.code()
    };
    for results in ["", "{", "[]", "null", r#"{"suites":{}}"#, r#"{"suites":[{"specs":[{"title":null}]}]}"#] {
        assert_eq!(code(&Run::of(results), &[]), Some(2), "{results}");
    }
    for (name, text) in [
        ("meta.json", "[]"),
        ("meta.json", r#"{"run_id":1}"#),
        ("spec-shas.json", "[]"),
        ("spec-shas.json", r#"{"A":1}"#),
    ] {
        let run = Run::of("{}");
        run.write(name, text);
        assert_eq!(code(&run, &[]), Some(2), "{name} {text}");
    }
    assert_eq!(code(&Run::of("{}"), &["--spec-shas", "gone.json"]), Some(2));
    let run = Run::of("{}");
    run.write("file", "");
    assert_eq!(code(&run, &["-o", "file/report.json"]), Some(1));
}

/// JSON near a report: the right keys with any values.
fn near_a_report() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![
            "passed",
            "failed",
            "A-B-001 x",
            "FIXTURE a",
            "trace",
            "writes.json",
            "../x",
            "/etc/passwd",
            "C:\\x",
            ""
        ])
        .prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "suites",
        "specs",
        "tests",
        "results",
        "attachments",
        "title",
        "status",
        "name",
        "path",
        "body",
        "error",
        "errors",
        "message",
        "value",
        "config",
        "shard",
        "stats",
        "retry",
        "duration",
        "projectName",
    ]);
    leaf.prop_recursive(10, 200, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|pairs| Value::Object(
                pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

proptest! {
    /// Whatever results.json, meta.json, a record and a trace hold: a report or an error, never a panic.
    #[test]
    fn no_input_panics(results in near_a_report(), meta in near_a_report(), record in near_a_report()) {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| fs_err::write(root.path().join(name), text).unwrap();
        let wrapped = json!({ "suites": [{ "specs": [{ "title": "A-B-001", "tests": [{ "results": [results.clone(), { "status": "passed",
            "attachments": [{ "name": "writes.json", "path": "w.json" }] }] }] }] }] });
        write("results.json", if results.is_object() { wrapped.to_string() } else { results.to_string() });
        write("meta.json", json!({ "run_id": "r", "feature": meta }).to_string());
        write("w.json", record.to_string());
        let _ = qa_pilot::report::write(&root.path().join("results.json"), &root.path().join("meta.json"), None, None);
        write("meta.json", "{}".to_owned());
        let _ = qa_pilot::report::write(&root.path().join("results.json"), &root.path().join("meta.json"), None, None);
    }
}
