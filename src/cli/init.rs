//! `qa-pilot init`: makes a repository ready for guarded runs.

use crate::exit::Exit;
use crate::files::{self, DECLARED_CAP, FileError};
use crate::host::profile::Profile;
use crate::host::skeleton;
use crate::host::workflow;
use crate::playwright::fixture::WRITE_GUARD_TS;
use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The fixture's file name.
const NAME: &str = "write-guard.ts";
/// What git must leave out: run directories hold evidence.
const IGNORED: &str = "testing/*/runs/";
/// What a configuration may say besides; `qa-pilot run` does without.
const SNIPPET: &str = "\
in playwright.config.ts, for runs beside a guard that you start yourself (`qa-pilot run` does without):

  outputDir: process.env.QA_PILOT_RUN_DIR ? `${process.env.QA_PILOT_RUN_DIR}/test-results` : 'test-results',

in specs: import { test, expect } from './write-guard' in place of '@playwright/test', by a relative path
";

/// Makes a repository ready: a first profile, the fixture, a pipeline, and run directories out of version control
///
/// Looks at package.json and playwright.config for the profile, and marks what it had to guess. Asks nothing. A profile or
/// a pipeline that is there stays as it is; a fixture that differs is replaced with --force alone.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 done, 1 a file that differs is there or a file cannot be written, 2 the profile is not valid.\n\n\
    Examples:\n  qa-pilot init              qa-pilot.config.yaml, .gitignore, write-guard.ts in each spec_dir, and beside .github a workflow\n  qa-pilot init --ci         the workflow also where there is no .github yet\n  qa-pilot init e2e/specs    e2e/specs/write-guard.ts alone"
)]
pub(super) struct Init {
    /// Write the fixture into this folder, and nothing else
    folder: Option<PathBuf>,
    /// The host profile
    #[arg(long, value_name = "FILE", default_value = "qa-pilot.config.yaml")]
    profile: PathBuf,
    /// Replace a fixture that was changed
    #[arg(long)]
    force: bool,
    /// Write .github/workflows/qa-pilot.yml even where the repository has no .github
    #[arg(long, conflicts_with = "folder")]
    ci: bool,
}

impl Init {
    pub(super) fn run(self) -> Exit {
        let done = match &self.folder {
            Some(folder) => self.fixture(folder),
            None => self.repository(),
        };
        done.err().unwrap_or(Exit::Ok)
    }

    fn repository(&self) -> Result<(), Exit> {
        let root = match self.profile.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let is_new = !files::is_there(&self.profile);
        if is_new {
            let text = skeleton::profile(&skeleton::look(root));
            told(&self.profile, files::write_once(&self.profile, text.as_bytes()).map(|()| "wrote"))?;
        }
        let profile = Profile::load(&self.profile).map_err(|error| {
            super::fault(format_args!("{error}; or name the folder of the specs: qa-pilot init DIR"));
            Exit::Usage
        })?;
        let folders: BTreeSet<PathBuf> =
            profile.profile.apps.values().map(|app| root.join(&app.spec_dir)).collect();
        let ignore = root.join(".gitignore");
        for path in
            folders.iter().map(|folder| folder.join(NAME)).chain([ignore.clone(), root.join(workflow::PATH)])
        {
            stays(root, &path).map_err(|error| {
                super::fault(error);
                Exit::Refused
            })?;
        }
        folders.iter().try_for_each(|folder| self.fixture(folder))?;
        told(&ignore, add_line(&ignore, IGNORED))?;
        if self.ci || files::is_folder(&root.join(".github")) {
            self.pipeline(root, &profile.profile)?;
        }
        super::talk_lines(SNIPPET);
        if is_new {
            super::talk(format_args!(
                "next: change the lines of {} marked CHANGE, then `qa-pilot profile check`",
                self.profile.display()
            ));
        }
        Ok(())
    }

    /// Writes the workflow; one that is there is the repository's own.
    fn pipeline(&self, root: &Path, profile: &Profile) -> Result<(), Exit> {
        let path = root.join(workflow::PATH);
        if files::is_file(&path) {
            return told(&path, Ok("unchanged"));
        }
        let name = self.profile.file_name().unwrap_or_default().to_string_lossy();
        let text = workflow::text(root, &name, profile);
        told(&path, files::write_once(&path, text.as_bytes()).map(|()| "wrote"))
    }

    /// Writes the fixture; one that is as we would write it is left alone.
    fn fixture(&self, folder: &Path) -> Result<(), Exit> {
        let path = folder.join(NAME);
        let text = WRITE_GUARD_TS.as_bytes();
        let is_same = files::read_capped(&path, DECLARED_CAP).is_ok_and(|found| found == text);
        let done = match (is_same, self.force) {
            (true, _) => Ok("unchanged"),
            (false, true) => files::write_atomic(&path, text).map(|()| "wrote"),
            (false, false) => files::write_once(&path, text).map(|()| "wrote"),
        };
        told(&path, done)
    }
}

/// Says what was done to a file.
fn told(path: &Path, done: Result<&'static str, FileError>) -> Result<(), Exit> {
    match done {
        Ok(done) => {
            super::data(format_args!("{done} {}\n", path.display()));
            Ok(())
        }
        Err(FileError::Exists(path)) => {
            super::fault(format_args!(
                "{} is there and differs; `--force` replaces it by this version's",
                path.display()
            ));
            Err(Exit::Refused)
        }
        Err(error) => {
            super::fault(error);
            Err(Exit::Refused)
        }
    }
}

/// Refuses a place to which a link leads out of the repository, and a link in place of the file itself.
fn stays(root: &Path, path: &Path) -> Result<(), FileError> {
    if files::is_link(path) {
        return Err(FileError::Link(path.to_owned()));
    }
    let root = files::canonical(root)?;
    // The nearest folder that is there: the others will be made.
    let nearest = path.ancestors().skip(1).find_map(|folder| files::canonical(&named(folder)).ok());
    match nearest {
        Some(folder) if folder.starts_with(&root) => Ok(()),
        _ => Err(FileError::Escapes { path: path.display().to_string(), root }),
    }
}

/// A folder by a name that can be looked up: the current one has an empty path.
fn named(folder: &Path) -> PathBuf {
    if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }
}

/// Adds a line to a file of lines that does not have it; what is there stays.
fn add_line(path: &Path, line: &str) -> Result<&'static str, FileError> {
    let mut text = match files::read_text(path, DECLARED_CAP) {
        Err(FileError::Missing(_)) => String::new(),
        other => other?,
    };
    if text.lines().any(|known| known.trim() == line) {
        return Ok("unchanged");
    }
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(end);
    }
    text.push_str(line);
    text.push_str(end);
    files::write_atomic(path, text.as_bytes())?;
    Ok("wrote")
}
