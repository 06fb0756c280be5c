//! The gate's decision for a terminal: a line a finding.

use std::fmt::Write;

use super::one_line;
use crate::gate::rules::{ALL, Rule};
use crate::gate::{Approved, Decision, Finding};

/// The lines about refusals and warnings, each `<code>: <message> (<subject>)`; warnings are marked and come last.
pub fn findings(decision: &Decision) -> String {
    let mut out = String::new();
    let (refusals, warnings) = match decision {
        Ok(approved) => (&[][..], approved.warnings()),
        Err(refused) => (refused.refusals.as_slice(), refused.warnings.as_slice()),
    };
    for refusal in refusals {
        out.push_str(&line(refusal));
        out.push('\n');
    }
    for warning in warnings {
        out.push_str("warning: ");
        out.push_str(&line(warning));
        out.push('\n');
    }
    out
}

/// One finding on one line, whatever its texts hold.
pub fn line(finding: &Finding) -> String {
    one_line(&format!("{}: {} ({})", finding.code, finding.message, finding.subject))
}

/// The line that says that a run is publishable.
pub fn ok(approved: &Approved) -> String {
    let summary = approved.summary();
    let field = |key| approved.report().text(key).unwrap_or("?");
    one_line(&format!(
        "ok: {} case(s) ({} pass, {} fail, {} flaky, {} blocked) on {} at {}: publishable",
        summary.total(),
        summary.pass,
        summary.fail,
        summary.flaky,
        summary.blocked,
        field("env_name"),
        field("commit_sha"),
    )) + "\n"
}

/// What one rule demands and what to do about its findings.
pub fn explain(rule: &Rule) -> String {
    format!("{}\n  demands: {}\n  to mend: {}\n", rule.code, rule.description, rule.mend)
}

/// The table of rules, for help.
pub fn table() -> String {
    let width = ALL.iter().map(|rule| rule.code.len()).max().unwrap_or(0);
    let mut out = String::from(
        "Refusal and warning codes, in the order of findings (`--explain CODE` says what to do):\n",
    );
    for rule in ALL {
        // Writing to a string does not fail.
        let _ = writeln!(out, "  {:width$}  {}", rule.code, rule.description);
    }
    out
}
