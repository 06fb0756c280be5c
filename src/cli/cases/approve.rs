//! `qa-pilot cases approve`: a result review's approvals.

use std::path::PathBuf;

use clap::Args;

use crate::cli;
use crate::exit::Exit;
use crate::files::Held;
use crate::publish::{self, PublishError};

/// Records that QA approved verdicts of a run
///
/// A pass enters the ledger with the hash of what ran; from then on CI runs the case while that hash holds. The approval of
/// any other verdict removes the case from the ledger.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 printed, 1 an approval would rest on nothing, 2 an input cannot be used; then the ledger is as it was.\n\n\
    Example: qa-pilot cases approve --ids CHECKOUT-ORDER-001 --verdicts testing/checkout/verdicts/RUN.json \\\n           --approved testing/checkout/approved.json --write"
)]
pub(super) struct Approve {
    /// The cases, separated by commas
    #[arg(long, value_name = "IDS")]
    ids: String,
    /// The run: report.json or its reduced record
    #[arg(long, value_name = "FILE")]
    verdicts: PathBuf,
    /// The ledger of approvals; one that is not there is started
    #[arg(long, value_name = "FILE")]
    approved: PathBuf,
    /// Replace the ledger by the one that is printed
    #[arg(long)]
    write: bool,
}

impl Approve {
    pub(super) fn run(self) -> Exit {
        let ids: Vec<String> =
            self.ids.split(',').map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect();
        let done = || -> Result<(), PublishError> {
            let held = self.write.then(|| Held::take(&self.approved)).transpose()?;
            let ledger = super::ledger(Some(&self.approved))?;
            let verdicts = super::verdicts(Some(&self.verdicts))?;
            let approval = publish::approve(&verdicts, ledger, &ids)?;
            match &held {
                Some(held) => approval.approved_ledger.write(held)?,
                None => cli::talk("note: nothing was written; --write replaces the ledger"),
            }
            Ok(super::print(&approval)?)
        };
        match done() {
            Ok(()) => Exit::Ok,
            Err(error) => super::failed(&error),
        }
    }
}
