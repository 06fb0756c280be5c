//! `qa-pilot completions`: shell completions.

use crate::exit::Exit;
use clap::{Args, Command};
use clap_complete::Shell;

/// Prints completions for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Example: qa-pilot completions bash > ~/.local/share/bash-completion/completions/qa-pilot"
)]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, mut cli: Command) -> Exit {
        let mut out = Vec::new();
        clap_complete::generate(self.shell, &mut cli, "qa-pilot", &mut out);
        super::data(String::from_utf8_lossy(&out));
        Exit::Ok
    }
}
