//! `qa-pilot gate`: whether a run may be published.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::exit::Exit;
use crate::gate::{self, Decision, Inputs, rules};
use crate::render::{gate_github, gate_json, gate_text};

/// Decides whether a run may be published
///
/// The report is a claim: every value that can be derived again from results.json, the write records, the profile, the
/// cases file and the bytes of the evidence is, and is compared. All refusals are named.
#[derive(Debug, Args)]
#[command(after_long_help = gate_text::table(), after_help = "Exit codes: 0 publishable, 1 refused, 2 an input cannot be used.")]
pub(super) struct Gate {
    /// The report
    #[arg(required_unless_present = "explain")]
    report: Option<PathBuf>,
    /// The host profile
    #[arg(long, required_unless_present = "explain")]
    profile: Option<PathBuf>,
    #[command(flatten)]
    against: Against,
    /// How to tell
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Say what a code means and what to do about it, and do nothing else
    #[arg(long, value_name = "CODE")]
    explain: Option<String>,
}

/// What a run is held against, for every command that gates.
#[derive(Debug, Args)]
pub(super) struct Against {
    /// The statuses recorded when the run started; without them the gate refuses
    #[arg(long, value_name = "FILE")]
    statuses: Option<PathBuf>,
    /// The feature's cases file; without it the gate refuses
    #[arg(long, value_name = "FILE")]
    cases: Option<PathBuf>,
    /// The tracker's case map
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// The run directory [default: the report's own]
    #[arg(long, value_name = "DIR")]
    base: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A line a finding on stderr, one line on stdout when publishable
    Text,
    /// One object on stdout
    Json,
    /// GitHub workflow annotations on stdout
    Github,
}

impl Gate {
    pub(super) fn run(self) -> Exit {
        if let Some(code) = &self.explain {
            return explain(code);
        }
        let (report, profile) = (self.report.unwrap_or_default(), self.profile.unwrap_or_default());
        let decision = match self.against.decide(report, profile) {
            Ok(decision) => decision,
            Err(exit) => return exit,
        };
        match self.format {
            Format::Text => {
                super::talk_lines(gate_text::findings(&decision));
                decision.as_ref().iter().for_each(|approved| super::data(gate_text::ok(approved)));
            }
            Format::Json => match gate_json::decision(&decision) {
                Ok(bytes) => super::data(String::from_utf8_lossy(&bytes)),
                Err(error) => {
                    super::fault(error);
                    return Exit::Usage;
                }
            },
            Format::Github => super::data(gate_github::decision(&decision)),
        }
        if decision.is_ok() { Exit::Ok } else { Exit::Refused }
    }
}

impl Against {
    /// Gates `report`. An input that cannot be used is told, and ends the command.
    pub(super) fn decide(self, report: PathBuf, profile: PathBuf) -> Result<Decision, Exit> {
        let Self { statuses, cases, map, base } = self;
        gate::run(&Inputs { report, profile, statuses, cases, map, base }).map_err(|error| {
            super::fault(error);
            Exit::Usage
        })
    }
}

fn explain(code: &str) -> Exit {
    match rules::find(code) {
        Some(rule) => {
            super::data(gate_text::explain(rule));
            Exit::Ok
        }
        None => {
            let known: Vec<&str> = rules::ALL.iter().map(|rule| rule.code).collect();
            super::fault(format!("no rule has the code {code:?}; known are {}", known.join(", ")));
            Exit::Usage
        }
    }
}
