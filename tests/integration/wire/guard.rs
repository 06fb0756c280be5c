//! A running `qa-pilot proxy`, and its control API.

use super::client;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How long anything here may take before a test fails.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Drains are short in tests.
pub(super) const DRAIN_MS: u64 = 600;

pub(super) struct Guard {
    child: Child,
    ready: Value,
    folder: tempfile::TempDir,
}

/// How to start one.
#[derive(Default)]
pub(super) struct Start {
    pub(super) policy: Option<Value>,
    pub(super) config: Option<Value>,
    pub(super) arguments: Vec<String>,
    pub(super) drain_ms: Option<u64>,
    /// What a shell does before it becomes the guard.
    pub(super) shell: Option<&'static str>,
}

pub(super) struct Attempt {
    pub(super) id: String,
    pub(super) proxy: String,
    pub(super) secret: String,
    pub(super) answer: Value,
}

/// The command with a clean environment.
pub(super) fn command(start: &Start, run_dir: &Path) -> Command {
    let binary = env!("CARGO_BIN_EXE_qa-pilot");
    let mut command = match start.shell {
        None => Command::new(binary),
        Some(first) => {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("{first}; exec \"$0\" \"$@\""), binary]);
            command
        }
    };
    command
        .arg("proxy")
        .arg("--run-dir")
        .arg(run_dir)
        .args(["--drain-ms", &start.drain_ms.unwrap_or(DRAIN_MS).to_string()]);
    command.args(&start.arguments).env_remove("QA_PILOT_MUTATION").env_remove("QA_PILOT_MUTATION_CONFIG");
    if let Some(policy) = &start.policy {
        command.env("QA_PILOT_MUTATION", policy.to_string());
    }
    if let Some(config) = &start.config {
        command.env("QA_PILOT_MUTATION_CONFIG", config.to_string());
    }
    command
}

impl Start {
    pub(super) fn policy(policy: &str) -> Self {
        let policy = match policy {
            "scoped-write" => json!({ "policy": policy, "prefix": "QA_TEST_" }),
            _ => json!({ "policy": policy }),
        };
        Self { policy: Some(policy), ..Self::default() }
    }

    pub(super) fn signatures(mut self, signatures: Value) -> Self {
        self.config = Some(json!({ "write_signatures": signatures }));
        self
    }

    pub(super) fn with(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(ToString::to_string));
        self
    }

    pub(super) fn trusting(mut self, ca: &Path) -> Self {
        self.arguments.extend(["--upstream-ca".into(), ca.display().to_string()]);
        self
    }

    pub(super) fn run(self) -> Guard {
        let folder = tempfile::tempdir().unwrap();
        let mut child = command(&self, &folder.path().join("run")).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        Guard { child, ready, folder }
    }
}

impl Guard {
    pub(super) fn text(&self, key: &str) -> String {
        self.ready[key].as_str().unwrap_or_else(|| panic!("no {key} in {}", self.ready)).to_owned()
    }

    pub(super) fn run_dir(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A call with the token.
    pub(super) async fn call(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let token = format!("Bearer {}", self.text("token"));
        self.call_with(method, path, body, &[("authorization", &token)]).await
    }

    pub(super) async fn call_with(
        &self,
        method: &str,
        path: &str,
        body: Value,
        headers: &[(&str, &str)],
    ) -> (u16, Value) {
        let control = self.text("control");
        let (address, base) = control.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let mut client = client::Client::direct(address).await;
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = client.send(method, &format!("/{base}{path}"), headers, body.as_bytes()).await;
        let value = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
        (answer.status, value)
    }

    /// What the fixture says when `test` begins.
    pub(super) fn begin_body(&self, test: &str, worker: u64, parallel: u64) -> Value {
        json!({
            "test_id": test, "retry": 0, "title": "SHOP-ORDERS-001: works", "project": "chromium", "file": "a.spec.ts", "line": 3,
            "repeat_each_index": 0, "worker_index": worker, "parallel_index": parallel,
            "output_dir": self.run_dir().join("results").join(test),
        })
    }

    pub(super) async fn begin(&self, test: &str) -> Attempt {
        self.begin_with(self.begin_body(test, 0, 0)).await
    }

    pub(super) async fn begin_with(&self, body: Value) -> Attempt {
        let (status, answer) = self.call("POST", "/attempts", body).await;
        assert_eq!(status, 201, "{answer}");
        let text = |key: &str| answer[key].as_str().unwrap().to_owned();
        Attempt {
            id: text("attempt"),
            proxy: text("proxy").strip_prefix("http://").unwrap().to_owned(),
            secret: text("secret"),
            answer: answer.clone(),
        }
    }

    pub(super) async fn finish(&self, attempt: &Attempt) -> (u16, Value) {
        self.call("POST", &format!("/attempts/{}/finish", attempt.id), json!({ "status": "passed" })).await
    }

    /// The record of a finished attempt, as its file has it.
    pub(super) async fn record_of(&self, attempt: &Attempt) -> Value {
        let (status, answer) = self.finish(attempt).await;
        assert_eq!(status, 200, "{answer}");
        let on_disk = read(Path::new(answer["path"].as_str().unwrap()));
        assert_eq!(on_disk, answer["record"]);
        on_disk
    }

    /// The record so far.
    pub(super) async fn look(&self, attempt: &Attempt) -> Value {
        let (status, answer) = self.call("GET", &format!("/attempts/{}", attempt.id), Value::Null).await;
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// How many files it has open.
    pub(super) fn open_files(&self) -> usize {
        fs_err::read_dir(format!("/proc/{}/fd", self.pid())).unwrap().count()
    }

    /// A line of its status in /proc, in KiB.
    pub(super) fn memory(&self, name: &str) -> u64 {
        let status = fs_err::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    pub(super) fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.pid().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// SIGTERM, and what it ends with.
    pub(super) fn stop(&mut self) -> ExitStatus {
        self.signal("-TERM");
        self.wait()
    }

    pub(super) fn wait(&mut self) -> ExitStatus {
        let began = std::time::Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(began.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Every file in the run directory, relative to it, in order.
    pub(super) fn files(&self) -> Vec<String> {
        let root = self.run_dir();
        let mut found: Vec<_> = walkdir::WalkDir::new(&root)
            .into_iter()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.file_type().is_file())
            .map(|entry| entry.path().strip_prefix(&root).unwrap().display().to_string())
            .collect();
        found.sort();
        found
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn read(path: &Path) -> Value {
    serde_json::from_str(&fs_err::read_to_string(path).unwrap()).unwrap()
}

/// Method, action and reason of each event.
pub(super) fn events(record: &Value) -> Vec<String> {
    let events = record["events"].as_array().unwrap();
    let text = |event: &Value, key: &str| event[key].as_str().unwrap_or("-").to_owned();
    let line = |event| format!("{} {} {}", text(event, "action"), text(event, "method"), text(event, "url"));
    let lines: Vec<_> = events.iter().map(line).collect();
    let count = |action: &str| lines.iter().filter(|line| line.starts_with(action)).count() as u64;
    assert_eq!(
        (record["blocked"].as_u64(), record["observed"].as_u64()),
        (Some(count("block")), Some(count("observe")))
    );
    lines
}
