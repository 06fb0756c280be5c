//! `qa-pilot env`: how test processes find a guard that a person started, as shell exports.

use crate::exit::Exit;
use crate::files;
use clap::Args;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Prints the variables by which tests find a guard, as shell exports
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  qa-pilot proxy --run-dir testing/shop/runs/try --ready-file ready.json &\n  eval \"$(qa-pilot env ready.json)\"\n  npx playwright test"
)]
pub(super) struct Env {
    /// The file that `qa-pilot proxy --ready-file` wrote
    ready_file: PathBuf,
}

/// The ready line of `qa-pilot proxy`, as far as tests need it.
#[derive(Debug, Deserialize)]
struct Ready {
    control: String,
    token: String,
    run_proxy: String,
    ca: PathBuf,
    ca_spki: String,
}

impl Env {
    pub(super) fn run(self) -> Exit {
        match files::read_json::<Ready>(&self.ready_file, files::DECLARED_CAP) {
            Ok(ready) => {
                super::data(exports(&ready));
                Exit::Ok
            }
            Err(error) => {
                super::fault(error);
                Exit::Usage
            }
        }
    }
}

fn exports(ready: &Ready) -> String {
    let run_dir = ready.ca.parent().unwrap_or(Path::new("."));
    let guard = crate::run::GuardAddress {
        control: &ready.control,
        token: &ready.token,
        ca: &ready.ca,
        ca_spki: &ready.ca_spki,
        run_dir,
        run_proxy: &ready.run_proxy,
    };
    guard
        .variables()
        .into_iter()
        .map(|(name, value)| format!("export {name}={}\n", quoted(&value.to_string_lossy())))
        .collect()
}

/// `text` as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_are_safe_words() {
        let ready = Ready {
            control: "http://127.0.0.1:1/__qa_pilot__/v1".into(),
            token: "t".into(),
            run_proxy: "http://127.0.0.1:2".into(),
            ca: "/tmp/it's $HOME/ca.pem".into(),
            ca_spki: "x=".into(),
        };
        let text = exports(&ready);
        assert!(text.contains("export QA_PILOT_CONTROL='http://127.0.0.1:1/__qa_pilot__/v1'\n"));
        assert!(text.contains(r"export QA_PILOT_RUN_DIR='/tmp/it'\''s $HOME'"), "{text}");
    }
}
