//! `qa-pilot cases`: a feature's cases file.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::exit::Exit;
use crate::host::cases::Document;
use crate::host::profile::Profile;

/// Checks a feature's cases file
#[derive(Debug, Args)]
pub(super) struct Cases {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Says what must be mended in a cases file, a line a fault
    #[command(
        after_help = "Exit codes: 0 clean, 1 faults, 2 an input cannot be used or the profile is not valid."
    )]
    Lint {
        /// The cases file; its folder is named as the feature
        cases: PathBuf,
        /// The host profile
        #[arg(long)]
        profile: PathBuf,
    },
}

impl Cases {
    pub(super) fn run(self) -> Exit {
        let Command::Lint { cases, profile } = self.command;
        let profile = match Profile::load(&profile) {
            Ok(checked) => checked.profile,
            Err(error) => {
                super::fault(error);
                return Exit::Usage;
            }
        };
        let document = match Document::read(&cases) {
            Ok(document) => document,
            Err(error) => {
                super::fault(error);
                return Exit::Usage;
            }
        };
        let lint = document.lint(&profile);
        lint.warnings.iter().for_each(|warning| super::talk(format!("warning: {warning}")));
        lint.faults.iter().for_each(super::talk);
        if !lint.faults.is_empty() {
            return Exit::Refused;
        }
        let count = document.typed().map_or(0, |cases| cases.cases.len());
        super::data(format!("ok: {count} cases\n"));
        Exit::Ok
    }
}
