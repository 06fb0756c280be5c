//! What stops a run before anything runs, which cases it is for, and what is counted after it.

use std::process::{Command, Output};

use qa_pilot::playwright::fixture::WRITE_GUARD_TS;
use serde_json::Value;

use crate::support::{Host, VersionServer, qa_pilot, told};

const BUILD: &str = r#"{"commit":"3f2a91c04be17d5566aa0f9b1c2d3e4f50617283"}"#;
const ID: &str = "CHECKOUT-ORDER-001";

fn run(host: &Host, more: &[&str], command: &[&str]) -> Output {
    let mut words = vec!["run", "--feature", "checkout", "--env", "qa", "--json"];
    words.extend(more);
    words.push("--");
    words.extend(command);
    qa_pilot(host.path(), &words).env("USER", "tester").output().unwrap()
}

/// A run that must not begin: exit 2, one line, and nothing done.
fn refused(host: &Host, message: &str) {
    let output = run(host, &[], &["touch", "ran"]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(message), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(host.runs().is_empty() && !host.path().join("ran").exists());
}

fn edit(host: &Host, file: &str, from: &str, to: &str) {
    let text = fs_err::read_to_string(host.path().join(file)).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    host.write(file, &text.replace(from, to));
}

fn git(host: &Host, arguments: &[&str]) {
    let done = Command::new("git").arg("-C").arg(host.path()).args(arguments).output().unwrap();
    assert!(done.status.success(), "{}", told(&done));
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", told(output)))
}

/// A command that leaves results in which the case came to `status`.
fn ending_in(status: &str) -> String {
    let results = serde_json::json!({"suites": [{"title": "a", "specs": [{"title": format!("{ID} pays"), "tests": [
        {"projectName": "chromium", "results": [{"status": status, "retry": 0, "duration": 1, "errors": [], "attachments": []}]}
    ]}]}], "errors": []});
    format!("printf '%s' '{results}' > \"$QA_PILOT_RUN_DIR/results.json\"")
}

#[test]
fn cases_must_be_approved_and_clean() {
    let version = VersionServer::start(BUILD);
    for (statuses, message) in [
        (r#"{"CHECKOUT-ORDER-001": "Case Review"}"#, "CHECKOUT-ORDER-001: it waits for design review"),
        (r#"{"CHECKOUT-ORDER-001": "Rejected"}"#, "it must be mended"),
        (r#"{"CHECKOUT-ORDER-001": "Fine"}"#, "its status \"Fine\" is not known"),
        (r#"{"CHECKOUT-ORDER-001": "Quarantined"}"#, "--include-quarantined"),
        ("{}", "it has no status"),
        ("[]", "must be a mapping from case id to status"),
    ] {
        let host = Host::new(version.address);
        host.write("testing/checkout/statuses.json", statuses);
        refused(&host, message);
    }
    let host = Host::new(version.address);
    edit(&host, "testing/checkout/cases.yaml", "priority: P1", "priority: P7");
    refused(&host, "cases[CHECKOUT-ORDER-001].priority: must be one of P0, P1, P2");
    let host = Host::new(version.address);
    host.write("testing/checkout/run-log.json", "[]");
    refused(&host, "run-log.json");
}

#[test]
fn evidence_that_stays_here_must_be_ignored_by_git() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    git(&host, &["init", "-q"]);
    refused(&host, "testing/checkout/runs/ is not ignored by git");
    host.write(".gitignore", "testing/*/runs/\n");
    assert_eq!(run(&host, &[], &["touch", "ran"]).status.code(), Some(1));
    assert!(host.path().join("ran").exists());

    let host = Host::new(version.address);
    host.write(".git", "gitdir: /nowhere\n");
    let output = run(&host, &[], &["touch", "ran"]);
    let notes = json(&output)["notes"].to_string();
    assert!(notes.contains("cannot find out whether git ignores"), "{}", told(&output));
    edit(
        &host,
        "qa-pilot.config.yaml",
        "    kind: qa",
        "    kind: production\n    test_account: qa-runner, own tenant, no admin rights",
    );
    host.write("specs/checkout/CHECKOUT-ORDER-001.spec.ts", "import { test } from '../write-guard';");
    host.write("specs/write-guard.ts", WRITE_GUARD_TS);
    let output = run(&host, &[], &["touch", "ran"]);
    assert_eq!(output.status.code(), Some(2), "what cannot be judged is refused: {}", told(&output));
}

#[test]
fn what_history_could_not_tell_is_told() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    let notes = |host: &Host| json(&run(host, &["--dry-run"], &["touch", "ran"]))["notes"].to_string();
    let (dirty, off_guard) =
        ("qa-pilot.config.yaml has changes that are not committed", "imports no write-guard.ts");
    assert!(!notes(&host).contains(dirty), "outside a repository there is no history");
    assert!(notes(&host).contains("CHECKOUT-ORDER-001.spec.ts imports no write-guard.ts of this version"));
    host.write("specs/write-guard.ts", WRITE_GUARD_TS);
    host.write("specs/checkout/CHECKOUT-ORDER-001.spec.ts", "import { test } from '../write-guard';");
    git(&host, &["init", "-q"]);
    host.write(".gitignore", "testing/*/runs/\n");
    assert!(notes(&host).contains(dirty) && !notes(&host).contains(off_guard), "{}", notes(&host));
    git(&host, &["add", "."]);
    git(&host, &["-c", "user.name=t", "-c", "user.email=t@client.test", "commit", "-qm", "all"]);
    assert_eq!(notes(&host), "[]");
    host.write("testing/checkout/cases.yaml", &format!("{}\n", include_str!("host/cases.yaml")));
    assert_eq!(notes(&host), "[]", "of other files nothing is said");
    edit(&host, "qa-pilot.config.yaml", "    kind: qa", "    kind: staging");
    assert!(notes(&host).contains(dirty), "{}", notes(&host));
}

#[test]
fn names_that_could_not_be_published_stop_the_run() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    for name in ["DOMAIN\\tester", "a/b", "<b>"] {
        let output = run(&host, &["--executor", name], &["touch", "ran"]);
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.contains("the executor") && said.contains("--executor") && said.lines().count() == 1,
            "{said}"
        );
    }
    edit(&host, "testing/checkout/cases.yaml", "model_version: model-a", "model_version: model a<b>");
    edit(&host, "qa-pilot.config.yaml", "[model-a]", "[model a<b>]");
    refused(&host, "model_version \"model a<b>\" cannot be published");
    assert!(host.runs().is_empty());
}

#[test]
fn on_production_every_spec_is_on_the_guard() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    edit(
        &host,
        "qa-pilot.config.yaml",
        "    kind: qa",
        "    kind: production\n    test_account: qa-runner, own tenant, no admin rights",
    );
    let spec = "specs/checkout/CHECKOUT-ORDER-001.spec.ts";
    refused(&host, "imports no write-guard.ts of this version, and `qa` is production");
    host.write("specs/write-guard.ts", &format!("{WRITE_GUARD_TS}\n// edited"));
    host.write(spec, "import { test } from '../write-guard';");
    refused(&host, "imports no write-guard.ts of this version");
    host.write("specs/write-guard.ts", WRITE_GUARD_TS);
    host.write(spec, "import { test } from '@playwright/test'; // '../write-guard'");
    refused(&host, "imports no write-guard.ts of this version");
    host.write("specs/base.ts", "export * from './write-guard';");
    host.write(spec, "import { test } from '../base';");
    let output = run(&host, &[], &["touch", "ran"]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert!(host.path().join("ran").exists());
    assert!(json(&output)["notes"].to_string().contains("the tests must sign in as qa-runner"));
    fs_err::remove_dir_all(host.path().join("testing/checkout/runs")).unwrap();
    fs_err::remove_file(host.path().join("ran")).unwrap();
    fs_err::remove_file(host.path().join(spec)).unwrap();
    refused(&host, "CHECKOUT-ORDER-001.spec.ts: no such file");
}

#[test]
fn hosts_that_are_not_verified_are_noted_and_never_on_production() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    let more = ["--upstream-insecure", "QA.shop.test"];
    let output = run(&host, &more, &["sh", "-c", &ending_in("passed")]);
    assert_ne!(output.status.code(), Some(2), "{}", told(&output));
    let meta = fs_err::read_to_string(host.runs()[0].join("meta.json")).unwrap();
    let meta: Value = serde_json::from_str(&meta).unwrap();
    assert_eq!(meta["upstream_insecure"], serde_json::json!(["qa.shop.test"]));
    let host = Host::new(version.address);
    edit(
        &host,
        "qa-pilot.config.yaml",
        "    kind: qa",
        "    kind: production\n    test_account: qa-runner, own tenant, no admin rights",
    );
    let output = run(&host, &more, &["touch", "ran"]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(
        told(&output).contains("--upstream-insecure qa.shop.test: `qa` is production"),
        "{}",
        told(&output)
    );
    assert!(host.runs().is_empty() && !host.path().join("ran").exists());
}

#[test]
fn a_dry_run_says_what_would_run_and_runs_nothing() {
    let host = Host::new("127.0.0.1:1".parse().unwrap());
    host.write("npx", "");
    let output = run(&host, &["--dry-run"], &["sh", "playwright", "test", "-g", "total"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let plan = json(&output);
    assert_eq!(plan["cases"], serde_json::json!([ID]));
    assert_eq!(plan["run_kind"], "verdict");
    let command = plan["command"].to_string();
    assert!(command.contains("--output=RUN_DIR/test-results"), "{command}");
    assert!(command.contains("(?=.*(?:total))") && command.contains(ID), "{command}");
    assert!(host.runs().is_empty());
}

#[test]
fn greens_of_stabilization_runs_are_counted_in_a_row() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    let log = || -> Value {
        serde_json::from_slice(&fs_err::read(host.path().join("testing/checkout/run-log.json")).unwrap())
            .unwrap()
    };
    for (status, greens, exit) in [("passed", 1, 0), ("passed", 2, 0), ("failed", 0, 1), ("passed", 1, 0)] {
        let output = run(&host, &["--kind", "stabilization"], &["sh", "-c", &ending_in(status)]);
        assert_eq!(output.status.code(), Some(exit), "{}", told(&output));
        assert_eq!(log()[ID]["greens"], greens);
        assert_eq!(json(&output)["publishable"], false);
    }
    assert_eq!(host.runs().len(), 4, "runs that begin in the same second wait for one of their own");
    let stable = || {
        let notes = json(&run(&host, &["--dry-run"], &["touch", "ran"]))["notes"].to_string();
        !notes.contains("not shown to be stable")
    };
    assert!(stable(), "the host has no environment where specs prove themselves");
    edit(&host, "qa-pilot.config.yaml", "environments:", "stabilization: { env: staging }\nenvironments:");
    assert!(!stable());
    for _ in 0..2 {
        run(&host, &["--kind", "stabilization"], &["sh", "-c", &ending_in("passed")]);
    }
    assert!(stable());
    host.write("specs/checkout/CHECKOUT-ORDER-001.spec.ts", "// edited\n");
    assert!(!stable(), "an edit begins anew");
    run(&host, &["--kind", "stabilization"], &["sh", "-c", &ending_in("passed")]);
    assert_eq!(log()[ID]["greens"], 1, "an edit begins anew");
}

#[test]
fn a_run_notes_where_specs_are_and_keeps_what_it_did_not_see() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    let specs = "testing/checkout/specs.json";
    host.write("specs/elsewhere/pay.spec.ts", "");
    host.write(specs, r#"{"CHECKOUT-ORDER-009": "specs/nine.spec.ts"}"#);
    let results = serde_json::json!({
        "config": {"rootDir": host.path().join("specs")},
        "suites": [{"title": "a", "specs": [
            {"title": format!("{ID} pays"), "file": "elsewhere/pay.spec.ts", "tests": []},
            {"title": format!("{ID} gone"), "file": "gone.spec.ts", "tests": []},
            {"title": "CHECKOUT-ORDER-008 is no case", "file": "elsewhere/pay.spec.ts", "tests": []},
            {"title": format!("{ID} outside"), "file": "../../../../etc/passwd", "tests": []}
        ]}]
    });
    run(&host, &[], &["sh", "-c", &format!("printf '%s' '{results}' > \"$QA_PILOT_RUN_DIR/results.json\"")]);
    let now = fs_err::read_to_string(host.path().join(specs)).unwrap();
    let wanted =
        serde_json::json!({"CHECKOUT-ORDER-009": "specs/nine.spec.ts", ID: "specs/elsewhere/pay.spec.ts"});
    assert_eq!(serde_json::from_str::<Value>(&now).unwrap(), wanted);
}

#[test]
fn a_pipeline_ends_as_its_verdict_does() {
    let version = VersionServer::start(BUILD);
    for (status, exit, message) in [
        ("passed", 0, "ok: 1 pass on qa"),
        ("failed", 1, "REGRESSION: 1 of 1"),
        ("skipped", 1, "ENVIRONMENT FAILED: 1 of 1"),
    ] {
        let host = Host::new(version.address);
        let output = run(&host, &["--kind", "ci"], &["sh", "-c", &ending_in(status)]);
        assert_eq!(output.status.code(), Some(exit), "{}", told(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains(message), "{}", told(&output));
        assert!(json(&output)["ending"].as_str().unwrap().contains(message), "{}", told(&output));
        assert_eq!(json(&output)["cases"], serde_json::json!([ID]));
        let says_halted = json(&output)["notes"].to_string().contains("halted: 1 of 1 cases are blocked");
        assert_eq!(says_halted, status == "skipped", "{}", told(&output));
    }
}

#[test]
fn specs_off_the_guard_are_faults_of_the_lint() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    let profile = fs_err::read_to_string(host.path().join("qa-pilot.config.yaml")).unwrap();
    let spec_dir =
        profile.split("spec_dir:").nth(1).unwrap().split([',', '\n']).next().unwrap().trim().to_owned();
    let lint = || {
        let words = [
            "cases",
            "lint",
            "testing/checkout/cases.yaml",
            "--profile",
            "qa-pilot.config.yaml",
            "--check-specs",
        ];
        qa_pilot(host.path(), &words).output().unwrap()
    };
    let spec = format!("{spec_dir}/checkout/{ID}.spec.ts");
    host.write(&format!("{spec_dir}/write-guard.ts"), WRITE_GUARD_TS);
    host.write(&spec, "import { test } from '@playwright/test';");
    let refused = lint();
    assert_eq!(refused.status.code(), Some(1), "{}", told(&refused));
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(stderr.contains(&format!("{spec}: imports no write-guard.ts of this version")), "{stderr}");
    host.write(&spec, "import { test } from '../write-guard';");
    let clean = lint();
    assert_eq!(clean.status.code(), Some(0), "{}", told(&clean));
}
