//! What the tests of the whole binary share: a scrubbed command, a small host repository, an origin that tells its build.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The binary under test in an environment that holds nothing of ours or of a CI's.
pub fn qa_pilot(folder: &Path, arguments: &[&str]) -> Command {
    scrubbed(env!("CARGO_BIN_EXE_qa-pilot"), folder, arguments)
}

/// Another program in that environment.
pub fn scrubbed(program: &str, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env_clear();
    for name in ["PATH", "HOME", "TMPDIR"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// What a command printed and how it ended, readable in a failed assertion.
pub fn told(output: &Output) -> String {
    format!(
        "exit {:?}\n-- stdout\n{}\n-- stderr\n{}",
        output.status.code(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// A plain HTTP server that answers every GET with the same JSON, until the test ends.
pub struct VersionServer {
    pub address: SocketAddr,
    answer: Arc<Mutex<String>>,
    stalled: Arc<AtomicBool>,
}

impl VersionServer {
    pub fn start(answer: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answer = Arc::new(Mutex::new(answer.to_owned()));
        let stalled = Arc::new(AtomicBool::new(false));
        let (shared, stalls) = (answer.clone(), stalled.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let body = shared.lock().unwrap().clone();
                if stalls.load(Ordering::Relaxed) {
                    std::mem::forget(stream);
                    continue;
                }
                let mut head = [0; 4096];
                let _ = stream.read(&mut head);
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
            }
        });
        Self { address, answer, stalled }
    }

    /// From now on nothing is answered.
    pub fn stall(&self) {
        self.stalled.store(true, Ordering::Relaxed);
    }

    pub fn set(&self, answer: &str) {
        *self.answer.lock().unwrap() = answer.to_owned();
    }
}

/// A small host repository in a folder of its own: profile, one feature with one case, statuses.
pub struct Host {
    folder: tempfile::TempDir,
}

impl Host {
    pub fn new(version: SocketAddr) -> Self {
        let host = Self { folder: tempfile::tempdir().unwrap() };
        host.write(
            "qa-pilot.config.yaml",
            &format!(include_str!("host/qa-pilot.config.yaml"), version = version),
        );
        host.write("testing/checkout/cases.yaml", include_str!("host/cases.yaml"));
        host.write("testing/checkout/statuses.json", r#"{"CHECKOUT-ORDER-001": "Approved for Execution"}"#);
        host.write("testing/checkout/clickup-map.json", r#"{"CHECKOUT-ORDER-001": "task-1"}"#);
        host.write("specs/checkout/CHECKOUT-ORDER-001.spec.ts", "// the sample is never run by Playwright\n");
        host
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// The directories of the runs that were made, oldest first.
    pub fn runs(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.path().join("testing/checkout/runs")) else {
            return Vec::new();
        };
        let mut found: Vec<_> =
            entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
        found.sort();
        found
    }
}
