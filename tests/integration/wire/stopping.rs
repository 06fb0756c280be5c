//! How it starts, and how it ends: faults before a port is bound, unfinished attempts, signals.

use super::client::{Client, connect, tunnel};
use super::guard::{DRAIN_MS, Start, command, events, read};
use super::origin::Origin;
use serde_json::json;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;

#[test]
fn faults_of_input_are_one_line_and_exit_2() {
    let folder = tempfile::tempdir().unwrap();
    let run_dir = folder.path().join("run");
    let start = |policy: Option<&str>, config: Option<&str>, arguments: &[&str]| {
        let mut command = command(&Start::default(), &run_dir);
        command.args(arguments);
        policy.map(|policy| command.env("QA_PILOT_MUTATION", policy));
        config.map(|config| command.env("QA_PILOT_MUTATION_CONFIG", config));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stdout.is_empty());
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(told.lines().count(), 1, "{told}");
        told
    };
    assert!(start(Some("{"), None, &[]).contains("QA_PILOT_MUTATION"));
    assert!(start(Some(r#"{"policy":"none"}"#), None, &[]).contains("policy is \"none\""));
    assert!(start(Some(r#"{"policy":"scoped-write"}"#), None, &[]).contains("prefix"));
    let unknown = r#"{"write_signatures":[{"method":"POST","url":"("}]}"#;
    assert!(start(None, Some(unknown), &[]).contains("mutation.write_signatures[0].url"));
    assert!(start(None, None, &["--listen", "0.0.0.0:0"]).contains("only loopback"));
    assert!(start(None, None, &["--upstream-ca", "/none.pem"]).contains("/none.pem"));
    assert!(!run_dir.exists(), "nothing half-runs");
}

#[tokio::test]
async fn ready_is_one_line_and_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x/ready.json");
    let mut start = Start::default();
    start.arguments.extend(["--ready-file".into(), file.display().to_string()]);
    let mut guard = start.run();
    let ready = read(&file);
    let keys: Vec<_> = ready.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["proxy", "control", "token", "run_proxy", "ca", "ca_spki", "pid"]);
    assert_eq!(ready["token"].as_str(), Some(guard.text("token").as_str()));
    assert_eq!(ready["pid"], guard.pid());
    let pem = fs_err::read_to_string(guard.run_dir().join("ca.pem")).unwrap();
    assert!(pem.starts_with("-----BEGIN CERTIFICATE-----") && !pem.contains("PRIVATE"));
    let attempt = guard.begin("t1").await;
    assert_eq!(attempt.answer["policy"], "read-only", "unset is never unrestricted");
    assert!(guard.stop().success());
}

#[tokio::test]
async fn sigterm_leaves_records_of_unfinished_attempts() {
    let origin = Origin::clear().await;
    for signal in ["-TERM", "-INT"] {
        let mut guard =
            Start::policy("read-only").signatures(json!([{ "method": "POST", "url": "/orders" }])).run();
        let open = guard.begin_with(guard.begin_body("t1", 0, 0)).await;
        Client::clear(&open.proxy, &origin.authority()).await.send("POST", "/orders", &[], b"").await;
        guard.begin_with(guard.begin_body("t2", 1, 1)).await;
        let done = guard.begin_with(guard.begin_body("t3", 2, 2)).await;
        Client::clear(&done.proxy, &origin.authority()).await.send("GET", "/", &[], b"").await;
        assert_eq!(guard.finish(&done).await.0, 200);
        guard.signal(signal);
        assert_eq!(guard.wait().code(), Some(0));
        assert_eq!(
            guard.files(),
            [
                "ca.pem",
                "results/t3/writes.json",
                "unclassified.json",
                "unfinished/t1-r0/writes.json",
                "unfinished/t2-r0/writes.json"
            ]
        );
        let record = read(&guard.run_dir().join("unfinished/t1-r0/writes.json"));
        assert_eq!(events(&record).len(), 1);
    }
}

#[tokio::test]
async fn what_is_under_way_is_answered_before_it_ends() {
    let origin = Origin::clear().await;
    let mut guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let mut stream = tunnel(&attempt.proxy, &origin.authority()).await;
    let head = format!(
        "POST /x HTTP/1.1\r\nHost: {}\r\nContent-Length: 2\r\nConnection: close\r\n\r\na",
        origin.authority()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    guard.signal("-TERM");
    tokio::time::sleep(Duration::from_millis(100)).await;
    stream.write_all(b"b").await.unwrap();
    assert!(super::client::read_all(&mut stream).await.starts_with("HTTP/1.1 200 "));
    assert!(guard.wait().success());
}

#[tokio::test]
async fn an_open_stream_does_not_hold_the_end_up_and_a_second_signal_ends_at_once() {
    let origin = Origin::clear().await;
    let mut guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    let _open = client.begin("GET", "/events", &[], b"").await;
    let began = Instant::now();
    assert!(guard.stop().success());
    assert!(began.elapsed() < Duration::from_millis(DRAIN_MS + 1500), "{:?}", began.elapsed());

    let mut start = Start::policy("read-only");
    start.drain_ms = Some(15_000);
    let mut guard = start.run();
    let attempt = guard.begin("t1").await;
    let _held = connect(&attempt.proxy).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    guard.signal("-TERM");
    tokio::time::sleep(Duration::from_millis(200)).await;
    let began = Instant::now();
    guard.signal("-TERM");
    let status = guard.wait();
    assert_eq!((status.code(), status.signal()), (Some(143), None));
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[test]
fn the_death_of_the_parent_counts_as_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let (run_dir, ready) = (folder.path().join("run"), folder.path().join("ready.json"));
    let script = format!(
        "{} proxy --run-dir {} --ready-file {} --exit-with-parent --drain-ms 100 >/dev/null & while [ ! -s {} ]; do sleep 0.05; done",
        env!("CARGO_BIN_EXE_qa-pilot"),
        run_dir.display(),
        ready.display(),
        ready.display()
    );
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
    let process = format!("/proc/{}", read(&ready)["pid"]);
    let began = Instant::now();
    while std::path::Path::new(&process).exists() {
        assert!(began.elapsed() < Duration::from_secs(10), "it outlives its parent");
        std::thread::sleep(Duration::from_millis(20));
    }
}
