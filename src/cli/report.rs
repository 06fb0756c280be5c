//! `qa-pilot report`: from a run directory to report.json.

use std::path::PathBuf;

use clap::Args;

use crate::exit::Exit;
use crate::report::{self, ReportError};

/// Derives report.json from Playwright's results and the run's records
///
/// The directory of meta.json is the run directory: records and traces are looked for there, and the report is written
/// there. Verdicts, whatever they are, end with exit code 0.
#[derive(Debug, Args)]
#[command(after_help = "Example: qa-pilot report runs/R/results.json runs/R/meta.json")]
pub(super) struct Report {
    /// Playwright's JSON report
    results: PathBuf,
    /// The run's metadata
    meta: PathBuf,
    /// Hashes of the specs by case id [default: spec-shas.json in the run directory, where there is one]
    #[arg(long, value_name = "FILE")]
    spec_shas: Option<PathBuf>,
    /// Where to write [default: report.json in the run directory]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Report {
    pub(super) fn run(self) -> Exit {
        match report::write(&self.results, &self.meta, self.spec_shas.as_deref(), self.output.as_deref()) {
            Ok(written) => {
                written.warnings.iter().for_each(|warning| super::talk(format!("warning: {warning}")));
                super::data(format!("{}\n", written.line()));
                Exit::Ok
            }
            Err(error) => {
                super::fault(&error);
                match error {
                    ReportError::Input(_) | ReportError::Results { .. } => Exit::Usage,
                    ReportError::Output(_) => Exit::Refused,
                }
            }
        }
    }
}
