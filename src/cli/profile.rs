//! `qa-pilot profile`: the host profile.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::exit::Exit;
use crate::files;
use crate::host::profile::{Profile as HostProfile, ProfileError};

/// Checks the host profile
#[derive(Debug, Args)]
pub(super) struct Profile {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Prints the normalised profile as JSON, or what must be mended, a line a fault
    #[command(after_help = "Exit codes: 0 valid, 1 not valid, 2 the file cannot be read or is no YAML.")]
    Check {
        /// The profile
        #[arg(default_value = "qa-pilot.config.yaml")]
        profile: PathBuf,
    },
}

impl Profile {
    pub(super) fn run(self) -> Exit {
        let Command::Check { profile } = self.command;
        let checked = match HostProfile::load(&profile) {
            Ok(checked) => checked,
            Err(ProfileError::Invalid { faults, warnings, .. }) => {
                warnings.iter().for_each(|warning| super::talk(format!("warning: {warning}")));
                faults.iter().for_each(super::talk);
                return Exit::Refused;
            }
            Err(error) => {
                super::fault(error);
                return Exit::Usage;
            }
        };
        checked.warnings.iter().for_each(|warning| super::talk(format!("warning: {warning}")));
        match files::json_bytes(&checked.profile.normalised) {
            Ok(bytes) => {
                super::data(String::from_utf8_lossy(&bytes));
                Exit::Ok
            }
            Err(error) => {
                super::fault(error);
                Exit::Usage
            }
        }
    }
}
