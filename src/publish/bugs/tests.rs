//! Bugs by mode: what each tells, what it never tells, and how known failures are told apart.

use proptest::{prop_assert, prop_assert_eq};
use serde_json::{Value, json};

use super::*;
use crate::gate::Claim;

const ID: &str = "CHECKOUT-ORDER-001";
const TEXT: &str = "Error: order 4711 of jane.doe@client.test ``` shows 12 EUR";

/// Marks in what the application said, and in a field of the report.
const FAILURE: &str = "QZFAILUREQZ";
const FIELD: &str = "QZFIELDQZ";

/// What a report may hold anything in.
const FIELDS: [&str; 11] = [
    "/run_id",
    "/feature",
    "/app",
    "/env_url",
    "/commit_sha",
    "/api_mode",
    "/executor",
    "/browser",
    "/cases/0/trace",
    "/cases/0/trace_sha256",
    "/env_kind",
];

/// Around a mark: URLs, paths from elsewhere, markup, characters that hide.
const FORMS: [(&str, &str); 15] = [
    ("", ""),
    ("", ".test"),
    ("https://", ".test/x"),
    ("file:///home/", "/x"),
    ("/home/", "/x"),
    ("../", "/x"),
    ("C:\\", "\\x"),
    ("c:/", "/x"),
    ("\\\\host\\", "\\x"),
    ("//host/", ""),
    ("<script>", "</script>"),
    ("[", "](javascript:alert(1))"),
    ("a`b|", "\u{7}"),
    ("", "\u{202e}gpj"),
    ("", "\u{2028}# heading"),
];

/// What the tracker is told of a run even where evidence stays on its machine.
fn is_told_locally(field: &str) -> bool {
    ["/run_id", "/feature", "/commit_sha", "/cases/0/trace"].contains(&field)
}

/// A body without what stands between fences.
fn outside_fences(body: &str) -> String {
    let mut fence: Option<&str> = None;
    let mut out = Vec::new();
    for line in body.split('\n') {
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = Some(line),
            None => out.push(line),
        }
    }
    out.join("\n")
}

fn told(env: &str) -> Told {
    Told::of(&Claim::new(report(env))).unwrap()
}

fn report(env: &str) -> Value {
    json!({
        "run_id": "20261130T101500Z-checkout-3f2a91c", "feature": "checkout", "app": "storefront",
        "env_name": env, "env_kind": "qa", "env_url": "https://qa.shop.test", "commit_sha": "3f2a91c04be1",
        "api_mode": "server", "executor": "tester", "browser": "chromium-156",
        "cases": [
            {"id": ID, "verdict": "fail", "trace": "t/trace.zip", "trace_sha256": null, "failure_summary": TEXT},
            {"id": "CHECKOUT-ORDER-002", "verdict": "flaky", "retries": 1, "failure_summary": "Error: x"},
            {"id": "CHECKOUT-ORDER-003", "verdict": "pass"},
            {"id": "CHECKOUT-ORDER-004", "verdict": "fail", "failure_summary": " "},
            {"id": "CHECKOUT-ORDER-005", "verdict": "fail", "failure_summary": "Error: x"}
        ]
    })
}

fn cases() -> Cases {
    let case = |id: &str| {
        json!({"id": id, "title": "Pays <b>now</b>", "priority": "P0", "preconditions": ["A cart"],
               "steps": ["Open", "Pay"], "expected": ["The total"]})
    };
    let ids = [ID, "CHECKOUT-ORDER-002", "CHECKOUT-ORDER-003", "CHECKOUT-ORDER-004"];
    Cases::from_value(&json!({ "cases": ids.map(case) })).unwrap()
}

fn profile(tracker: &str) -> Profile {
    let env = |kind: &str, upload: Option<&str>| {
        let mut env = json!({
            "kind": kind, "apps": {"storefront": format!("https://{kind}.shop.test")},
            "sha_source": {"url": "https://shop.test/v", "json_path": "v"}
        });
        if let Some(upload) = upload {
            env["evidence_upload"] = json!(upload);
        }
        if kind == "production" {
            env["test_account"] = json!("a restricted account of QA's own");
        }
        env
    };
    let mut value = json!({
        "project": "shop", "tracker": tracker,
        "apps": {"storefront": {"framework": "react", "spec_dir": "e2e", "repo": "."}},
        "environments": {"qa": env("qa", (tracker == "clickup").then_some("tracker")), "staging": env("staging", None), "prod": env("production", None)},
        "auth": {"model": "mixed", "playwright_min": "1.51.0", "storage_state": {"indexed_db": true}},
        "assertions": {"network_events": "allowed", "style": "mixed"},
        "selectors": {"testid_attribute": "data-testid"},
        "models": {"generation_approved": ["m"]},
        "sandbox": {"mode": {"env_var": "X", "value": "y"}},
        "mutation": {"write_signatures": [{"method": "POST", "url": "/x"}]}
    });
    if tracker == "clickup" {
        value["clickup"] = json!({"space": "QA"});
    }
    let (profile, faults, _) = Profile::check(&value, &|_| true);
    profile.unwrap_or_else(|| panic!("{faults:?}"))
}

fn file_with(env: &str, tracker: &str, ids: &[&str], ledger: &Value) -> Bugs {
    let known = self::ledger(ledger);
    let (told, cases, profile) = (told(env), cases(), profile(tracker));
    let specs = BTreeMap::from([(ID.to_owned(), "e2e/checkout/pay.spec.ts".to_owned())]);
    let inputs = Inputs { told: &told, cases: &cases, profile: Some(&profile), specs: &specs };
    let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    bugs(inputs, &ids, &known).unwrap()
}

fn ledger(value: &Value) -> BugLedger {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bugs.json");
    crate::files::write_atomic(&path, value.to_string().as_bytes()).unwrap();
    BugLedger::read(&path).unwrap().unwrap()
}

/// A ledger in which the case's bug is known by a signature.
fn known(signature: &str) -> Value {
    json!({ID: {"task_id": "t-1", "signature": signature, "first_seen_run": "r0", "last_seen_run": "r0",
                "seen_count": 3, "superseded": ["t-0"], "note": "kept"}})
}

fn filed(env: &str, tracker: &str) -> Bugs {
    file_with(env, tracker, &[ID], &json!({}))
}

#[test]
fn each_mode_tells_what_it_may() {
    for (env, tracker, has_text, has_url, attached) in [
        ("qa", "clickup", true, true, true),
        ("staging", "clickup", true, true, false),
        ("prod", "clickup", false, false, false),
        ("qa", "none", true, true, false),
    ] {
        let bugs = filed(env, tracker);
        let bug = &bugs.create[0];
        let all = serde_json::to_string(&bugs).unwrap();
        assert_eq!(bug.body.contains("order 4711"), has_text, "{env} {tracker}: {}", bug.body);
        for word in ["shop.test", "tester", "chromium-156", "storefront"] {
            assert_eq!(all.contains(word), has_url, "{env} {tracker} {word}");
        }
        assert_eq!(bug.trace_attachment.is_some(), attached, "{env} {tracker}");
        assert_eq!(bug.body.contains("is attached"), attached, "{env} {tracker}");
        assert_eq!(bug.file.is_some(), tracker == "none");
        assert_eq!(bugs.warnings.len(), usize::from(tracker != "none"));
        assert!(bug.body.contains("npx playwright test e2e/checkout/pay.spec.ts"));
        assert!(bug.body.contains("1. Open\n2. Pay") && bug.body.contains("- A cart"));
        assert!(bug.body.contains(r"**Pays \<b\>now\</b\>**"), "titles are no markup: {}", bug.body);
        assert_eq!(bug.title, format!("{ID}: Pays <b>now</b>"), "the tracker's title is no Markdown");
    }
    assert!(filed("qa", "clickup").create[0].body.contains("\n````\n"), "a fence that the text cannot close");
}

#[test]
fn skips_say_why_and_a_repeated_id_is_handled_twice_by_the_same_ledger() {
    let ids =
        [ID, ID, "CHECKOUT-ORDER-003", "CHECKOUT-ORDER-004", "CHECKOUT-ORDER-005", "CHECKOUT-ORDER-009"];
    let bugs = file_with("qa", "clickup", &ids, &json!({}));
    assert_eq!(bugs.create.iter().map(|bug| bug.id.as_str()).collect::<Vec<_>>(), [ID, ID]);
    assert_eq!(bugs.create[0], bugs.create[1]);
    let reasons: Vec<_> = bugs.skipped.iter().map(|skip| (skip.id.as_str(), &skip.reason[..10])).collect();
    assert_eq!(
        reasons,
        [
            ("CHECKOUT-ORDER-003", "did not fa"),
            ("CHECKOUT-ORDER-004", "has no fai"),
            ("CHECKOUT-ORDER-005", "is not in "),
            ("CHECKOUT-ORDER-009", "is not in "),
        ]
    );
    let flaky = file_with("qa", "clickup", &["CHECKOUT-ORDER-002"], &json!({}));
    assert_eq!(flaky.create[0].tags, ["qa-pilot", "intermittent"]);
}

#[test]
fn the_same_failure_is_a_comment_another_one_supersedes() {
    let signature = signature(&CaseId::parse(ID).unwrap(), TEXT);
    let again = file_with("qa", "clickup", &[ID], &known(&signature));
    assert!(again.create.is_empty());
    assert_eq!(again.comment[0].task_id, "t-1");
    let ledger = serde_json::to_value(&again.ledger).unwrap();
    assert_eq!(ledger[ID]["seen_count"], 4);
    assert_eq!(ledger[ID]["first_seen_run"], "r0");
    assert_eq!(ledger[ID]["note"], "kept");
    let twice = file_with("qa", "clickup", &[ID, ID], &known(&signature));
    assert_eq!(twice.comment.len(), 2);
    assert_eq!(twice.ledger, again.ledger, "both by the ledger as it came in");
    let local = file_with("prod", "clickup", &[ID], &known(&signature)).comment.remove(0).body;
    for told in [ID, told("prod").run_id.as_str(), "prod", "3f2a91c04be1", "`t/trace.zip`", "SHA-256"] {
        assert!(local.contains(told), "{told}: {local}");
    }
    assert!(!local.contains("4711"), "{local}");

    let other = file_with("qa", "clickup", &[ID], &known("another"));
    assert_eq!(other.create[0].supersedes.as_ref().map(|old| old.task_id.as_str()), Some("t-1"));
    let ledger = serde_json::to_value(&other.ledger).unwrap();
    assert_eq!(ledger[ID]["superseded"], json!(["t-0", "t-1"]));
    assert_eq!(ledger[ID]["task_id"], Value::Null);
    assert_eq!(ledger[ID]["seen_count"], 1);

    let nowhere = file_with("qa", "none", &[ID], &known(&signature));
    assert!(nowhere.comment.is_empty() && nowhere.create[0].supersedes.is_none());
    assert_eq!(
        serde_json::to_value(&nowhere.ledger).unwrap()[ID]["first_seen_run"],
        told("qa").run_id.as_str()
    );
}

#[test]
fn ledgers_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bugs.json");
    assert!(BugLedger::read(&path).unwrap().is_none());
    for text in [
        "",
        "{",
        "[]",
        "null",
        r#"{"A":1}"#,
        r#"{"A":{}}"#,
        r#"{"A":{"task_id":7,"signature":"s"}}"#,
        r#"{"A":[null,"s"]}"#,
    ] {
        crate::files::write_atomic(&path, text.as_bytes()).unwrap();
        let error = BugLedger::read(&path).unwrap_err();
        assert!(matches!(error, PublishError::Ledger { .. }) && !error.is_refusal(), "{text}");
        assert_eq!(crate::files::read_capped(&path, 99).unwrap(), text.as_bytes());
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 1024, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_bug_and_no_comment_tells_what_its_mode_forbids(
        mode in 0..4usize, at in 0..FIELDS.len(), form in 0..FORMS.len(), text in "\\PC{0,60}", is_known: bool
    ) {
        let (env, tracker) = [("qa", "clickup"), ("staging", "clickup"), ("prod", "clickup"), ("qa", "none")][mode];
        let hostile = |mark: &str| format!("{}{mark}{}", FORMS[form].0, FORMS[form].1);
        let failure = format!("{}{text}", hostile(FAILURE));
        let mut value = report(env);
        *value.pointer_mut(FIELDS[at]).unwrap() = json!(hostile(FIELD));
        *value.pointer_mut("/cases/0/failure_summary").unwrap() = json!(failure);
        // What is refused is told to nobody.
        let Ok(told) = Told::of(&Claim::new(value)) else { return Ok(()) };
        let (cases, profile) = (cases(), profile(tracker));
        let inputs = Inputs { told: &told, cases: &cases, profile: Some(&profile), specs: &BTreeMap::new() };
        let known = if is_known { known(&signature(&CaseId::parse(ID).unwrap(), &failure)) } else { json!({}) };
        let Ok(filed) = bugs(inputs, &[ID.to_owned()], &ledger(&known)) else { return Ok(()) };
        prop_assert_eq!(filed.comment.len(), usize::from(is_known && tracker != "none"));
        let mut all = serde_json::to_string(&filed).unwrap();
        if env != "prod" {
            // Where the failure may be told, it is told in its fence alone, and the registered URL as it is registered.
            let bodies = filed.create.iter().map(|bug| &bug.body).chain(filed.comment.iter().map(|one| &one.body));
            let bodies: Vec<String> = bodies.map(|body| outside_fences(body)).collect();
            all = bodies.join("\n").replace(&format!("https://{env}.shop.test"), "");
        }
        prop_assert!(!all.contains(FAILURE), "a failure's text in {}", all);
        for word in ["://", "/home/", "c:\\", "c:/", "\\\\host", "//host", "<script", "](", "\u{7}", "\u{202e}", "\u{2028}"] {
            prop_assert!(!all.to_lowercase().contains(word), "{:?} in {}", word, all);
        }
        if env == "prod" {
            for word in ["shop.test", "tester", "chromium-156", "storefront", "server"] {
                prop_assert!(!all.contains(word), "{} in {}", word, all);
            }
            prop_assert!(is_told_locally(FIELDS[at]) || !all.contains(FIELD), "{} of {} in {}", FIELD, FIELDS[at], all);
        }
    }

    #[test]
    fn no_failure_text_closes_its_fence(text in "[`~#<>a\\n ]{0,60}") {
        let mut told = told("qa");
        told.cases[0].failure = Some(format!("x{text}"));
        let (cases, profile) = (cases(), profile("clickup"));
        let inputs = Inputs { told: &told, cases: &cases, profile: Some(&profile), specs: &BTreeMap::new() };
        let body = &bugs(inputs, &[ID.to_owned()], &BugLedger::default()).unwrap().create[0].body;
        let after = body.split("## What failed\n\n").nth(1).unwrap();
        let fence = after.lines().next().unwrap();
        let inner = after.lines().skip(1).take_while(|line| *line != "## Steps to reproduce").collect::<Vec<_>>();
        let closing: Vec<usize> = inner.iter().enumerate().filter(|(_, line)| line.trim().starts_with(fence)).map(|(at, _)| at).collect();
        // The fence, then one blank line before the next section.
        prop_assert_eq!(closing, vec![inner.len() - 2], "{}", body);
    }
}
