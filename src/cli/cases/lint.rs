//! `qa-pilot cases lint`: what must be mended in a cases file.

use std::path::PathBuf;

use clap::Args;

use crate::cli;
use crate::exit::Exit;
use crate::host::cases::Document;
use crate::host::profile::Profile;

/// Says what must be mended in a cases file, a line a fault
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 clean, 1 faults, 2 an input cannot be used or the profile is not valid."
)]
pub(super) struct Lint {
    /// The cases file; its folder is named as the feature
    cases: PathBuf,
    /// The host profile
    #[arg(long)]
    profile: PathBuf,
}

impl Lint {
    pub(super) fn run(self) -> Exit {
        let profile = match Profile::load(&self.profile) {
            Ok(checked) => checked.profile,
            Err(error) => {
                cli::fault(error);
                return Exit::Usage;
            }
        };
        let document = match Document::read(&self.cases) {
            Ok(document) => document,
            Err(error) => {
                cli::fault(error);
                return Exit::Usage;
            }
        };
        let lint = document.lint(&profile);
        lint.warnings.iter().for_each(|warning| cli::talk(format!("warning: {warning}")));
        lint.faults.iter().for_each(cli::talk);
        if !lint.faults.is_empty() {
            return Exit::Refused;
        }
        let count = document.typed().map_or(0, |cases| cases.cases.len());
        cli::data(format!("ok: {count} cases\n"));
        Exit::Ok
    }
}
