//! `qa-pilot run` around commands that are no Playwright: what they get, what stays when they end, and how.

use crate::support::{Host, VersionServer, qa_pilot, told};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const BUILD: &str = r#"{"commit":"3f2a91c04be17d5566aa0f9b1c2d3e4f50617283"}"#;

fn run(host: &Host, script: &str) -> Command {
    let mut command = qa_pilot(
        host.path(),
        &["run", "--feature", "checkout", "--env", "qa", "--json", "--", "sh", "-c", script],
    );
    command.env("USER", "tester");
    command
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

fn outcome(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", told(output)))
}

/// Waits for `path` to be there and gives its text.
fn awaited(path: &Path) -> String {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        match fs_err::read_to_string(path) {
            Ok(text) if !text.is_empty() => return text,
            _ if Instant::now() > until => panic!("{} never came", path.display()),
            _ => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn is_alive(pid: &str) -> bool {
    // A zombie has ended; only its parent has not looked yet.
    fs_err::read_to_string(format!("/proc/{}/stat", pid.trim()))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

fn gone(pid: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while is_alive(pid) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    !is_alive(pid)
}

/// Whether a note of the run begins so.
fn noted(outcome: &Value, begin: &str) -> bool {
    outcome["notes"].as_array().unwrap().iter().any(|note| note.as_str().unwrap().starts_with(begin))
}

#[test]
fn the_command_finds_the_guard_and_what_it_may_write() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    let output = run(&host, "env > env.txt; test -s \"$NODE_EXTRA_CA_CERTS\" && test -d \"$QA_PILOT_FIXTURE_DIR\"; echo $? > checked.txt")
        .env("NO_PROXY", "intra.test")
        .env("QA_PILOT_MUTATION", r#"{"policy":"unrestricted"}"#)
        .env("PLAYWRIGHT_DISABLE_FORCED_CHROMIUM_PROXIED_LOOPBACK", "1")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    let env = fs_err::read_to_string(host.path().join("env.txt")).unwrap();
    let variable =
        |name: &str| env.lines().find_map(|line| line.strip_prefix(&format!("{name}="))).map(str::to_owned);
    assert_eq!(
        variable("QA_PILOT_MUTATION").as_deref(),
        Some(r#"{"policy":"read-only"}"#),
        "the cases file declares"
    );
    assert_eq!(variable("PLAYWRIGHT_DISABLE_FORCED_CHROMIUM_PROXIED_LOOPBACK"), None);
    assert_eq!(variable("QA_PILOT_FEATURE").as_deref(), Some("checkout"));
    assert!(variable("QA_PILOT_MUTATION_CONFIG").unwrap().contains("/orders$"));
    assert!(variable("NO_PROXY").unwrap().starts_with("intra.test,"));
    assert_eq!(variable("HTTPS_PROXY"), variable("QA_PILOT_RUN_PROXY"));
    for name in ["QA_PILOT_CONTROL", "QA_PILOT_TOKEN", "QA_PILOT_CA_SPKI", "QA_PILOT_RUN_PROXY"] {
        assert!(variable(name).is_some_and(|value| !value.is_empty()), "{name}");
    }
    assert_eq!(fs_err::read_to_string(host.path().join("checked.txt")).unwrap(), "0\n");
    let run_dir = &host.runs()[0];
    assert_eq!(variable("QA_PILOT_RUN_DIR").as_deref(), run_dir.canonicalize().unwrap().to_str());

    let meta = json(&run_dir.join("meta.json"));
    for (key, value) in [
        ("run_kind", "verdict"),
        ("feature", "checkout"),
        ("app", "storefront"),
        ("env_name", "qa"),
        ("env_kind", "qa"),
        ("api_mode", "server"),
        ("sha_before", "3f2a91c04be17d5566aa0f9b1c2d3e4f50617283"),
        ("sha_after", "3f2a91c04be17d5566aa0f9b1c2d3e4f50617283"),
        ("sha_format", "commit"),
        ("evidence_capture", "always"),
        ("mutation_policy", "read-only"),
        ("executor", "tester"),
        ("model_version", "model-a"),
    ] {
        assert_eq!(meta[key], value, "{key}");
    }
    assert!(json(&run_dir.join("spec-shas.json"))["CHECKOUT-ORDER-001"].is_string());
    assert_eq!(json(&run_dir.join("statuses.json"))["CHECKOUT-ORDER-001"], "Approved for Execution");
    let outcome = outcome(&output);
    assert_eq!(outcome["publishable"], false);
    assert!(noted(&outcome, "the command left no results.json; let it write"), "{outcome}");
}

#[test]
fn records_name_the_run_that_they_are_of() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    let script = "echo \"$QA_PILOT_CONTROL $QA_PILOT_TOKEN $QA_PILOT_RUN_DIR\" > told; while ! test -e go; do sleep 0.05; done";
    let child = run(&host, script).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let variables = awaited(&host.path().join("told"));
    let [control, token, run_dir] = variables.split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("{variables}")
    };
    let body = serde_json::json!({
        "test_id": "t1", "retry": 0, "title": "CHECKOUT-ORDER-001 pays", "project": "chromium", "worker_index": 0,
        "parallel_index": 0, "output_dir": format!("{run_dir}/test-results/t1")
    })
    .to_string();
    let (address, path) = control.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "POST /{path}/attempts HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
    fs_err::write(host.path().join("go"), "").unwrap();
    child.wait_with_output().unwrap();
    // The attempt was never finished; its record says whose it is all the same.
    let record = json(&Path::new(run_dir).join("unfinished/t1-r0/writes.json"));
    assert_eq!(record["attempt"]["run_id"].as_str(), Path::new(run_dir).file_name().unwrap().to_str());
}

#[test]
fn without_a_build_id_nothing_runs() {
    let host = Host::new("127.0.0.1:1".parse().unwrap());
    let output = run(&host, "touch ran").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("cannot read the deployed build from http://127.0.0.1:1/version.json"),
        "{stderr}"
    );
    assert!(host.runs().is_empty() && !host.path().join("ran").exists());

    let version = VersionServer::start(r#"{"commit":"not a commit"}"#);
    let host = Host::new(version.address);
    let output = run(&host, "touch ran").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("which is no commit"), "{}", told(&output));
}

#[test]
fn input_faults_name_the_mend_and_run_nothing() {
    let version = VersionServer::start(BUILD);
    let with = |change: &dyn Fn(&Host), arguments: &[&str]| {
        let host = Host::new(version.address);
        change(&host);
        let output = qa_pilot(host.path(), arguments).env("USER", "tester").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {}", told(&output));
        assert!(host.runs().is_empty());
        String::from_utf8(output.stderr).unwrap()
    };
    let nothing = |_: &Host| {};
    let command = ["--", "true"];
    let of = |feature: &'static str, env: &'static str| {
        ["run", "--feature", feature, "--env", env].into_iter().chain(command).collect::<Vec<_>>()
    };
    assert!(with(&nothing, &of("checkout", "prod")).contains("environment `prod` is not registered"));
    assert!(with(&nothing, &of("../x", "qa")).contains("must be the name of a folder"));
    assert!(with(&nothing, &of("none", "qa")).contains("no such file"));
    assert!(
        with(&|host| host.write("qa-pilot.config.yaml", "projct: x"), &of("checkout", "qa"))
            .contains("projct")
    );
    assert!(
        with(
            &|host| fs_err::remove_file(host.path().join("testing/checkout/statuses.json")).unwrap(),
            &of("checkout", "qa")
        )
        .contains("no statuses file")
    );
    assert!(
        with(
            &|host| host.write("testing/checkout/cases.yaml", "feature: other\nmodel_version: model-a\n"),
            &of("checkout", "qa")
        )
        .contains("must be `checkout`")
    );
    assert!(
        with(
            &|host| host.write(
                "testing/checkout/cases.yaml",
                "feature: checkout\nmutation: { policy: scoped-write }\n"
            ),
            &of("checkout", "qa")
        )
        .contains("mutation.prefix")
    );
    assert!(
        with(
            &nothing,
            &[
                "run",
                "--feature",
                "checkout",
                "--env",
                "qa",
                "--",
                "npx",
                "playwright",
                "test",
                "--trace=off"
            ]
        )
        .contains("evidence.capture")
    );
    assert!(
        with(&nothing, &["run", "--feature", "checkout", "--env", "qa", "--app", "x", "--", "true"])
            .contains("has no app `x`")
    );
    assert!(with(&nothing, &["run", "--feature", "checkout", "--env", "qa"]).contains("required"));
    assert!(
        with(
            &nothing,
            &["run", "--feature", "checkout", "--env", "qa", "--upstream-ca", "none.pem", "--", "true"]
        )
        .contains("none.pem")
    );
    let told = with(
        &nothing,
        &[
            "run",
            "--feature",
            "checkout",
            "--env",
            "qa",
            "--upstream-proxy",
            "https://u:secret@p.test:1",
            "--",
            "true",
        ],
    );
    assert!(told.contains("TLS to the proxy itself is not supported") && !told.contains("secret"), "{told}");
}

#[test]
fn the_build_is_read_through_the_companys_proxy_and_its_password_stays_here() {
    // Whatever is asked of it in absolute form, this server answers with the build.
    let company = VersionServer::start(BUILD);
    let host = Host::new(company.address);
    let profile = fs_err::read_to_string(host.path().join("qa-pilot.config.yaml")).unwrap();
    host.write("qa-pilot.config.yaml", &profile.replace(&company.address.to_string(), "qa.shop.test"));
    let mut command = run(&host, "env > \"$QA_PILOT_RUN_DIR/env.txt\"");
    let url = format!("http://u:secret@{}", company.address);
    let output = command.env("QA_PILOT_UPSTREAM_PROXY", &url).output().unwrap();
    assert_ne!(output.status.code(), Some(2), "{}", told(&output));
    let directory = &host.runs()[0];
    assert_eq!(json(&directory.join("meta.json"))["sha_before"], "3f2a91c04be17d5566aa0f9b1c2d3e4f50617283");
    for file in walkdir::WalkDir::new(directory).into_iter().map(|entry| entry.unwrap()) {
        if file.file_type().is_file() {
            let text = String::from_utf8_lossy(&fs_err::read(file.path()).unwrap()).into_owned();
            assert!(!text.contains("secret") && !text.contains("dTpzZWNyZXQ="), "{}", file.path().display());
        }
    }
    assert!(!told(&output).contains("secret"), "{}", told(&output));
}

#[test]
fn a_build_that_cannot_be_read_afterwards_refuses() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    let mut child = run(&host, "touch started; while ! test -e go; do sleep 0.05; done; printf '{\"suites\":[]}' > \"$QA_PILOT_RUN_DIR/results.json\"")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while !host.path().join("started").exists()
        && Instant::now() < until
        && child.try_wait().unwrap().is_none()
    {
        std::thread::sleep(Duration::from_millis(20));
    }
    version.set("{}");
    host.write("go", "");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    let outcome = outcome(&output);
    let codes: Vec<&str> = outcome["refusals"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|refusal| refusal["code"].as_str())
        .collect();
    assert!(codes.contains(&"commit_sha"), "{outcome}");
    assert!(noted(&outcome, "after the run: "), "{outcome}");
}

#[test]
fn a_build_that_changes_blocks_every_case() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    let mut child = run(&host, "touch started; while ! test -e go; do sleep 0.05; done; printf '{\"suites\":[]}' > \"$QA_PILOT_RUN_DIR/results.json\"")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    awaited_file(&host.path().join("started"), &mut child);
    version.set(r#"{"commit":"aaaaaaabbbb"}"#);
    host.write("go", "");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    let meta = json(&host.runs()[0].join("meta.json"));
    assert_eq!(
        (meta["sha_before"].as_str(), meta["sha_after"].as_str()),
        (Some("3f2a91c04be17d5566aa0f9b1c2d3e4f50617283"), Some("aaaaaaabbbb"))
    );
    assert_eq!(json(&host.runs()[0].join("report.json"))["sha_mismatch"], true);
}

fn awaited_file(path: &Path, child: &mut Child) {
    let until = Instant::now() + Duration::from_secs(20);
    while !path.exists() && Instant::now() < until && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_interrupted_run_is_cleared_up_and_refused() {
    let version = VersionServer::start(BUILD);
    for (signal, exit) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let host = Host::new(version.address);
        // The grandchild ignores signals and leads a session of its own, as a browser might.
        let script = format!(
            "trap 'echo {signal} > trapped; exit 7' {signal}; setsid sh -c 'trap \"\" TERM INT HUP; echo $$ > stray; while :; do sleep 0.1; done' & \
             printf '{{\"suites\":[]}}' > \"$QA_PILOT_RUN_DIR/results.json\"; echo $$ > pid; while :; do sleep 0.05; done"
        );
        let child = run(&host, &script).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (pid, stray) = (awaited(&host.path().join("pid")), awaited(&host.path().join("stray")));
        assert!(
            Command::new("kill")
                .args([format!("-{signal}"), child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(exit), "{}", told(&output));
        assert_eq!(awaited(&host.path().join("trapped")).trim(), signal);
        assert!(!is_alive(&pid) && !is_alive(&stray), "{signal}: nothing is left");
        let run_dir = &host.runs()[0];
        assert_eq!(json(&run_dir.join("meta.json"))["run_kind"], Value::Null);
        let outcome = outcome(&output);
        assert_eq!(outcome["publishable"], false);
        let codes: Vec<&str> = outcome["refusals"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|refusal| refusal["code"].as_str())
            .collect();
        assert!(codes.contains(&"run_kind"), "{outcome}");
        let half: Vec<_> = walkdir::WalkDir::new(run_dir)
            .into_iter()
            .map(|entry| entry.unwrap().path().to_owned())
            .filter(|path| path.extension().is_some_and(|extension| extension == "tmp"))
            .collect();
        assert!(half.is_empty(), "{half:?}");
    }
}

#[test]
fn a_wrapper_that_is_killed_takes_the_command_along() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    let mut child = run(&host, "echo $$ > pid; while :; do sleep 0.05; done")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = awaited(&host.path().join("pid"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(gone(&pid), "the command went on without its guard");
    assert!(!host.runs()[0].join("meta.json").exists(), "nothing to make a report of");
}

#[test]
fn what_the_command_leaves_behind_is_ended() {
    let version = VersionServer::start(BUILD);
    // A process of its own session; one below two shells that go first; one whose parent ignores being asked.
    for stray in [
        "setsid sh -c 'echo $$ > stray; sleep 300'",
        "setsid sh -c 'sh -c \"sh -c \\\"echo \\\\\\$\\\\\\$ > stray; sleep 300; :\\\"; :\"; :'",
        "setsid sh -c 'trap \"\" TERM; echo $$ > stray; sleep 300; sleep 1'",
    ] {
        let host = Host::new(version.address);
        let script = format!("{stray} >/dev/null 2>&1 & while ! test -s stray; do sleep 0.02; done; exit 3");
        let output = run(&host, &script).output().unwrap();
        let outcome = outcome(&output);
        assert_eq!(outcome["command_status"], 3, "{}", told(&output));
        assert!(noted(&outcome, "the command ended with exit status: 3"), "{outcome}");
        let pid = awaited(&host.path().join("stray"));
        assert!(!is_alive(&pid), "{stray}");
        let left = Command::new("pgrep").args(["-P", pid.trim()]).output().unwrap();
        assert!(left.stdout.is_empty(), "{stray} left {}", String::from_utf8_lossy(&left.stdout));
    }
}

#[test]
fn a_signal_after_the_command_ended_interrupts_as_well() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    let mut child = run(&host, "touch started; while ! test -e go; do sleep 0.05; done; touch ended")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    awaited_file(&host.path().join("started"), &mut child);
    version.stall();
    host.write("go", "");
    awaited_file(&host.path().join("ended"), &mut child);
    std::thread::sleep(Duration::from_millis(700));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{}", told(&output));
    assert_eq!(json(&host.runs()[0].join("meta.json"))["run_kind"], Value::Null);
}

#[test]
fn without_signatures_a_run_says_that_nothing_counts_as_a_write() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    let profile = fs_err::read_to_string(host.path().join("qa-pilot.config.yaml")).unwrap();
    host.write("qa-pilot.config.yaml", profile.split("mutation:").next().unwrap());
    let output = run(&host, "true").output().unwrap();
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("declares no write signature"),
        "{}",
        told(&output)
    );
}

#[test]
fn a_command_that_is_not_there_says_so() {
    let version = VersionServer::start(BUILD);
    let host = Host::new(version.address);
    let output =
        qa_pilot(host.path(), &["run", "--feature", "checkout", "--env", "qa", "--", "no-such-program"])
            .env("USER", "tester")
            .output()
            .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("cannot run `no-such-program`"),
        "{}",
        told(&output)
    );
}
