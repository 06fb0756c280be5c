//! Bugs from failures that QA confirmed: what to file, what to comment on, and the ledger of what is known.
//!
//! A failure is known by its signature. The same one again is a comment, another one in the same case is a new bug that
//! names the old. How much a bug tells depends on how far the environment's evidence travels; without a profile only a run
//! on qa or staging is filed, and then without attachments.

mod body;
mod ledger;
mod signature;

use std::collections::BTreeMap;

use serde::Serialize;

pub use ledger::BugLedger;
pub use signature::signature;

use super::PublishError;
use super::payload::Mode;
use super::plain::InnerPath;
use super::told::{Told, ToldCase};
use crate::host::cases::{Case, Cases};
use crate::host::profile::Profile;
use crate::model::{CaseId, Verdict};

/// What to file. The order of keys is part of the format.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bugs {
    /// Bugs to make.
    pub create: Vec<Create>,
    /// Known bugs that were seen again.
    pub comment: Vec<Comment>,
    /// Confirmed cases that nothing can be filed for.
    pub skipped: Vec<Skipped>,
    /// The ledger after it; task ids of new bugs are filled in once they are known.
    pub ledger: BugLedger,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// A bug to make.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Create {
    /// The case.
    pub id: CaseId,
    /// The bug's title.
    pub title: String,
    /// The tracker's list for bugs; none when it is the feature's own, or there is no tracker.
    pub list: Option<String>,
    /// Where the list comes from.
    pub list_source: &'static str,
    /// Where the body goes when there is no tracker; relative to the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// `qa-pilot`, and `intermittent` for a flake.
    pub tags: Vec<&'static str>,
    /// The case's priority.
    pub priority: Option<String>,
    /// The case that the bug is linked to.
    pub link_to_case: CaseId,
    /// The name of the attached trace, where traces are attached.
    pub trace_attachment: Option<String>,
    /// Markdown.
    pub body: String,
    /// The bug of another failure of the same case.
    pub supersedes: Option<Supersedes>,
}

/// An older bug of the same case.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Supersedes {
    /// Its task.
    pub task_id: String,
    /// What to say there.
    pub note: String,
}

/// A comment on a known bug.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Comment {
    /// The case.
    pub id: CaseId,
    /// The bug's task.
    pub task_id: String,
    /// Markdown.
    pub body: String,
}

/// A confirmed case that nothing can be filed for.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Skipped {
    /// The id as it was confirmed.
    pub id: String,
    /// Why.
    pub reason: &'static str,
}

/// What bugs are made from.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The run.
    pub told: &'a Told,
    /// The feature's cases.
    pub cases: &'a Cases,
    /// The host profile, where one is named.
    pub profile: Option<&'a Profile>,
    /// The specs by case id, relative to the repository.
    pub specs: &'a BTreeMap<String, String>,
}

/// Computes what to file for the cases `confirmed`.
///
/// # Errors
/// When nothing may be filed from the run's environment.
pub fn bugs(inputs: Inputs<'_>, confirmed: &[String], known: &BugLedger) -> Result<Bugs, PublishError> {
    let mode = mode(inputs.told, inputs.profile)?;
    let list = inputs.profile.and_then(|profile| profile.clickup.as_ref()?.bug_list.clone());
    let mut bugs = Bugs {
        create: Vec::new(),
        comment: Vec::new(),
        skipped: Vec::new(),
        ledger: known.clone(),
        warnings: Vec::new(),
    };
    // An id that is named twice is handled twice, each time by the ledger as it came in.
    for id in confirmed {
        match fileable(&inputs, id) {
            Ok(failure) => file(&inputs, mode, &list, failure, known, &mut bugs),
            Err(reason) => bugs.skipped.push(Skipped { id: id.clone(), reason }),
        }
    }
    if mode != Mode::None && list.is_none() && !bugs.create.is_empty() {
        bugs.warnings.push(
            "clickup.bug_list is not set, so bugs go to the feature's own list and count among its cases"
                .to_owned(),
        );
    }
    Ok(bugs)
}

/// A failure that a bug can be filed for.
#[derive(Clone, Copy)]
struct Failure<'a> {
    case: &'a Case,
    told: &'a ToldCase,
    text: &'a str,
}

fn mode(told: &Told, profile: Option<&Profile>) -> Result<Mode, PublishError> {
    let env = told.env_name.as_str();
    match profile {
        Some(profile) => Mode::of(profile, env).ok_or_else(|| {
            PublishError::Environment(format!(
                "environment `{env}` is not registered in the profile, so nothing says how much may be told"
            ))
        }),
        None if matches!(told.env_kind.as_ref().map(super::Word::as_str), Some("qa" | "staging")) => {
            Ok(Mode::Reference)
        }
        None => Err(PublishError::Environment(format!(
            "environment `{env}` is not known to be qa or staging; name the profile with --profile"
        ))),
    }
}

fn fileable<'a>(inputs: &Inputs<'a>, id: &str) -> Result<Failure<'a>, &'static str> {
    let told = inputs.told.case(id).ok_or("is not in the report")?;
    let case = inputs.cases.case(&told.id).ok_or("is not in the cases file")?;
    if !matches!(told.verdict, Verdict::Fail | Verdict::Flaky) {
        return Err("did not fail in this run");
    }
    let text = told.failure.as_deref().filter(|text| !text.trim().is_empty());
    let text = text.ok_or("has no failure text here; file it from the run's own report.json")?;
    Ok(Failure { case, told, text })
}

fn file(
    inputs: &Inputs<'_>,
    mode: Mode,
    list: &Option<String>,
    failure: Failure<'_>,
    known: &BugLedger,
    bugs: &mut Bugs,
) {
    let id = &failure.told.id;
    let (told, run) = (inputs.told, inputs.told.run_id.as_str());
    let signature = signature(id, failure.text);
    let entry = known.entry(id.as_str());
    let same = entry.filter(|entry| entry.signature == signature && mode != Mode::None);
    if let Some((entry, task_id)) = same.and_then(|entry| Some((entry, entry.task_id.clone()?))) {
        bugs.ledger.seen_again(id.as_str(), entry, run);
        let body = body::comment(told, mode, failure);
        bugs.comment.push(Comment { id: id.clone(), task_id, body });
        return;
    }
    let older = entry.filter(|entry| entry.signature != signature).and_then(|entry| entry.task_id.clone());
    bugs.ledger.filed(id.as_str(), entry, &signature, run);
    let is_flaky = failure.told.verdict == Verdict::Flaky;
    let name = failure.case.title.as_deref().unwrap_or("(no title)");
    let spec = inputs.specs.get(id.as_str()).and_then(|path| InnerPath::parse(path));
    let list_source = match (mode, list) {
        (Mode::None, _) => "a markdown file in the run directory: there is no tracker",
        (_, Some(_)) => "the profile's clickup.bug_list",
        (_, None) => "the feature's own list: the profile has no clickup.bug_list",
    };
    let trace_attachment = failure
        .told
        .trace
        .as_ref()
        .filter(|_| mode == Mode::Tracker)
        .map(|_| format!("{id}-{}.zip", told.run_id));
    bugs.create.push(Create {
        title: format!("{id}: {}", one_line(name)),
        list: list.clone().filter(|_| mode != Mode::None),
        list_source,
        file: (mode == Mode::None).then(|| format!("{}/bugs/{id}.md", told.run_dir())),
        tags: if is_flaky { vec!["qa-pilot", "intermittent"] } else { vec!["qa-pilot"] },
        priority: failure.case.priority.clone(),
        link_to_case: id.clone(),
        trace_attachment,
        body: body::bug(told, mode, inputs.profile, failure, spec.as_ref()),
        supersedes: older.map(|task_id| Supersedes {
            note: format!("{id} now fails in another way, in run {run}; the new bug takes this one's place"),
            task_id,
        }),
        id: id.clone(),
    });
}

/// A title is no Markdown, so nothing is escaped; it is one line.
fn one_line(text: &str) -> String {
    text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests;
