//! Every rule of the gate, by fixtures: `tests/gate/<rule>/` holds what each lets pass and what it refuses.
//!
//! A fixture is `{why, run, claim, without, codes, warnings}`: edits on a clean run before its report is written (`run`) and
//! after (`claim`), the gate's inputs that are left out, and the codes of refusals and warnings that must follow. Its name
//! begins with `pass`, `refuse` or `warn`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use qa_pilot::gate::rules;
use serde_json::Value;

use crate::run_dir::{RUN, RunDir};
use crate::support::{qa_pilot, told};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn names(folder: &Path) -> BTreeSet<String> {
    fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_clean_run_is_publishable() {
    let run = RunDir::new();
    assert_eq!(run.report().status.code(), Some(0));
    let output = run.gate(&[], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        stdout.starts_with("ok: 11 case(s) (11 pass, 0 fail, 0 flaky, 0 blocked) on qa at 3f2a91c"),
        "{stdout}"
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn the_table_the_files_and_the_fixtures_are_the_same_rules() {
    let file_names: BTreeSet<String> = rules::ALL.iter().map(|rule| rule.code.replace(' ', "_")).collect();
    assert_eq!(file_names.len(), rules::ALL.len(), "a code is there twice");
    let modules: BTreeSet<String> = names(&folder("src/gate/rules"))
        .into_iter()
        .map(|name| name.trim_end_matches(".rs").to_owned())
        .filter(|name| name != "mod" && name != "README.md")
        .collect();
    assert_eq!(modules, file_names);
    assert_eq!(names(&folder("tests/gate")), file_names);
    for rule in rules::ALL {
        assert!(!rule.description.is_empty() && !rule.mend.is_empty(), "{}", rule.code);
    }
}

#[test]
fn every_rule_lets_pass_and_refuses_what_its_fixtures_say() {
    let mut failed = Vec::new();
    for rule in rules::ALL {
        let own = folder("tests/gate").join(rule.code.replace(' ', "_"));
        let fixtures = names(&own);
        let has = |kind: &str| fixtures.iter().any(|name| name.starts_with(kind));
        assert!(has("pass") && (has("refuse") || has("warn")), "{} lacks a fixture: {fixtures:?}", rule.code);
        for name in &fixtures {
            let fixture: Value = serde_json::from_slice(&fs_err::read(own.join(name)).unwrap()).unwrap();
            if let Err(fault) = hold(&fixture, name, rule.code) {
                failed.push(format!("{}/{name} ({}): {fault}", rule.code, fixture["why"]));
            }
        }
    }
    assert!(failed.is_empty(), "{} fault(s)\n{}", failed.len(), failed.join("\n"));
}

fn hold(fixture: &Value, name: &str, code: &str) -> Result<(), String> {
    for key in fixture.as_object().unwrap().keys() {
        assert!(
            ["why", "run", "claim", "without", "codes", "warnings"].contains(&key.as_str()),
            "unknown key {key}"
        );
    }
    let run = RunDir::new();
    run.edit(&fixture["run"]);
    let output = run.report();
    if output.status.code() != Some(0) {
        return Err(told(&output));
    }
    run.edit(&fixture["claim"]);
    let strings = |key: &str| -> BTreeSet<String> {
        let list = fixture[key].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let without = strings("without");
    let without: Vec<&str> = without.iter().map(String::as_str).collect();
    let output = run.gate(&without, &["--format", "json"]);
    let decision: Value = serde_json::from_slice(&output.stdout).map_err(|_| told(&output))?;
    let found = |key: &str| -> BTreeSet<String> {
        decision[key]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["code"].as_str().unwrap().to_owned())
            .collect()
    };
    let (refusals, warnings) = (found("refusals"), found("warnings"));
    if refusals != strings("codes") || warnings != strings("warnings") {
        return Err(format!("{refusals:?}, warnings {warnings:?}: {decision:#}"));
    }
    let kind_holds = match name {
        name if name.starts_with("pass") => !refusals.contains(code) && !warnings.contains(code),
        name if name.starts_with("refuse") => refusals.contains(code),
        _ => warnings.contains(code) && !refusals.contains(code),
    };
    let exit_holds = output.status.code() == Some(if refusals.is_empty() { 0 } else { 1 });
    if kind_holds && exit_holds { Ok(()) } else { Err(format!("is no {name}: {}", told(&output))) }
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let run = RunDir::new();
    run.edit(&serde_json::json!([{ "file": "RECORD/3", "set": { "/blocked": 1 } }, { "file": "RUN/meta.json", "set": { "/run_kind": "ci" } }]));
    run.report();
    let report = fs_err::read(run.path().join(format!("{RUN}/report.json"))).unwrap();
    run.report();
    assert_eq!(fs_err::read(run.path().join(format!("{RUN}/report.json"))).unwrap(), report);
    for format in ["text", "json", "github"] {
        let (one, two) = (run.gate(&[], &["--format", format]), run.gate(&[], &["--format", format]));
        assert!(one.stdout == two.stdout && one.stderr == two.stderr, "{format}");
        assert_eq!(one.status.code(), Some(1));
    }
}

#[test]
fn each_format_tells_each_refusal() {
    let run = RunDir::new();
    run.edit(
        &serde_json::json!([{ "file": "RUN/meta.json", "set": { "/env_kind": null, "/run_kind": "ci" } }]),
    );
    run.report();
    let stderr = String::from_utf8(run.gate(&[], &[]).stderr).unwrap();
    assert_eq!(
        stderr,
        "run_kind: is \"ci\": only a verdict run can publish (run_kind)\nenv_kind: missing; re-run with 0.3.0 (env_kind)\n"
    );
    let github = String::from_utf8(run.gate(&[], &["--format", "github"]).stdout).unwrap();
    assert_eq!(github.lines().filter(|line| line.starts_with("::error title=")).count(), 2, "{github}");
}

#[test]
fn what_cannot_be_read_is_exit_2_and_prints_no_decision() {
    for edit in [
        serde_json::json!([{ "file": "RUN/report.json", "text": "{" }]),
        serde_json::json!([{ "file": "RUN/report.json", "text": r#"{"run_id":"a","run_id":"b"}"# }]),
        serde_json::json!([{ "file": "RUN/report.json", "remove": true }]),
        serde_json::json!([{ "file": "qa-pilot.config.yaml", "text": "project: x\n" }]),
        serde_json::json!([{ "file": "qa-pilot.config.yaml", "text": "a: [" }]),
        serde_json::json!([{ "file": "testing/checkout/cases.yaml", "text": "a: [" }]),
        serde_json::json!([{ "file": "testing/checkout/cases.yaml", "text": "a: 1\na: 2\n" }]),
        serde_json::json!([{ "file": "testing/checkout/cases.yaml", "remove": true }]),
        serde_json::json!([{ "file": "RUN/statuses.json", "text": "{" }]),
        serde_json::json!([{ "file": "testing/checkout/map.json", "remove": true }]),
    ] {
        let run = RunDir::new();
        run.report();
        run.edit(&edit);
        let output = run.gate(&[], &["--format", "json"]);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{edit}: {}", told(&output));
        assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1, "one line: {}", told(&output));
    }
}

#[test]
fn every_code_is_explained_and_listed_in_help() {
    let run = RunDir::new();
    let help = qa_pilot(run.path(), &["gate", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for rule in rules::ALL {
        let output = qa_pilot(run.path(), &["gate", "--explain", rule.code]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && text.contains(rule.description) && text.contains(rule.mend),
            "{text}"
        );
        assert!(help.contains(&format!("\n  {}", rule.code)), "{} is not in the help: {help}", rule.code);
    }
    let output = qa_pilot(run.path(), &["gate", "--explain", "rule 9"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_run_that_moved_gates_as_it_did_at_home() {
    let run = RunDir::new();
    run.report();
    let moved = tempfile::tempdir().unwrap();
    let target = moved.path().join("downloaded").join(crate::run_dir::RUN_ID);
    fs_err::create_dir_all(target.parent().unwrap()).unwrap();
    fs_err::rename(run.run_dir(), &target).unwrap();
    let report = target.join("report.json").to_string_lossy().into_owned();
    let statuses = target.join("statuses.json").to_string_lossy().into_owned();
    let arguments = [
        "gate",
        &report,
        "--profile",
        "qa-pilot.config.yaml",
        "--statuses",
        &statuses,
        "--cases",
        "testing/checkout/cases.yaml",
    ];
    let output = qa_pilot(run.path(), &arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}

#[test]
fn the_page_about_the_gate_has_a_row_for_each_rule_in_order() {
    let page = fs_err::read_to_string(folder("src/gate/rules/README.md")).unwrap();
    let rows: String = rules::ALL
        .iter()
        .map(|rule| format!("| `{}` | {} | {} |\n", rule.code, rule.description, rule.mend))
        .collect();
    assert!(page.contains(&rows), "src/gate/rules/README.md should hold these rows:\n{rows}");
}
