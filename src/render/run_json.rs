//! How a run ended, for machines.

use crate::gate::Finding;
use crate::model::CaseId;
use crate::publish::ci::Ending;
use crate::report::Summary;
use crate::run::{BlockedEvent, Outcome};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Shape<'a> {
    run_id: &'a str,
    run_dir: &'a Path,
    run_kind: &'static str,
    publishable: bool,
    success: bool,
    interrupted: Option<u8>,
    egress_locked: bool,
    command_status: Option<i32>,
    summary: Option<&'a Summary>,
    ending: Option<&'a str>,
    cases: Vec<&'a str>,
    left_out: &'a [String],
    attempts: u64,
    requests: u64,
    blocked: u64,
    observed: u64,
    refusals: &'a [Finding],
    warnings: &'a [Finding],
    blocked_events: &'a [BlockedEvent],
    notes: &'a [String],
}

/// One object with a final newline: `{run_id, run_dir, run_kind, publishable, success, interrupted, egress_locked, command_status,
/// summary, ending, cases, left_out, attempts, requests, blocked, observed, refusals, warnings, blocked_events, notes}`.
pub fn outcome(outcome: &Outcome) -> String {
    let (publishable, refusals, warnings) = match &outcome.decision {
        Some(Ok(approved)) => (true, &[][..], approved.warnings()),
        Some(Err(refused)) => (false, refused.refusals.as_slice(), refused.warnings.as_slice()),
        None => (false, &[][..], &[][..]),
    };
    let shape = Shape {
        run_id: outcome.directory.id.as_str(),
        run_dir: &outcome.directory.path,
        run_kind: outcome.kind.as_str(),
        publishable,
        success: outcome.is_success(),
        interrupted: outcome.interrupted,
        egress_locked: outcome.egress_locked,
        command_status: outcome.status.code(),
        summary: outcome.report.as_ref().map(|report| &report.summary),
        ending: outcome.ending.as_ref().map(|(Ending::Ok(text) | Ending::Red(text))| text.as_str()),
        cases: outcome.selection.ids.iter().map(CaseId::as_str).collect(),
        left_out: &outcome.selection.left_out,
        attempts: outcome.counts.begun,
        requests: outcome.counts.requests,
        blocked: outcome.counts.blocked,
        observed: outcome.counts.observed,
        refusals,
        warnings,
        blocked_events: &outcome.blocked.first,
        notes: &outcome.notes,
    };
    let mut text = serde_json::to_string_pretty(&shape).unwrap_or_default();
    text.push('\n');
    text
}
