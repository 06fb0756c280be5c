//! `qa-pilot cases transitions`: where each case goes after a run.

use std::path::PathBuf;

use clap::Args;

use super::Inputs;
use crate::cli;
use crate::exit::Exit;
use crate::files::Held;
use crate::publish::{self, PublishError};

/// Says where each case goes after a run, and which approvals still hold
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 printed, 1 the verdicts are refused, 2 an input cannot be used; then the ledger is as it was."
)]
pub(super) struct Transitions {
    #[command(flatten)]
    inputs: Inputs,
    /// The verdicts of a run: report.json, its reduced record, or a mapping from case id to verdict
    #[arg(long, value_name = "FILE")]
    verdicts: PathBuf,
    /// The ledger of approvals [default: an empty one]
    #[arg(long, value_name = "FILE")]
    approved: Option<PathBuf>,
    /// Replace the ledger by the one that is printed
    #[arg(long, requires = "approved")]
    write: bool,
}

impl Transitions {
    pub(super) fn run(self) -> Exit {
        let read = match self.inputs.read() {
            Ok(read) => read,
            Err(error) => {
                cli::fault(error);
                return Exit::Usage;
            }
        };
        let done = || -> Result<(), PublishError> {
            let verdicts = super::verdicts(Some(&self.verdicts))?;
            let written = self.approved.as_deref().filter(|_| self.write);
            let held = written.map(Held::take).transpose()?;
            let ledger = super::ledger(self.approved.as_deref())?;
            let transitions =
                publish::Transitions::of(&read.cases, &read.statuses, &read.names, &verdicts, ledger);
            if let Some(held) = &held {
                transitions.approved_ledger.write(held)?;
            }
            Ok(super::print(&transitions)?)
        };
        match done() {
            Ok(()) => Exit::Ok,
            Err(error) => super::failed(&error),
        }
    }
}
