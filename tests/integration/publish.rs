//! Whatever a run's files hold, no payload and no record tells what its mode forbids.

use std::path::Path;

use proptest::prelude::*;
use qa_pilot::gate::{self, Approved, Inputs};
use qa_pilot::publish::payload::{Facts, Payload};
use qa_pilot::publish::{Ledger, PublishError, Record};
use qa_pilot::report;
use serde_json::{Value, json};

use crate::run_dir::{RUN, RunDir, case_id};

/// A mark that stands in everything that the application said.
const MARK: &str = "QZMARKQZ";
/// A mark that stands in the name of who ran it.
const PERSON: &str = "QZPERSONQZ";

/// How far evidence travels: what the profile says, and what the payload calls it.
const MODES: [(&str, Option<&str>, &str); 4] = [
    ("clickup", Some("tracker"), "tracker"),
    ("clickup", None, "reference"),
    ("clickup", Some("local"), "local"),
    ("none", None, "none"),
];

struct Run(RunDir);

impl Run {
    /// A run of which the first case failed with `failure`, said the same on its console and beside every test, and of
    /// which another field of the metadata is as given.
    fn new(mode: (&str, Option<&str>, &str), failure: &str, key: &str, value: &str) -> Self {
        let run = RunDir::new();
        let mut profile = run.read_json("qa-pilot.config.yaml");
        profile["tracker"] = json!(mode.0);
        if let Some(upload) = mode.1 {
            profile["environments"]["qa"]["evidence_upload"] = json!(upload);
        }
        run.write_json("qa-pilot.config.yaml", &profile);
        let result = "/suites/0/specs/0/tests/0/results/0";
        run.edit(&json!([
            { "file": "RUN/meta.json", "set": { format!("/{key}"): value } },
            { "file": "RECORD/0", "set": { "/attempt/status": "failed" } },
            { "file": "RECORD/10", "set": { "/attempt/title": format!("{} {failure}", case_id(11)) } },
            { "file": "RUN/results.json", "set": {
                format!("{result}/status"): "failed",
                format!("{result}/errors"): [{ "message": failure }],
                format!("{result}/error"): { "message": failure, "stack": failure, "snippet": failure },
                format!("{result}/stdout"): [{ "text": failure }],
                format!("{result}/annotations"): [{ "type": failure, "description": failure }],
                "/suites/0/specs/10/title": format!("{} {failure}", case_id(11)),
                "/suites/0/title": failure,
                "/config/metadata": { "executor": failure },
            } },
        ]));
        Self(run)
    }

    fn approved(&self) -> Approved {
        self.gate().unwrap_or_else(|refused| panic!("{:?}", refused.refusals))
    }

    /// The run, where the gate lets it pass.
    fn gated(&self) -> Option<Approved> {
        self.gate().ok()
    }

    fn gate(&self) -> gate::Decision {
        let path = |name: &str| self.0.path().join(name);
        let run = |name: &str| path(&format!("{RUN}/{name}"));
        report::write(&run("results.json"), &run("meta.json"), None, None).unwrap();
        let inputs = Inputs {
            report: run("report.json"),
            profile: path("qa-pilot.config.yaml"),
            statuses: Some(run("statuses.json")),
            cases: Some(path("testing/checkout/cases.yaml")),
            map: None,
            base: None,
        };
        gate::run(&inputs).unwrap()
    }
}

fn told(approved: &Approved) -> Result<(String, String), PublishError> {
    let facts = Facts::of(approved, None, Ledger::default())?;
    let record = Record::of(&facts)?;
    Ok((serde_json::to_string(&facts.payload()).unwrap(), serde_json::to_string(&record).unwrap()))
}

/// Texts as applications, people and attackers have them, each with a mark.
fn hostile(mark: &'static str) -> impl Strategy<Value = String> {
    const AROUND: [(&str, &str); 26] = [
        ("", " at https://shop.test/orders/4711?token=x"),
        ("hTTps:", ".test"),
        ("file:///home/", "/x"),
        ("/home/", "/run/trace.zip"),
        ("~/", ""),
        ("../../", ""),
        ("C:\\Users\\", ""),
        ("c:/", "/x"),
        ("\\\\host\\", "\\share"),
        ("//host/", "/share"),
        ("<script>", "</script>"),
        ("<img src=x onerror=", ">"),
        ("[", "](javascript:alert(1))"),
        ("![", "][x]"),
        ("```\n", "\n```"),
        ("", "\n# heading"),
        ("", "\r\n\u{7}"),
        ("", "\0"),
        ("\u{1b}[31m", "\u{1b}[0m"),
        ("", "\u{202e}gpj"),
        ("\u{200b}", "\u{feff}"),
        ("\u{2028}", "\u{2029}"),
        ("\u{ff0f}home\u{ff0f}", ""),
        ("https\u{ff1a}\u{2215}\u{2215}", ""),
        ("\",\"executor\":\"", "\",\"x\":\""),
        ("jane.doe@client.test ", ""),
    ];
    prop_oneof![
        (0..AROUND.len()).prop_map(move |at| format!("{}{mark}{}", AROUND[at].0, AROUND[at].1)),
        (100..3000usize).prop_map(move |long| format!("{}{mark}", "x".repeat(long))),
        "[ -~]{0,20}".prop_map(move |text| format!("{text}{mark}")),
        "\\PC{0,20}".prop_map(move |text| format!("{mark}{text}")),
    ]
}

fn field() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(
        &[
            "executor",
            "model_version",
            "browser",
            "api_mode",
            "started_at",
            "finished_at",
            "playwright_version",
            "sha_format",
        ][..],
    )
}

/// Every text of a document with its place, but for those at `except`.
fn texts<'a>(value: &'a Value, at: &str, except: &[&str], found: &mut Vec<(String, &'a str)>) {
    match value {
        _ if except.iter().any(|end| at.ends_with(end)) => {}
        Value::String(text) => found.push((at.to_owned(), text)),
        Value::Array(list) => list.iter().for_each(|value| texts(value, at, except, found)),
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| texts(value, &format!("{at}/{key}"), except, found));
        }
        _ => {}
    }
}

/// What is wrong with a text that may be told: markup, control or hidden characters, a URL, a path that is not below the
/// run directory.
fn wrong(text: &str) -> Option<&'static str> {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{feff}' | '\u{2066}'..='\u{2069}')
    };
    let drive =
        text.as_bytes().get(1) == Some(&b':') && text.as_bytes().get(2).is_some_and(|b| b"/\\".contains(b));
    if text.contains(['<', '>', '`', '\\', '"', '|']) || text.contains("](") {
        Some("markup")
    } else if text.chars().any(hidden) {
        Some("a hidden character")
    } else if text.contains("//") || text.to_lowercase().contains("file:") {
        Some("a URL")
    } else if text.starts_with(['/', '\u{ff0f}']) || drive || text.split('/').any(|part| part == "..") {
        Some("a path from elsewhere")
    } else {
        (text.chars().count() > 512).then_some("a text without end")
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_a_mode_forbids_is_told(
        mode in 0..MODES.len(), failure in hostile(MARK), key in field(), value in hostile(PERSON)
    ) {
        let mode = MODES[mode];
        let run = Run::new(mode, &failure, key, &value);
        // What the gate refuses is told to nobody.
        let Some(approved) = run.gated() else { return Ok(()) };
        let Ok((payload, record)) = told(&approved) else { return Ok(()) };
        let root = run.0.path().to_string_lossy().into_owned();
        prop_assert!(!payload.contains(MARK), "a failure's text in {payload}");
        prop_assert!(!payload.contains(&root) && !record.contains(&root), "{payload} {record}");
        let payload: Value = serde_json::from_str(&payload).unwrap();
        let record: Value = serde_json::from_str(&record).unwrap();
        prop_assert_eq!(&payload["mode"], mode.2);
        let travels = matches!(mode.2, "tracker" | "reference");
        // Our own words, and what a record may hold where evidence travels.
        let mut found = Vec::new();
        texts(&payload, "", &["/reviewer_note"], &mut found);
        let except: &[&str] = if travels { &["/failure_summary", "/env_url"] } else { &[] };
        texts(&record, "", except, &mut found);
        for (at, text) in found {
            prop_assert_eq!(wrong(text), None, "{} at {}", text, at);
        }
        if !travels {
            let record = record.to_string();
            prop_assert!(!record.contains(MARK) && !record.contains(PERSON), "{record}");
        }
        if mode.2 == "local" {
            let payload = payload.to_string();
            prop_assert!(!payload.contains(PERSON) && !payload.contains("storefront"), "{payload}");
        }
    }
}

#[test]
fn what_is_told_where_it_may_be() {
    for mode in MODES {
        let run = Run::new(mode, MARK, "executor", PERSON);
        let (payload, record) = told(&run.approved()).unwrap();
        assert_eq!(payload.contains(PERSON), mode.2 != "local", "{payload}");
        let travels = matches!(mode.2, "tracker" | "reference");
        assert_eq!(record.contains(MARK), travels, "{record}");
        assert_eq!(record.contains(PERSON), travels, "{record}");
        assert!(payload.contains(&case_id(11)), "{payload}");
    }
}

#[test]
fn what_is_told_is_what_was_gated() {
    let run = Run::new(MODES[0], MARK, "executor", PERSON);
    let approved = run.approved();
    let before = told(&approved).unwrap();
    for name in ["report.json", "results.json", "statuses.json", "meta.json"] {
        run.0.write(&format!("{RUN}/{name}"), b"{}");
    }
    run.0.write("testing/checkout/cases.yaml", b"{}");
    run.0.write("qa-pilot.config.yaml", b"{}");
    assert_eq!(told(&approved).unwrap(), before, "nothing is read again after the gate");
}

#[test]
fn a_report_that_smuggles_is_refused_and_says_which_field() {
    let run = Run::new(MODES[1], MARK, "executor", "jane](javascript:x)");
    let error = told(&run.approved()).unwrap_err();
    assert!(error.is_refusal() && error.to_string().starts_with("executor: "), "{error}");
}

#[test]
fn keys_stand_in_the_order_of_the_format() {
    let order = |mode| {
        let run = Run::new(mode, MARK, "executor", PERSON);
        let (payload, _) = told(&run.approved()).unwrap();
        let value: serde_json::Value = serde_json::from_str(&payload).unwrap();
        let keys = |value: &serde_json::Value| {
            value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
        };
        (keys(&value), value.pointer("/cases/0").map(keys).unwrap_or_default(), keys(&value["summary"]))
    };
    let summary = "run_id env_name build_sha counts blocked_pct confidence ready executor reviewer_note";
    let tracker = order(MODES[0]);
    assert_eq!(tracker.0, "mode cases summary");
    assert_eq!(tracker.1, "case_id target_status fields attach");
    assert_eq!(tracker.2, summary);
    let reference = order(MODES[1]);
    assert_eq!(reference.1, "case_id target_status fields run_id trace_path trace_sha256");
    assert_eq!(reference.2, summary);
    let local = order(MODES[2]);
    assert_eq!(local.1, "case_id verdict target_status env_name build_id run_id trace_path trace_sha256");
    assert_eq!(local.2, "run_id env_name build_id counts blocked_pct confidence ready");
    let none = order(MODES[3]);
    assert_eq!(none.0, "mode statuses_file status_writes summary_file summary bugs_dir");
    assert_eq!(none.2, summary);
}

#[test]
fn without_a_tracker_the_writes_are_done_and_nothing_else_changes() {
    let run = Run::new(MODES[3], MARK, "executor", PERSON);
    let approved = run.approved();
    let facts = Facts::of(&approved, None, Ledger::default()).unwrap();
    let Payload::Plan(plan) = facts.payload() else { panic!("there is no tracker") };
    let statuses = run.0.path().join("testing/checkout/statuses.json");
    fs_err::write(&statuses, r#"{"OTHER-CASE-001": "Retest", "CHECKOUT-ORDER-001": "Approved"}"#).unwrap();
    plan.write(run.0.path()).unwrap();
    let now = run.0.read_json("testing/checkout/statuses.json");
    assert_eq!(now["OTHER-CASE-001"], "Retest");
    assert_eq!(now["CHECKOUT-ORDER-001"], "Under Review");
    assert_eq!(now["CHECKOUT-ORDER-011"], "Under Review");
    assert_eq!(run.0.read_json(&format!("{RUN}/summary.json"))["counts"]["fail"], 1);
    let summary = run.0.path().join(RUN).join("summary.json");
    for text in ["[]", "null", "7", "", "{", r#"{"A": "x", "A": "y"}"#] {
        fs_err::write(&statuses, text).unwrap();
        fs_err::remove_file(&summary).ok();
        assert!(!plan.write(run.0.path()).unwrap_err().is_refusal(), "{text}");
        assert_eq!(fs_err::read_to_string(&statuses).unwrap(), text);
        assert!(!summary.exists(), "the statuses come first");
    }
}

#[test]
fn a_ledger_that_is_none_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path: &Path = &folder.path().join("approved.json");
    assert!(Ledger::read(path).unwrap().is_none());
    for text in ["", "{", "[]", "null", "7", r#"{"A": 1}"#, r#"{"A": ""}"#, r#"{"A": "x", "A": "y"}"#] {
        fs_err::write(path, text).unwrap();
        let error = Ledger::read(path).unwrap_err();
        assert!(matches!(error, PublishError::Ledger { .. }) && !error.is_refusal(), "{text}: {error}");
        assert!(error.to_string().contains("restore it from version control"), "{error}");
        assert_eq!(fs_err::read_to_string(path).unwrap(), text);
    }
}
