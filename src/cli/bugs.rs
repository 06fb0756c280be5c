//! `qa-pilot bugs`: what to file for failures that QA confirmed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::exit::Exit;
use crate::files::{self, DECLARED_CAP, Held};
use crate::host::cases::Document;
use crate::host::profile::Profile;
use crate::publish::bugs::{self, BugLedger, Bugs as Filed, Inputs};
use crate::publish::{PublishError, Told};

/// Says what to file for failures that QA confirmed
///
/// A failure that is known becomes a comment on its bug, one that is new becomes a bug. How much they tell depends on how
/// far the environment's evidence travels. Nothing is sent.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 printed (also when there is nothing to file), 1 the environment or the report is refused, 2 an input cannot be used; then the ledger is as it was.\n\n\
    Example: qa-pilot bugs --report RUN/report.json --cases testing/checkout/cases.yaml --confirmed CHECKOUT-ORDER-001 \\\n           --profile qa-pilot.config.yaml --bugs testing/checkout/bugs.json --write"
)]
pub(super) struct Bugs {
    /// The run: report.json or its reduced record
    #[arg(long, value_name = "FILE")]
    report: PathBuf,
    /// The feature's cases file
    #[arg(long, value_name = "FILE")]
    cases: PathBuf,
    /// The confirmed cases, separated by commas; or a .json file with a list of ids, or with an object whose keys they are
    #[arg(long, value_name = "IDS")]
    confirmed: String,
    /// The host profile; without it only a run on qa or staging is filed
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// The ledger of known bugs [default: an empty one]
    #[arg(long, value_name = "FILE")]
    bugs: Option<PathBuf>,
    /// The specs by case id, testing/FEATURE/specs.json
    #[arg(long, value_name = "FILE")]
    specs: Option<PathBuf>,
    /// Replace the ledger; without a tracker also write each bug's file, below the profile's folder
    #[arg(long, requires = "bugs")]
    write: bool,
}

impl Bugs {
    pub(super) fn run(self) -> Exit {
        match self.file() {
            Ok(exit) => exit,
            Err(Failed::Input(error)) => {
                super::fault(error);
                Exit::Usage
            }
            Err(Failed::Publish(error)) => {
                super::fault(&error);
                if error.is_refusal() { Exit::Refused } else { Exit::Usage }
            }
        }
    }

    fn file(&self) -> Result<Exit, Failed> {
        let confirmed = confirmed(&self.confirmed)?;
        let profile = match &self.profile {
            Some(path) => {
                Some(Profile::load(path).map_err(|error| Failed::Input(error.to_string()))?.profile)
            }
            None => None,
        };
        let cases = Document::read(&self.cases).map_err(PublishError::from)?.typed().ok_or_else(|| {
            Failed::Input(format!("{}: must be a mapping with cases", self.cases.display()))
        })?;
        let written = self.bugs.as_deref().filter(|_| self.write);
        let held = written.map(Held::take).transpose().map_err(PublishError::from)?;
        let known = match &self.bugs {
            Some(path) => BugLedger::read(path)?,
            None => None,
        };
        if known.is_none() {
            super::talk("warning: no ledger of known bugs, so every failure is a new one");
        }
        let specs: BTreeMap<String, String> = match &self.specs {
            Some(path) => files::read_json(path, DECLARED_CAP).map_err(PublishError::from)?,
            None => BTreeMap::new(),
        };
        let told = Told::read(&self.report)?;
        let inputs = Inputs { told: &told, cases: &cases, profile: profile.as_ref(), specs: &specs };
        let filed = bugs::bugs(inputs, &confirmed, &known.unwrap_or_default())?;
        for skip in &filed.skipped {
            super::talk(format_args!("skipped {:?}: {}", skip.id, skip.reason));
        }
        filed.warnings.iter().for_each(|warning| super::talk(format_args!("warning: {warning}")));
        let bytes = files::json_bytes(&filed).map_err(PublishError::from)?;
        if let Some(held) = &held {
            self.write(&filed, held)?;
        }
        super::data(String::from_utf8_lossy(&bytes));
        Ok(Exit::Ok)
    }

    fn write(&self, filed: &Filed, held: &Held) -> Result<(), PublishError> {
        let root = self.profile.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        for bug in &filed.create {
            if let Some(file) = &bug.file {
                files::write_atomic(&root.join(file), bug.body.as_bytes())?;
            }
        }
        filed.ledger.write(held)
    }
}

enum Failed {
    Input(String),
    Publish(PublishError),
}

impl From<PublishError> for Failed {
    fn from(error: PublishError) -> Self {
        Self::Publish(error)
    }
}

/// The confirmed ids; naming none is a fault.
fn confirmed(text: &str) -> Result<Vec<String>, Failed> {
    let ids: Vec<String> = if text.ends_with(".json") {
        let path = Path::new(text);
        let value = files::read_json::<serde_json::Value>(path, DECLARED_CAP).map_err(PublishError::from)?;
        let wrong =
            || Failed::Input(format!("{text}: must be a list of ids, or an object whose keys they are"));
        match value {
            serde_json::Value::Object(object) => object.keys().cloned().collect(),
            serde_json::Value::Array(list) => {
                let id = |item: &serde_json::Value| item.as_str().map(str::to_owned).ok_or_else(wrong);
                list.iter().map(id).collect::<Result<_, _>>()?
            }
            _ => return Err(wrong()),
        }
    } else {
        text.split(',').map(str::to_owned).collect()
    };
    let ids: Vec<String> = ids.iter().map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()).collect();
    if ids.is_empty() {
        return Err(Failed::Input("--confirmed names no case".to_owned()));
    }
    Ok(ids)
}
