//! `qa-pilot merge`: the runs of shards become one run that reports and gates, and nothing slips in between.

use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};

use crate::run_dir::{RUN, RUN_ID, RunDir};
use crate::support::{qa_pilot, told};

const RUNS: &str = "testing/checkout/runs";
/// The tests of each shard. Case 6 runs in both, and so does the set-up of `order`.
const SHARDS: [&[usize]; 2] = [&[0, 1, 2, 3, 4, 5, 11, 12], &[5, 6, 7, 8, 9, 10, 11]];

fn shard_id(number: usize) -> String {
    format!("20261130T10150{number}Z-checkout-3f2a91c")
}

/// The clean run, taken apart into two shards with runs of their own.
struct Shards(RunDir);

impl Shards {
    fn new() -> Self {
        let run = RunDir::new();
        let whole = run.read_json(&format!("{RUN}/results.json"));
        for (index, tests) in SHARDS.iter().enumerate() {
            let id = shard_id(index + 1);
            let own = format!("{RUNS}/{id}");
            let mut results = whole.clone();
            let specs = whole["suites"][0]["specs"].as_array().unwrap();
            results["suites"][0]["specs"] = tests.iter().map(|test| specs[*test].clone()).collect();
            results["config"]["shard"] = json!({ "current": index + 1, "total": 2 });
            run.write(&format!("{own}/results.json"), results.to_string().replace(RUN_ID, &id).as_bytes());
            let mut meta = run.read_json(&format!("{RUN}/meta.json"));
            meta["run_id"] = json!(id);
            meta["started_at"] = json!(format!("2026-11-30T10:15:0{}Z", index + 1));
            meta["finished_at"] = json!(format!("2026-11-30T10:16:0{}Z", 9 - index));
            run.write_json(&format!("{own}/meta.json"), &meta);
            let statuses = fs_err::read(run.run_dir().join("statuses.json")).unwrap();
            run.write(&format!("{own}/statuses.json"), &statuses);
            run.write_json(
                &format!("{own}/spec-shas.json"),
                &json!({ "CHECKOUT-ORDER-001": "0011223344556677" }),
            );
            // A record in `fixtures` is of no attempt.
            run.write(&format!("{own}/fixtures/writes.json"), b"{}");
            for test in *tests {
                let trace = format!("test-results/t{test}/trace.zip");
                let bytes = fs_err::read(run.run_dir().join(&trace)).unwrap();
                run.write(&format!("{own}/{trace}"), &bytes);
                for path in [
                    format!("test-results/t{test}/writes.json"),
                    format!("test-results/t{test}/attachments/writes-json-{test}.json"),
                ] {
                    let mut record = run.read_json(&format!("{RUN}/{path}"));
                    record["attempt"]["run_id"] = json!(id);
                    run.write_json(&format!("{own}/{path}"), &record);
                }
            }
        }
        fs_err::remove_dir_all(run.run_dir()).unwrap();
        Self(run)
    }

    fn file(&self, number: usize, name: &str) -> String {
        format!("{RUNS}/{}/{name}", shard_id(number))
    }

    /// Changes a JSON file.
    fn change(&self, file: &str, change: impl FnOnce(&mut Value)) {
        let mut value = self.0.read_json(file);
        change(&mut value);
        self.0.write_json(file, &value);
    }

    fn merge(&self, numbers: &[usize]) -> Output {
        let into = format!("{RUNS}/merged");
        let shards: Vec<String> = numbers.iter().map(|number| self.file(*number, "")).collect();
        let mut arguments = vec!["merge", "--into", &into];
        arguments.extend(shards.iter().map(String::as_str));
        qa_pilot(self.0.path(), &arguments).output().unwrap()
    }

    fn merged(&self) -> PathBuf {
        self.0.path().join(RUNS).join("merged")
    }

    /// Reports and gates the merged run: the gate's decision.
    fn gate(&self) -> Value {
        let file = |name: &str| format!("{RUNS}/merged/{name}");
        let (results, meta) = (file("results.json"), file("meta.json"));
        let output = qa_pilot(self.0.path(), &["report", &results, &meta]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        self.gate_again()
    }

    fn gate_again(&self) -> Value {
        let file = |name: &str| format!("{RUNS}/merged/{name}");
        let (report, statuses) = (file("report.json"), file("statuses.json"));
        let arguments = [
            "gate",
            &report,
            "--profile",
            "qa-pilot.config.yaml",
            "--statuses",
            &statuses,
            "--cases",
            "testing/checkout/cases.yaml",
            "--format",
            "json",
        ];
        let output = qa_pilot(self.0.path(), &arguments).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", told(&output)))
    }
}

fn codes(decision: &Value) -> Vec<&str> {
    decision["refusals"].as_array().unwrap().iter().map(|refusal| refusal["code"].as_str().unwrap()).collect()
}

#[test]
fn shards_become_one_run_that_gates() {
    let shards = Shards::new();
    let output = shards.merge(&[2, 1]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), shards.merged().to_str().unwrap());
    let decision = shards.gate();
    assert_eq!((&decision["publishable"], codes(&decision)), (&json!(true), vec![]), "{decision:#}");

    let report = shards.0.read_json(&format!("{RUNS}/merged/report.json"));
    assert_eq!(report["run_id"], "20261130T101501Z-checkout-3f2a91c-merged");
    assert_eq!(report["started_at"], "2026-11-30T10:15:01Z");
    assert_eq!(report["finished_at"], "2026-11-30T10:16:09Z", "the first shard ended last");
    assert_eq!(report["summary"], json!({ "pass": 11, "fail": 0, "flaky": 0, "blocked": 0 }));
    assert_eq!(report["cases"][0]["spec_sha"], "0011223344556677");
    let paths = &report["cases"][5]["writes"]["paths"];
    let expected = [1, 2].map(|n| format!("shard-{n}/test-results/t5/attachments/writes-json-5.json"));
    assert_eq!(*paths, json!(expected), "a case that ran in two shards is one case");
    for number in [1, 2] {
        for name in ["results.json", "test-results/t5/trace.zip", "test-results/t5/writes.json"] {
            let before = fs_err::read(shards.0.path().join(shards.file(number, name))).unwrap();
            let after = fs_err::read(shards.merged().join(format!("shard-{number}/{name}"))).unwrap();
            assert_eq!(before, after, "{name} of shard {number}");
        }
    }
}

#[test]
fn a_merged_run_may_move() {
    let shards = Shards::new();
    assert_eq!(shards.merge(&[1, 2]).status.code(), Some(0));
    assert_eq!(codes(&shards.gate()), Vec::<&str>::new());
    // The shards' own directories are gone, and so is the place where they were merged.
    for number in [1, 2] {
        fs_err::remove_dir_all(shards.0.path().join(shards.file(number, ""))).unwrap();
    }
    let elsewhere = shards.0.path().join("downloaded");
    fs_err::rename(shards.merged(), &elsewhere).unwrap();
    fs_err::create_dir_all(shards.0.path().join(RUNS)).unwrap();
    fs_err::rename(&elsewhere, shards.0.path().join(RUNS).join("merged")).unwrap();
    assert_eq!(codes(&shards.gate()), Vec::<&str>::new());
}

#[test]
fn a_failure_in_one_shard_is_the_cases_failure() {
    let shards = Shards::new();
    shards.change(&shards.file(2, "results.json"), |results| {
        let attempt = &mut results["suites"][0]["specs"][0]["tests"][0]["results"][0];
        attempt["status"] = json!("failed");
        attempt["error"] = json!({ "message": "no total" });
    });
    assert_eq!(shards.merge(&[1, 2]).status.code(), Some(0));
    let decision = shards.gate();
    assert_eq!(codes(&decision), Vec::<&str>::new(), "{decision:#}");
    let report = shards.0.read_json(&format!("{RUNS}/merged/report.json"));
    assert_eq!(
        (&report["cases"][5]["verdict"], &report["cases"][5]["failure_summary"]),
        (&json!("fail"), &json!("no total"))
    );
}

#[test]
fn shards_that_are_not_one_run_are_refused() {
    type Change = fn(&Shards);
    let table: [(&str, &[usize], Change); 15] = [
        ("shard 2 of 2 is missing", &[1], |_| {}),
        ("are both shard 1", &[1, 1], |_| {}),
        ("feature is \"checkout\" in", &[1, 2], |s| meta(s, "feature", json!("cart"))),
        ("env_name is \"qa\" in", &[1, 2], |s| meta(s, "env_name", json!("staging"))),
        ("sha_after is", &[1, 2], |s| {
            meta(s, "sha_after", json!("77aa91c04be17d5566aa0f9b1c2d3e4f50617283"))
        }),
        ("mutation_policy is", &[1, 2], |s| meta(s, "mutation_policy", json!("unrestricted"))),
        ("mutation_prefix is", &[1, 2], |s| meta(s, "mutation_prefix", json!("QB_"))),
        ("run_kind is \"verdict\" in", &[1, 2], |s| meta(s, "run_kind", Value::Null)),
        ("started_at of", &[1, 2], |s| meta(s, "started_at", json!("yesterday"))),
        ("is no shard: it ran without --shard", &[1, 2], |s| shard(s, Value::Null)),
        ("was another shard when it ran", &[1, 2], |s| meta(s, "shard", json!({ "current": 1, "total": 2 }))),
        ("are both shard 1", &[1, 2], |s| shard(s, json!({ "current": 1, "total": 2 }))),
        ("different numbers of shards", &[1, 2], |s| shard(s, json!({ "current": 2, "total": 3 }))),
        ("started with different statuses", &[1, 2], |s| {
            s.change(&s.file(2, "statuses.json"), |statuses| {
                statuses["CHECKOUT-ORDER-001"] = json!("Rejected")
            });
        }),
        ("the spec of CHECKOUT-ORDER-001 is another one", &[1, 2], |s| {
            s.0.write_json(
                &s.file(2, "spec-shas.json"),
                &json!({ "CHECKOUT-ORDER-001": "ffff223344556677" }),
            );
        }),
    ];
    for (why, numbers, change) in table {
        let shards = Shards::new();
        change(&shards);
        let output = shards.merge(numbers);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && stderr.contains(why), "{why}: {}", told(&output));
        assert!(output.stdout.is_empty() && !shards.merged().exists(), "{why}");
        let left = fs_err::read_dir(shards.0.path().join(RUNS)).unwrap().count();
        assert_eq!(left, 2, "{why}: nothing is left behind");
    }
}

fn meta(shards: &Shards, key: &str, value: Value) {
    shards.change(&shards.file(2, "meta.json"), |meta| meta[key] = value);
}

fn shard(shards: &Shards, value: Value) {
    shards.change(&shards.file(2, "results.json"), |results| results["config"]["shard"] = value);
}

#[test]
fn input_faults_are_exit_2_and_leave_nothing() {
    let shards = Shards::new();
    fs_err::create_dir_all(shards.merged()).unwrap();
    assert_eq!(shards.merge(&[1, 2]).status.code(), Some(2), "it is there already");
    fs_err::remove_dir(shards.merged()).unwrap();
    let into = format!("{}/merged", shards.file(1, ""));
    let output =
        qa_pilot(shards.0.path(), &["merge", "--into", &into, &shards.file(1, ""), &shards.file(2, "")])
            .output();
    assert_eq!(output.unwrap().status.code(), Some(2), "it would lie in a shard");
    #[cfg(unix)]
    {
        let link = shards.0.path().join(shards.file(2, "test-results/link"));
        fs_err::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
        assert_eq!(shards.merge(&[1, 2]).status.code(), Some(2), "a link is not copied");
        fs_err::remove_file(link).unwrap();
    }
    fs_err::remove_file(shards.0.path().join(shards.file(2, "results.json"))).unwrap();
    assert_eq!(shards.merge(&[1, 2]).status.code(), Some(2));
    assert_eq!(fs_err::read_dir(shards.0.path().join(RUNS)).unwrap().count(), 2);
}

#[test]
fn a_merged_run_that_is_not_its_shards_is_refused() {
    let merged = |name: &str| format!("{RUNS}/merged/{name}");
    type Change<'a> = &'a dyn Fn(&Shards);
    let edit_top: Change<'_> = &|s| {
        // A failure in a shard, hidden in the merged report.
        s.change(&merged("shard-2/results.json"), |results| {
            results["suites"][0]["specs"][1]["tests"][0]["results"][0]["status"] = json!("failed");
        });
    };
    let drop_attempt: Change<'_> = &|s| {
        s.change(&merged("results.json"), |results| {
            results["suites"][1]["specs"].as_array_mut().unwrap().remove(0);
        });
        for path in ["attachments/writes-json-5.json", "writes.json"] {
            fs_err::remove_file(s.merged().join("shard-2/test-results/t5").join(path)).unwrap();
        }
    };
    let one_shard_less: Change<'_> = &|s| {
        s.change(&merged("meta.json"), |meta| drop(meta["shards"].as_array_mut().unwrap().remove(1)));
        s.change(&merged("results.json"), |results| {
            drop(results["suites"].as_array_mut().unwrap().remove(1))
        });
        fs_err::remove_dir_all(s.merged().join("shard-2")).unwrap();
    };
    let no_shards: Change<'_> =
        &|s| s.change(&merged("meta.json"), |meta| drop(meta.as_object_mut().unwrap().remove("shards")));
    let other_run: Change<'_> = &|s| {
        for path in ["attachments/writes-json-7.json", "writes.json"] {
            s.change(&merged(&format!("shard-2/test-results/t7/{path}")), |record| {
                record["attempt"]["run_id"] = json!("EARLIER")
            });
        }
    };
    let stray: Change<'_> = &|s| s.0.write(&merged("shard-1/test-results/x/writes.json"), b"{}");
    let statuses: Change<'_> =
        &|s| s.change(&merged("statuses.json"), |statuses| statuses["CHECKOUT-ORDER-001"] = json!("Retest"));
    let linked: Change<'_> = &|s| {
        let copy = s.merged().join("shard-2");
        fs_err::rename(&copy, s.0.path().join("away")).unwrap();
        fs_err::os::unix::fs::symlink(s.0.path().join("away"), copy).unwrap();
    };
    for (why, change) in [
        ("a failure hidden", edit_top),
        ("an attempt dropped", drop_attempt),
        ("a shard dropped", one_shard_less),
        ("shards forgotten", no_shards),
        ("a record of an earlier run", other_run),
        ("a stray", stray),
        ("other statuses", statuses),
        ("a shard that lies elsewhere", linked),
    ] {
        let shards = Shards::new();
        assert_eq!(shards.merge(&[1, 2]).status.code(), Some(0));
        change(&shards);
        let decision = shards.gate();
        assert!(codes(&decision).contains(&"rule 1b"), "{why}: {decision:#}");
    }
}

#[test]
fn the_gate_reads_the_same_twice() {
    let shards = Shards::new();
    shards.merge(&[1, 2]);
    assert_eq!(shards.gate(), shards.gate_again());
}

#[test]
fn suites_that_nest_deep_and_paths_of_windows_merge() {
    let shards = Shards::new();
    let results = shards.file(2, "results.json");
    shards.change(&results, |results| {
        for attachment in results["suites"][0]["specs"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .flat_map(|spec| spec["tests"][0]["results"][0]["attachments"].as_array_mut().unwrap())
        {
            let path = attachment["path"].as_str().unwrap();
            let (_, inner) = path.split_once(&shard_id(2)).unwrap();
            attachment["path"] = json!(format!("C:\\ci\\{}{}", shard_id(2), inner.replace('/', "\\")));
        }
    });
    // Written as text: a value of that depth is more than the stack of a test holds.
    let own = fs_err::read_to_string(shards.0.path().join(&results)).unwrap();
    let value: Value = serde_json::from_str(&own).unwrap();
    let deep = r#"{"title":"d","own":{"é":1e400},"suites":["#.repeat(300);
    let text = format!(
        "\u{feff}{{\"config\":{},\"stats\":{{}},\"suites\":[{deep}{}{}]}}",
        value["config"],
        value["suites"][0],
        "]}".repeat(300)
    );
    shards.0.write(&results, text.as_bytes());
    let output = shards.merge(&[1, 2]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let merged = fs_err::read_to_string(shards.merged().join("results.json")).unwrap();
    assert!(merged.contains(&deep), "what is not read stands as it stood");
    assert!(
        !merged.contains("ci\\\\") && merged.contains("\"shard-2/test-results/t8/trace.zip\""),
        "{merged}"
    );
    assert_eq!(shards.gate()["refusals"], json!([]));
}
