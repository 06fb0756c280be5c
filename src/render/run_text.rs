//! How a run ended, for a terminal. Colours are in the text; whoever prints it strips them where they are not wanted.

use super::gate_text;
use crate::publish::ci::Ending;
use crate::run::{Blocked, Outcome};
use owo_colors::OwoColorize;
use std::fmt::Write;

/// A line about the verdicts, one about the guard, one for each block, note and finding, and the decision.
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
    out.push_str(&blocked(&outcome.blocked));
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

fn blocked(blocked: &Blocked) -> String {
    let mut out = String::new();
    for event in &blocked.first {
        let told = format!(
            "{}: {}; in \"{}\", {}:{}",
            event.what, event.reason, event.title, event.file, event.line
        );
        // Names of pages and tests may hold anything, and a terminal obeys some of it.
        let _ = writeln!(out, "  {} {}", "blocked:".yellow(), told.replace(char::is_control, " "));
    }
    if blocked.more > 0 {
        let _ = writeln!(
            out,
            "  {} and {} more; each writes.json has its own",
            "blocked:".yellow(),
            blocked.more
        );
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::BlockedEvent;

    #[test]
    fn a_line_a_block_whatever_its_name_holds() {
        let event = BlockedEvent {
            title: "SHOP-CART-001: a cart".into(),
            file: "specs/cart.spec.ts".into(),
            line: 12,
            retry: 0,
            what: "control \"Delete\n\u{1b}[2J\"".into(),
            reason: "read-only".into(),
        };
        let text = blocked(&Blocked { first: vec![event], more: 3 });
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].ends_with(
                r#"control "Delete  [2J": read-only; in "SHOP-CART-001: a cart", specs/cart.spec.ts:12"#
            ),
            "{text:?}"
        );
        assert!(lines[1].ends_with("and 3 more; each writes.json has its own"));
        assert_eq!(blocked(&Blocked::default()), "");
    }
}
