//! What is said and counted after the report of a run is there: too much blocked, cases that did not run, greens in a row,
//! and how a pipeline ends.

use super::plan::Plan;
use super::run_log::{RunLog, STABLE};
use crate::gate::Claim;
use crate::model::{CaseId, RunKind};
use crate::publish::ci::{self, Ending};
use crate::report::{CaseEntry, Report};

/// Notes about the run as a whole; a line each. A shard is not the whole: of it nothing is said to be missing.
pub(super) fn notes(plan: &Plan, report: &Report, sharded: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let (blocked, total) = (report.summary.blocked, report.summary.total());
    if blocked * 10 > total {
        notes.push(format!(
            "halted: {blocked} of {total} cases are blocked, more than 10 %; the environment failed, not the feature, so mend it and run again"
        ));
    }
    let ran = |id: &&CaseId| report.cases.iter().any(|case| case.id == **id);
    let missing: Vec<&str> = plan.selection.ids.iter().filter(|id| !ran(id)).map(CaseId::as_str).collect();
    if !missing.is_empty() && !sharded {
        notes.push(format!(
            "{} of {} approved cases have no test in this run: {}",
            missing.len(),
            plan.selection.ids.len(),
            missing.join(", ")
        ));
    }
    notes
}

/// Counts the greens of a stabilization run that came to its end, and says what is stable.
pub(super) fn stability(
    plan: &Plan,
    report: &Report,
    run_id: &str,
    whole: bool,
) -> Result<Vec<String>, String> {
    if plan.kind != RunKind::Stabilization || !whole {
        return Ok(Vec::new());
    }
    let mut log = plan.run_log.clone();
    for case in &report.cases {
        log.count(&case.id, case.verdict, case.spec_sha.as_deref(), run_id);
    }
    let path = RunLog::path(&plan.feature_dir);
    log.write(&path).map_err(|error| format!("the greens of this run were not counted: {error}"))?;
    let told = |case: &CaseEntry| {
        let greens = log.greens(&case.id, case.spec_sha.as_deref());
        if greens >= STABLE {
            format!("{} stable", case.id)
        } else {
            format!("{} {greens} of {STABLE}", case.id)
        }
    };
    let greens: Vec<String> = report.cases.iter().map(told).collect();
    Ok(vec![format!("green runs in a row ({}): {}", path.display(), greens.join(", "))])
}

/// How a pipeline ends; red when its report cannot be judged.
pub(super) fn ending(report: &Report) -> Ending {
    let judged = serde_json::to_value(report)
        .map_err(|error| error.to_string())
        .and_then(|value| ci::verdict(&Claim::new(value)).map_err(|error| error.to_string()));
    judged.unwrap_or_else(|error| Ending::Red(format!("REFUSED: {error}")))
}

/// Whether every case of a run passed, none of it outside a test failed, and little was blocked.
pub(super) fn is_green(report: &Report) -> bool {
    let summary = &report.summary;
    summary.fail + summary.flaky == 0
        && summary.total() > 0
        && summary.blocked * 10 <= summary.total()
        && report.errors.is_empty()
}
