//! The Markdown of bugs and comments, by mode.
//!
//! What comes from the host's own files is told in every mode. What comes from the application (the failure's text, URLs,
//! who ran it) is told only where evidence travels, or where the body itself stays in the run directory.

use std::fmt::Write;

use super::Failure;
use crate::host::profile::Profile;
use crate::model::Verdict;
use crate::publish::payload::Mode;
use crate::publish::plain::{InnerPath, Word};
use crate::publish::told::{Told, ToldCase};

/// A bug's body.
pub(super) fn bug(
    told: &Told,
    mode: Mode,
    profile: Option<&Profile>,
    failure: Failure<'_>,
    spec: Option<&InnerPath>,
) -> String {
    let case = failure.case;
    let mut sections = vec![format!("**{}**", line(case.title.as_deref().unwrap_or("(no title)")))];
    sections.push(kind(failure.told, mode));
    if mode != Mode::Local {
        sections.push(format!("## What failed\n\n{}", fenced(failure.text)));
    }
    sections.push(steps(&case.preconditions, &case.steps));
    sections.push(format!("## Expected\n\n{}", bullets(&case.expected)));
    sections.push(place(told, mode, profile, failure));
    if let Some(spec) = spec {
        sections.push(rerun(spec, mode));
    }
    sections.push(evidence(told, mode, failure.told));
    let reopen = if matches!(mode, Mode::Tracker | Mode::Reference) {
        " If it comes back after a fix, the next run comments here: open it again then."
    } else {
        ""
    };
    sections.push(format!("Filed for the case {} by qa-pilot.{reopen}", case.id));
    let mut body = sections.join("\n\n");
    body.push('\n');
    body
}

/// A comment on a known bug.
pub(super) fn comment(told: &Told, mode: Mode, failure: Failure<'_>) -> String {
    let mut sections = vec![format!(
        "{} failed again in run {} on {}, build {}.",
        failure.told.id,
        told.run_id,
        told.env_name.as_str(),
        build(told)
    )];
    if mode.tells_data() {
        sections.push(fenced(failure.text));
    }
    sections.push(match mode {
        Mode::Tracker if failure.told.trace.is_some() => "The trace is attached to the case.".to_owned(),
        Mode::Tracker => "No trace was recorded.".to_owned(),
        _ => pinned(told, failure.told),
    });
    let mut body = sections.join("\n\n");
    body.push('\n');
    body
}

/// Text on one line that Markdown leaves alone.
pub(super) fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            c if c.is_control() => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn kind(told: &ToldCase, mode: Mode) -> String {
    let mut text = match told.verdict {
        Verdict::Flaky => {
            format!("Intermittent: it failed, and passed on retry ({} retries in this run).", told.retries)
        }
        _ => "Confirmed broken: every try failed, and QA watched the evidence.".to_owned(),
    };
    if mode == Mode::Local {
        text.push_str("\n\nThe failure's text is withheld: evidence of this environment stays on the machine that ran it.");
    }
    text
}

/// A fence that is longer than any in the text.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let text: String = text.chars().filter(|c| *c == '\n' || *c == '\t' || !c.is_control()).collect();
    format!("{fence}\n{text}\n{fence}")
}

fn bullets(list: &[String]) -> String {
    list.iter().map(|text| format!("- {}", line(text))).collect::<Vec<_>>().join("\n")
}

fn steps(preconditions: &[String], steps: &[String]) -> String {
    let mut out = "## Steps to reproduce\n".to_owned();
    if !preconditions.is_empty() {
        // Writing to a string does not fail.
        let _ = write!(out, "\nBefore:\n\n{}\n", bullets(preconditions));
    }
    for (index, step) in steps.iter().enumerate() {
        let _ = write!(out, "\n{}. {}", index + 1, line(step));
    }
    out
}

fn build(told: &Told) -> &str {
    told.build.as_ref().map_or("unknown", crate::publish::BuildId::as_str)
}

fn place(told: &Told, mode: Mode, profile: Option<&Profile>, failure: Failure<'_>) -> String {
    let word = |word: &Option<Word>| word.as_ref().map_or("unknown", Word::as_str).to_owned();
    let environment = ("Environment", told.env_name.as_str().to_owned());
    let run = ("Run", told.run_id.to_string());
    let rows = if mode == Mode::Local {
        vec![("Case", failure.case.id.to_string()), environment, ("Build", build(told).to_owned()), run]
    } else {
        let remark = if told.is_build_id { " (a fingerprint of the build, no commit)" } else { "" };
        vec![
            environment,
            ("URL", url(told, profile)),
            ("Build", format!("{}{remark}", build(told))),
            ("App", word(&told.app)),
            ("API mode", word(&told.api_mode)),
            ("Browser", word(&told.browser)),
            run,
            ("Run by", word(&told.executor)),
        ]
    };
    let rows = rows.iter().map(|(key, value)| format!("| {key} | {value} |")).collect::<Vec<_>>().join("\n");
    format!("## Where\n\n| | |\n|---|---|\n{rows}")
}

/// The registered URL; the run's own only where no profile says.
fn url(told: &Told, profile: Option<&Profile>) -> String {
    let registered = profile.and_then(|profile| {
        let app = told.app.as_ref()?.as_str();
        profile.environment(told.env_name.as_str())?.apps.get(app).cloned()
    });
    let own = told.env_url.clone().filter(|_| profile.is_none());
    registered.or(own).unwrap_or_else(|| "unknown".to_owned())
}

fn rerun(spec: &InnerPath, mode: Mode) -> String {
    let path = spec.as_str();
    let quoted = if path.chars().all(|c| c.is_ascii_alphanumeric() || "./_-@+".contains(c)) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    };
    let remark = if mode == Mode::Local {
        ""
    } else {
        "\n\nIt runs under the write guard: set up a guard with `qa-pilot run` or `qa-pilot proxy`."
    };
    format!("## Run it again\n\n```\nnpx playwright test {quoted}\n```{remark}")
}

fn evidence(told: &Told, mode: Mode, case: &ToldCase) -> String {
    let credentials =
        "A trace holds what the browser sent and received, credentials included: do not pass it on.";
    let text = match mode {
        Mode::Tracker => match case.trace {
            Some(_) => format!(
                "The trace `{}-{}.zip` is attached; open it with `npx playwright show-trace <file>`. {credentials}",
                case.id, told.run_id
            ),
            None => "No trace was recorded.".to_owned(),
        },
        Mode::Reference => format!(
            "{}\n\nCheck it with `shasum -a 256 <path>`, then open it with `npx playwright show-trace <path>`. {credentials}",
            pinned(told, case)
        ),
        Mode::Local => format!("{}\n\nCheck it with `shasum -a 256 <path>`.", pinned(told, case)),
        Mode::None => match &case.trace {
            Some(trace) => format!(
                "Trace: `{}/{}`; open it with `npx playwright show-trace <path>`. {credentials}",
                told.run_dir(),
                trace.as_str()
            ),
            None => "No trace was recorded.".to_owned(),
        },
    };
    format!("## Evidence\n\n{text}")
}

/// The trace by path and hash: it stays on the machine that ran it.
fn pinned(told: &Told, case: &ToldCase) -> String {
    let trace = case.trace.as_ref().map_or("none recorded", InnerPath::as_str);
    let hash = case.trace_sha256.map_or_else(|| "none recorded".to_owned(), |digest| digest.to_string());
    format!(
        "The trace stays on the machine that ran it.\n\n- Run directory: `{}/`\n- Trace: `{trace}`\n- SHA-256: `{hash}`",
        told.run_dir()
    )
}
