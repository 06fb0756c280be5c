//! `qa-pilot publish`: what is sent about a run that the gate let pass.

use std::path::{Path, PathBuf};

use clap::Args;

use super::gate::Against;
use crate::exit::Exit;
use crate::files;
use crate::gate::Approved;
use crate::host::statuses::Statuses;
use crate::publish::payload::{Facts, Payload};
use crate::publish::{PublishError, Record};
use crate::render::gate_text;

/// Gates a run and prints what is sent to the tracker about it
///
/// Refuses exactly as `gate` does, and then prints nothing. Target statuses, confidence and coverage are computed here.
/// Nothing is sent: whoever talks to the tracker posts what is printed, and nothing else.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 printed, 1 refused, 2 an input cannot be used.\n\n\
    Example: qa-pilot publish RUN/report.json --profile qa-pilot.config.yaml --cases testing/checkout/cases.yaml \\\n           --statuses RUN/statuses.json --approved testing/checkout/approved.json --record-dir testing/checkout/verdicts")]
pub(super) struct Publish {
    /// The report
    report: PathBuf,
    /// The host profile
    #[arg(long, value_name = "FILE")]
    profile: PathBuf,
    #[command(flatten)]
    against: Against,
    /// The statuses that hold today, for target statuses and confidence [default: those of --statuses]
    #[arg(long, value_name = "FILE")]
    current_statuses: Option<PathBuf>,
    /// The ledger of approvals [default: an empty one, so that every pass goes to review]
    #[arg(long, value_name = "FILE")]
    approved: Option<PathBuf>,
    /// Also keep the run's reduced record here, as RUN_ID.json
    #[arg(long, value_name = "DIR")]
    record_dir: Option<PathBuf>,
    /// Without a tracker: also do the writes that are printed, below the profile's folder
    #[arg(long)]
    write: bool,
}

impl Publish {
    pub(super) fn run(self) -> Exit {
        let root = self.profile.parent().map(Path::to_owned).unwrap_or_default();
        let decision = match self.against.decide(self.report, self.profile) {
            Ok(decision) => decision,
            Err(exit) => return exit,
        };
        super::talk_lines(gate_text::findings(&decision));
        let Ok(approved) = decision else { return Exit::Refused };
        let today = self.current_statuses.as_deref();
        let root = self.write.then_some(root.as_path());
        match tell(&approved, today, self.approved.as_deref(), self.record_dir.as_deref(), root) {
            Ok(payload) => {
                super::data(String::from_utf8_lossy(&payload));
                Exit::Ok
            }
            Err(error) => {
                super::fault(&error);
                if error.is_refusal() { Exit::Refused } else { Exit::Usage }
            }
        }
    }
}

/// The payload's bytes, after a plan's writes were done in `root` and the record was written where one is wanted.
fn tell(
    approved: &Approved,
    today: Option<&Path>,
    ledger: Option<&Path>,
    record_dir: Option<&Path>,
    root: Option<&Path>,
) -> Result<Vec<u8>, PublishError> {
    let today = today.map(Statuses::today).transpose()?;
    let ledger = super::cases::ledger(ledger)?;
    let facts = Facts::of(approved, today.as_ref(), ledger)?;
    let payload = facts.payload();
    let bytes = files::json_bytes(&payload)?;
    match (&payload, root) {
        (Payload::Plan(plan), Some(root)) => plan.write(root)?,
        (_, Some(_)) => super::talk("note: there is a tracker, so --write has nothing to write"),
        (_, None) => {}
    }
    if let Some(folder) = record_dir {
        let path = Record::of(&facts)?.write(folder)?;
        super::talk(format!("record: {}", path.display()));
    }
    Ok(bytes)
}
