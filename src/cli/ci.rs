//! `qa-pilot ci`: what a pipeline runs, and how it ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::exit::Exit;
use crate::files::{self, DECLARED_CAP, RESULTS_CAP};
use crate::gate::Claim;
use crate::host::cases::Document;
use crate::host::spec_sha::Specs;
use crate::json;
use crate::playwright::fixture::WRITE_GUARD_TS;
use crate::publish::ci::{self, Ending, Priorities, Selection};
use crate::publish::{Ledger, PublishError};

/// Chooses what a pipeline runs, and says how it ends
#[derive(Debug, Args)]
pub(super) struct Ci {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Prints the specs whose hash is the one that QA approved
    ///
    /// Paths are relative to the current folder, which must be the repository. What changed since the approval is skipped,
    /// a line each.
    #[command(
        after_help = "Exit codes: 0 printed, 1 nothing may run or too much was skipped, 2 an option or an input cannot be used.\n\n\
        Example: npx playwright test $(qa-pilot ci select --approved testing/checkout/approved.json \\\n           --specs testing/checkout/specs.json --cases testing/checkout/cases.yaml --priority P0 --max-skipped 0)"
    )]
    Select(Select),
    /// Says how a pipeline ends, from the cases of its report
    #[command(after_help = "Exit codes: 0 green, 1 red, 2 there is no report that can be used.")]
    Verdict {
        /// The report
        #[arg(long, value_name = "FILE")]
        report: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Select {
    /// The ledger of approvals
    #[arg(long, value_name = "FILE")]
    approved: PathBuf,
    /// The specs by case id, testing/FEATURE/specs.json
    #[arg(long, value_name = "FILE")]
    specs: PathBuf,
    /// The feature's cases file: its steps and expectations are part of what was approved
    #[arg(long, value_name = "FILE")]
    cases: PathBuf,
    /// Run these priorities only, separated by commas
    #[arg(long, value_name = "P0,P1", value_parser = Priorities::parse)]
    priority: Option<Priorities>,
    /// The most cases that may be skipped [default: any number]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    max_skipped: Option<usize>,
    /// Print a list of {id, path}
    #[arg(long)]
    json: bool,
}

/// A number in digits only; one that is larger than any count is as good as none.
fn count(text: &str) -> Result<usize, String> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if is_number {
        Ok(text.parse().unwrap_or(usize::MAX))
    } else {
        Err("a whole number is wanted".to_owned())
    }
}

impl Ci {
    pub(super) fn run(self) -> Exit {
        let done = match self.command {
            Command::Select(select) => select.run(),
            Command::Verdict { report } => verdict(&report),
        };
        done.unwrap_or_else(|error| {
            super::fault(error);
            Exit::Usage
        })
    }
}

impl Select {
    fn run(&self) -> Result<Exit, PublishError> {
        let ledger = Ledger::read(&self.approved)?.ok_or_else(|| PublishError::Ledger {
            path: self.approved.clone(),
            message: "is not there, and CI runs what QA approved; `qa-pilot cases approve` writes it"
                .to_owned(),
        })?;
        let paths: BTreeMap<String, String> = files::read_json(&self.specs, DECLARED_CAP)?;
        let cases = Document::read(&self.cases)?.typed().ok_or_else(|| PublishError::Report {
            place: self.cases.display().to_string(),
            message: "must be a mapping with cases".to_owned(),
        })?;
        let root = files::absolute(Path::new("."))?;
        let specs = Specs {
            root: &root,
            feature: cases.feature.as_deref().unwrap_or_default(),
            // Every path comes from the specs file.
            spec_dir: "",
            is_generated: &|bytes| bytes == WRITE_GUARD_TS.as_bytes(),
        };
        let selection = ci::select(&ledger, &paths, &cases, &specs, self.priority.as_ref());
        for skip in &selection.skipped {
            super::talk(format_args!("skipped {}: {}", skip.id, skip.reason));
        }
        if let Some(why) = self.refused(&selection) {
            super::talk(format_args!("REFUSED: {why}"));
            return Ok(Exit::Refused);
        }
        if self.json {
            super::data(String::from_utf8_lossy(&files::json_bytes(&selection.runnable)?));
        } else {
            let paths: Vec<&str> = selection.runnable.iter().map(|one| one.path.as_str()).collect();
            super::data(format_args!("{}\n", paths.join(" ")));
        }
        Ok(Exit::Ok)
    }

    fn refused(&self, selection: &Selection) -> Option<String> {
        let skipped = selection.skipped.len();
        if selection.runnable.is_empty() {
            let of = self.priority.as_ref().map(|list| format!(" of {list}")).unwrap_or_default();
            return Some(format!("no approved case{of} may run"));
        }
        self.max_skipped
            .filter(|most| skipped > *most)
            .map(|most| format!("{skipped} case(s) were skipped, at most {most} may be"))
    }
}

fn verdict(report: &Path) -> Result<Exit, PublishError> {
    let claim = Claim::new(json::parse(report, &files::read_capped(report, RESULTS_CAP)?)?);
    Ok(match ci::verdict(&claim)? {
        Ending::Ok(line) => {
            super::data(format_args!("{line}\n"));
            Exit::Ok
        }
        Ending::Red(lines) => {
            super::talk_lines(format_args!("{lines}\n"));
            Exit::Refused
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        assert_eq!(["0", "007", "99999999999999999999999"].map(count), [Ok(0), Ok(7), Ok(usize::MAX)]);
        for text in ["", " 1", "1 ", "+1", "-1", "1.0", "0x1", "1e3", "many", "١"] {
            assert!(count(text).is_err(), "{text:?}");
        }
    }
}
