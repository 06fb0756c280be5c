//! `qa-pilot cases`: a feature's cases, their statuses and approvals.

mod approve;
mod lint;
mod status;
mod transitions;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::exit::Exit;
use crate::files::{self, FileError};
use crate::host::cases::{self as declared, Document};
use crate::host::profile::{Profile, StatusNames};
use crate::host::statuses::Statuses;
use crate::publish::{self, Ledger, PublishError, Verdicts};

/// Checks a feature's cases, says where they stand, and records approvals
#[derive(Debug, Args)]
pub(super) struct Cases {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Approve(approve::Approve),
    Lint(lint::Lint),
    Status(status::Status),
    Transitions(transitions::Transitions),
}

/// What `status` and `transitions` read.
#[derive(Debug, Args)]
struct Inputs {
    /// The feature's cases file
    #[arg(long, value_name = "FILE")]
    cases: PathBuf,
    /// The statuses that hold today
    #[arg(long, value_name = "FILE")]
    statuses: PathBuf,
    /// The host profile, which has the names of statuses [default: the canonical names]
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
}

struct Read {
    cases: declared::Cases,
    statuses: Statuses,
    names: StatusNames,
}

impl Cases {
    pub(super) fn run(self) -> Exit {
        match self.command {
            Command::Approve(command) => command.run(),
            Command::Lint(command) => command.run(),
            Command::Status(command) => command.run(),
            Command::Transitions(command) => command.run(),
        }
    }
}

impl Inputs {
    fn read(&self) -> Result<Read, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let names = match &self.profile {
            Some(path) => Profile::load(path).map_err(|error| text(&error))?.profile.statuses,
            None => {
                super::talk("warning: no --profile, so statuses go by their canonical names");
                StatusNames::default()
            }
        };
        let document = Document::read(&self.cases).map_err(|error| text(&error))?;
        let cases = document
            .typed()
            .ok_or_else(|| format!("{}: must be a mapping with cases", self.cases.display()))?;
        publish::countable(&cases).map_err(|error| text(&error))?;
        let statuses = Statuses::today(&self.statuses).map_err(|error| text(&error))?;
        Ok(Read { cases, statuses, names })
    }
}

fn verdicts(path: Option<&Path>) -> Result<Verdicts, PublishError> {
    path.map(Verdicts::read).transpose().map(Option::unwrap_or_default)
}

/// The ledger at `path`; an empty one, with a line of talk, when there is none.
pub(super) fn ledger(path: Option<&Path>) -> Result<Ledger, PublishError> {
    let Some(path) = path else {
        super::talk("warning: no --approved, so no approval carries over");
        return Ok(Ledger::default());
    };
    let ledger = Ledger::read(path)?;
    if ledger.is_none() {
        super::talk(format!("warning: {} is not there yet: a new ledger", path.display()));
    }
    Ok(ledger.unwrap_or_default())
}

/// Prints a document on stdout.
fn print<T: serde::Serialize>(value: &T) -> Result<(), FileError> {
    super::data(String::from_utf8_lossy(&files::json_bytes(value)?));
    Ok(())
}

fn failed(error: &PublishError) -> Exit {
    super::fault(error);
    if error.is_refusal() { Exit::Refused } else { Exit::Usage }
}
