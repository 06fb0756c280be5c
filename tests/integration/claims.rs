//! The report is a claim: whatever is changed in it, or in what it was derived from, the gate sees it.
//!
//! Each value of a clean run's report.json, results.json and records is replaced, one at a time, by values of every kind,
//! and taken out. What the gate may overlook is listed here by name; everything else must refuse. Nothing may panic.

use qa_pilot::gate::{self, Inputs};
use serde_json::{Value, json};

use crate::run_dir::{RUN, RunDir};

fn inputs(run: &RunDir) -> Inputs {
    let path = |name: &str| run.path().join(name);
    Inputs {
        report: path(&format!("{RUN}/report.json")),
        profile: path("qa-pilot.config.yaml"),
        statuses: Some(path(&format!("{RUN}/statuses.json"))),
        cases: Some(path("testing/checkout/cases.yaml")),
        map: Some(path("testing/checkout/map.json")),
        base: None,
    }
}

fn is_approved(run: &RunDir) -> bool {
    matches!(gate::run(&inputs(run)), Ok(Ok(_)))
}

/// Every place in a document: of lists only the first entry, for all are read alike.
fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| pointers(value, &format!("{at}/{key}"), out))
        }
        Value::Array(list) => {
            list.first().into_iter().for_each(|value| pointers(value, &format!("{at}/0"), out));
        }
        _ => {}
    }
}

fn kinds() -> [Value; 6] {
    [json!(null), json!(true), json!(1), json!("blocked"), json!("../../x"), json!([{ "a": [] }])]
}

/// The document with the value at a pointer taken out.
fn without(document: &Value, pointer: &str) -> Value {
    let mut copy = document.clone();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match copy.pointer_mut(parent).unwrap() {
        Value::Object(object) => drop(object.shift_remove(key)),
        Value::Array(list) => drop(list.remove(key.parse().unwrap())),
        other => panic!("{other} holds nothing"),
    }
    copy
}

#[test]
fn no_edit_of_the_report_goes_unseen() {
    let run = RunDir::new();
    run.report();
    let file = format!("{RUN}/report.json");
    let clean = run.read_json(&file);
    assert!(is_approved(&run));
    let mut all = Vec::new();
    pointers(&clean, "", &mut all);
    let mut unseen = Vec::new();
    for pointer in &all {
        let old = clean.pointer(pointer).unwrap();
        for kind in kinds().into_iter().filter(|kind| kind != old) {
            let mut edited = clean.clone();
            *edited.pointer_mut(pointer).unwrap() = kind.clone();
            run.write_json(&file, &edited);
            if is_approved(&run) && !means_the_same(pointer, old, &kind) {
                unseen.push(format!("{pointer}: {old} became {kind}"));
            }
        }
        if !pointer.is_empty() && !old.is_null() {
            run.write_json(&file, &without(&clean, pointer));
            if is_approved(&run) && !means_the_same(pointer, old, &Value::Null) {
                unseen.push(format!("{pointer}: {old} was taken out"));
            }
        }
    }
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}

/// A count of zero may be left out of the summary; so may an empty list, a flag that is false, and the default capture.
fn means_the_same(pointer: &str, old: &Value, new: &Value) -> bool {
    let may_be_absent = (pointer.starts_with("/summary/") && *old == json!(0))
        || (matches!(pointer, "/errors" | "/unmapped_specs") && *old == json!([]))
        || (pointer == "/sha_mismatch" && *old == json!(false))
        || (pointer == "/evidence_capture" && *old == json!("always"));
    may_be_absent && new.is_null()
}

#[test]
fn no_edit_of_what_the_report_was_derived_from_goes_unseen() {
    let record = format!("{RUN}/test-results/t3/attachments/writes-json-3.json");
    for file in [format!("{RUN}/results.json"), record] {
        let run = RunDir::new();
        run.report();
        let report = format!("{RUN}/report.json");
        let claim = run.read_json(&report);
        let clean = run.read_json(&file);
        let mut all = Vec::new();
        pointers(&clean, "", &mut all);
        let mut unseen = Vec::new();
        for pointer in all {
            for kind in kinds() {
                let mut edited = clean.clone();
                *edited.pointer_mut(&pointer).unwrap() = kind.clone();
                run.write_json(&file, &edited);
                if !is_approved(&run) {
                    continue;
                }
                // Approved means that it made no difference to what is derived.
                let (results, meta) = (run.run_dir().join("results.json"), run.run_dir().join("meta.json"));
                qa_pilot::report::write(&results, &meta, None, None).unwrap();
                if run.read_json(&report) != claim {
                    unseen.push(format!("{file} {pointer} became {kind}"));
                }
                run.write_json(&report, &claim);
            }
        }
        assert!(unseen.is_empty(), "{}", unseen.join("\n"));
    }
}

#[test]
fn no_kind_of_value_in_any_input_panics_the_gate() {
    let files = [
        "qa-pilot.config.yaml".to_owned(),
        "testing/checkout/cases.yaml".to_owned(),
        "testing/checkout/map.json".to_owned(),
        format!("{RUN}/statuses.json"),
        format!("{RUN}/meta.json"),
    ];
    for file in files {
        let run = RunDir::new();
        run.report();
        let clean = run.read_json(&file);
        let mut all = Vec::new();
        pointers(&clean, "", &mut all);
        for pointer in all {
            for kind in kinds() {
                let mut edited = clean.clone();
                *edited.pointer_mut(&pointer).unwrap() = kind;
                run.write_json(&file, &edited);
                let _ = gate::run(&inputs(&run));
            }
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]
    #[test]
    fn no_bytes_in_any_input_panic(bytes: Vec<u8>, which in 0usize..7) {
        let run = RunDir::new();
        run.report();
        let file = [
            "qa-pilot.config.yaml".to_owned(),
            "testing/checkout/cases.yaml".to_owned(),
            "testing/checkout/map.json".to_owned(),
            format!("{RUN}/statuses.json"),
            format!("{RUN}/report.json"),
            format!("{RUN}/results.json"),
            format!("{RUN}/test-results/t3/attachments/writes-json-3.json"),
        ][which].clone();
        run.write(&file, &bytes);
        proptest::prop_assert!(!is_approved(&run), "{} of {:?} was approved", file, bytes);
    }
}
