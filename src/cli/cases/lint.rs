//! `qa-pilot cases lint`: what must be mended in a cases file.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli;
use crate::exit::Exit;
use crate::files;
use crate::host::cases::Document;
use crate::host::profile::Profile;
use crate::host::spec_guard;
use crate::host::spec_sha::Specs;
use crate::playwright::fixture::WRITE_GUARD_TS;

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
    /// Looks at the feature's specs as well: each must import write-guard.ts, and `test` from nowhere else
    #[arg(long)]
    check_specs: bool,
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
        let specs = if self.check_specs { self.specs(&profile) } else { Vec::new() };
        specs.iter().for_each(cli::talk);
        if !lint.faults.is_empty() || !specs.is_empty() {
            return Exit::Refused;
        }
        let count = document.typed().map_or(0, |cases| cases.cases.len());
        cli::data(format!("ok: {count} cases\n"));
        Exit::Ok
    }

    /// What is to be mended in the specs; the feature's are those of whichever app has a folder of its name.
    fn specs(&self, profile: &Profile) -> Vec<String> {
        let absolute = |path: &PathBuf| files::absolute(path).unwrap_or_else(|_| path.clone());
        let (cases, profile_path) = (absolute(&self.cases), absolute(&self.profile));
        let feature =
            cases.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        let root = profile_path.parent().unwrap_or(Path::new("/"));
        let mut folders: Vec<&str> = profile.apps.values().map(|app| app.spec_dir.as_str()).collect();
        folders.sort_unstable();
        folders.dedup();
        let own: Vec<&str> = folders
            .iter()
            .copied()
            .filter(|folder| files::is_folder(&root.join(folder).join(&feature)))
            .collect();
        let looked = if own.is_empty() { folders } else { own };
        let is_generated = |bytes: &[u8]| bytes == WRITE_GUARD_TS.as_bytes();
        looked
            .into_iter()
            .flat_map(|spec_dir| {
                spec_guard::faults(&Specs { root, feature: &feature, spec_dir, is_generated: &is_generated })
            })
            .map(|fault| fault.to_string())
            .collect()
    }
}
