//! How a run ended, for a terminal. Colours are in the text; whoever prints it strips them where they are not wanted.

use super::gate_text;
use crate::publish::ci::Ending;
use crate::run::Outcome;
use owo_colors::OwoColorize;
use std::fmt::Write;

/// A line about the verdicts, one about the guard, one for each note and finding, and the decision.
pub fn outcome(outcome: &Outcome) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(out, "{}", verdicts(outcome));
    let counts = outcome.counts;
    let _ = writeln!(
        out,
        "  guard: {} attempt(s), {} request(s), {} blocked, {} observed{}",
        counts.begun,
        counts.requests,
        counts.blocked,
        counts.observed,
        if outcome.egress_locked { ", egress locked" } else { "" }
    );
    for note in &outcome.notes {
        let _ = writeln!(out, "  {} {}", "note:".yellow(), note.replace(['\n', '\r'], " "));
    }
    if let Some(decision) = &outcome.decision {
        for line in gate_text::findings(decision).lines() {
            let _ = writeln!(out, "  {line}");
        }
    }
    match &outcome.ending {
        Some(Ending::Ok(line)) => out.push_str(&line.green().to_string()),
        Some(Ending::Red(lines)) => out.push_str(&lines.red().to_string()),
        None => out.push_str(&ending(outcome)),
    }
    out.push('\n');
    out
}

fn verdicts(outcome: &Outcome) -> String {
    match &outcome.report {
        Some(report) => {
            let summary = &report.summary;
            format!(
                "{} {} pass, {} fail, {} flaky, {} blocked",
                outcome.directory.id.bold(),
                summary.pass,
                summary.fail,
                summary.flaky,
                summary.blocked
            )
        }
        None => format!("{} no verdicts", outcome.directory.id.bold()),
    }
}

fn ending(outcome: &Outcome) -> String {
    match &outcome.decision {
        Some(Ok(_)) => format!("{}", "publishable".green().bold()),
        Some(Err(refused)) => {
            format!(
                "{}: {} refusal(s); `qa-pilot gate --explain CODE` says what to do",
                "not publishable".red().bold(),
                refused.refusals.len()
            )
        }
        None => format!("{}", "not gated".red().bold()),
    }
}
