//! `qa-pilot init`: puts the fixture beside the specs.

use crate::exit::Exit;
use crate::files::{self, FileError};
use crate::host::profile::Profile;
use crate::playwright::fixture::WRITE_GUARD_TS;
use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The fixture's file name.
const NAME: &str = "write-guard.ts";

/// Writes the fixture that specs import `test` and `expect` from
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  qa-pilot init e2e/specs    writes e2e/specs/write-guard.ts\n  qa-pilot init              writes it into each spec_dir of qa-pilot.config.yaml"
)]
pub(super) struct Init {
    /// The folder of the specs [default: every spec_dir of the profile]
    folder: Option<PathBuf>,
    /// The host profile
    #[arg(long, value_name = "FILE", default_value = "qa-pilot.config.yaml")]
    profile: PathBuf,
    /// Replace a fixture that was changed
    #[arg(long)]
    force: bool,
}

impl Init {
    pub(super) fn run(self) -> Exit {
        let folders = match &self.folder {
            Some(folder) => BTreeSet::from([folder.clone()]),
            None => match Profile::load(&self.profile) {
                Ok(checked) => {
                    let root = self.profile.parent().unwrap_or(Path::new(""));
                    checked.profile.apps.values().map(|app| root.join(&app.spec_dir)).collect()
                }
                Err(error) => {
                    super::fault(format_args!("{error}; or name the folder of the specs: qa-pilot init DIR"));
                    return Exit::Usage;
                }
            },
        };
        for folder in folders {
            let path = folder.join(NAME);
            match self.place(&path) {
                Ok(done) => super::data(format_args!("{done} {}\n", path.display())),
                Err(FileError::Exists(path)) => {
                    super::fault(format_args!(
                        "{} is there and differs; `--force` replaces it by this version's",
                        path.display()
                    ));
                    return Exit::Refused;
                }
                Err(error) => {
                    super::fault(error);
                    return Exit::Refused;
                }
            }
        }
        Exit::Ok
    }

    /// Writes the file; one that is as we would write it is left alone.
    fn place(&self, path: &Path) -> Result<&'static str, FileError> {
        if files::is_file(path) && files::read_capped(path, files::DECLARED_CAP)? == WRITE_GUARD_TS.as_bytes()
        {
            return Ok("unchanged");
        }
        if self.force {
            files::write_atomic(path, WRITE_GUARD_TS.as_bytes())?;
        } else {
            files::write_once(path, WRITE_GUARD_TS.as_bytes())?;
        }
        Ok("wrote")
    }
}
