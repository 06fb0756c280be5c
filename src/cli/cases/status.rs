//! `qa-pilot cases status`: where a feature's cases stand.

use std::path::PathBuf;

use clap::Args;

use super::Inputs;
use crate::cli;
use crate::exit::Exit;
use crate::publish::Standing;

/// Says which cases may run, which wait, and how far the feature is shown to work
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 printed, 1 printed and no case may run, 2 an input cannot be used.\n\n\
    Example: qa-pilot cases status --cases testing/checkout/cases.yaml --statuses testing/checkout/statuses.json \\\n           --profile qa-pilot.config.yaml --verdicts testing/checkout/verdicts/RUN.json"
)]
pub(super) struct Status {
    #[command(flatten)]
    inputs: Inputs,
    /// The verdicts of a run: report.json, its reduced record, or a mapping from case id to verdict
    #[arg(long, value_name = "FILE")]
    verdicts: Option<PathBuf>,
    /// Let cases run that were set aside as flaky
    #[arg(long)]
    include_quarantined: bool,
}

impl Status {
    pub(super) fn run(self) -> Exit {
        let read = match self.inputs.read() {
            Ok(read) => read,
            Err(error) => {
                cli::fault(error);
                return Exit::Usage;
            }
        };
        let verdicts = match super::verdicts(self.verdicts.as_deref()) {
            Ok(verdicts) => verdicts,
            Err(error) => {
                cli::fault(error);
                return Exit::Usage;
            }
        };
        let standing =
            Standing::of(&read.cases, &read.statuses, &read.names, &verdicts, self.include_quarantined);
        standing.warnings.iter().for_each(|warning| cli::talk(format!("warning: {warning}")));
        if let Err(error) = super::print(&standing) {
            cli::fault(error);
            return Exit::Usage;
        }
        if standing.executable.is_empty() { Exit::Refused } else { Exit::Ok }
    }
}
