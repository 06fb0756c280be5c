//! The ledgers by the commands that write them: whatever lies there, and whoever else writes.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{qa_pilot, told};

const CASES: usize = 8;

fn id(index: usize) -> String {
    format!("CHECKOUT-ORDER-{index:03}")
}

fn is_pass(index: usize) -> bool {
    index.is_multiple_of(2)
}

/// A feature whose even cases passed and whose odd ones failed.
fn feature() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let case = |index: usize| {
        json!({ "id": id(index), "verdict": if is_pass(index) { "pass" } else { "fail" },
                "spec_sha": format!("{index:016}"), "failure_summary": format!("Error {}: x", "y".repeat(index)) })
    };
    let report = json!({ "run_id": "r-1", "feature": "checkout", "env_name": "qa", "env_kind": "qa", "commit_sha": "3f2a91c",
                         "cases": (0..CASES).map(case).collect::<Vec<_>>() });
    write(folder.path(), "report.json", &report.to_string());
    let cases: Vec<Value> =
        (0..CASES).map(|index| json!({ "id": id(index), "title": "Pays", "priority": "P1" })).collect();
    write(folder.path(), "cases.yaml", &json!({ "feature": "checkout", "cases": cases }).to_string());
    write(folder.path(), "statuses.json", "{}");
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    fs_err::write(folder.join(name), text).unwrap();
}

/// The words of each command that writes a ledger, for the case with an index that fits it.
fn writers(ledger: &str, index: usize) -> [Vec<String>; 3] {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    let (even, odd) = (id(index & !1), id(index | 1));
    [
        words(&format!("cases approve --ids {even} --verdicts report.json --approved {ledger} --write")),
        words(&format!(
            "cases transitions --cases cases.yaml --statuses statuses.json --verdicts report.json --approved {ledger} --write"
        )),
        words(&format!(
            "bugs --report report.json --cases cases.yaml --confirmed {odd} --bugs {ledger} --write"
        )),
    ]
}

fn run(folder: &Path, words: &[String]) -> std::process::Output {
    qa_pilot(folder, &words.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap()
}

#[test]
fn what_is_no_ledger_is_an_input_fault_and_stays() {
    let folder = feature();
    let path = folder.path().join("ledger.json");
    for text in
        ["", "{", "[]", "null", "7", "\"x\"", r#"{"A": 1}"#, r#"{"A": null}"#, r#"{"A": "x", "A": "x"}"#]
    {
        for words in writers("ledger.json", 0) {
            fs_err::write(&path, text).unwrap();
            let output = run(folder.path(), &words);
            assert_eq!(output.status.code(), Some(2), "{text} {words:?}: {}", told(&output));
            assert!(output.stdout.is_empty(), "{text} {words:?}: {}", told(&output));
            assert!(told(&output).contains("ledger.json: cannot be used"), "{}", told(&output));
            assert_eq!(fs_err::read_to_string(&path).unwrap(), text);
        }
    }
}

#[test]
fn a_link_and_a_place_that_cannot_be_written_are_input_faults() {
    let folder = feature();
    let (link, target) = (folder.path().join("link.json"), folder.path().join("target.json"));
    fs_err::write(&target, "{}").unwrap();
    fs_err::os::unix::fs::symlink(&target, &link).unwrap();
    for (place, message) in [("link.json", "is a link"), ("/proc/ledger.json", "/proc")] {
        for words in writers(place, 0) {
            let output = run(folder.path(), &words);
            assert_eq!(output.status.code(), Some(2), "{words:?}: {}", told(&output));
            assert!(
                output.stdout.is_empty() && told(&output).contains(message),
                "{words:?}: {}",
                told(&output)
            );
        }
    }
    assert_eq!(fs_err::read_to_string(&target).unwrap(), "{}");
    assert!(fs_err::symlink_metadata(&link).unwrap().is_symlink());
    let printed = run(folder.path(), &writers("link.json", 0)[0][..8]);
    assert_eq!(printed.status.code(), Some(0), "what only reads may follow it: {}", told(&printed));
}

#[test]
fn nothing_is_lost_when_several_write() {
    let folder = feature();
    let (approved, bugs) = (writers("approved.json", 0), writers("bugs.json", 0));
    assert_eq!((approved[0][1].as_str(), bugs[2][0].as_str()), ("approve", "bugs"));
    std::thread::scope(|scope| {
        for index in 0..CASES {
            let folder = folder.path();
            let words = if is_pass(index) {
                writers("approved.json", index)[0].clone()
            } else {
                writers("bugs.json", index)[2].clone()
            };
            scope.spawn(move || {
                let output = run(folder, &words);
                assert_eq!(output.status.code(), Some(0), "{}", told(&output));
            });
        }
    });
    let keys = |name: &str| -> Vec<String> {
        let text = fs_err::read_to_string(folder.path().join(name)).unwrap();
        let ledger: Value = serde_json::from_str(&text).unwrap();
        let mut keys: Vec<String> = ledger.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    assert_eq!(keys("approved.json"), (0..CASES).step_by(2).map(id).collect::<Vec<_>>());
    assert_eq!(keys("bugs.json"), (1..CASES).step_by(2).map(id).collect::<Vec<_>>());
}
