//! The summary of a run: one comment on the feature, which begins with the run's id so that it is found again.

use serde::Serialize;

use super::case::RunIdText;
use super::{Facts, Mode};
use crate::publish::confidence;
use crate::publish::coverage::Coverage;
use crate::publish::number::{Plain, percent};
use crate::publish::plain::{BuildId, Word};
use crate::report;

/// The summary where names of people and tools may be told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The run.
    pub run_id: RunIdText,
    /// The environment.
    pub env_name: Word,
    /// The deployed build.
    pub build_sha: BuildId,
    /// Cases by verdict.
    pub counts: report::Summary,
    blocked_pct: Plain,
    /// How far the feature is shown to work.
    pub confidence: Score,
    /// Whether it counts as ready.
    pub ready: bool,
    /// What its cases prove, where requirements are declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirement_coverage: Option<RequirementCoverage>,
    /// Who ran it.
    pub executor: Word,
    /// How to look at the evidence.
    pub reviewer_note: String,
}

/// The summary where nothing of the application is told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LocalSummary {
    /// The run.
    pub run_id: RunIdText,
    /// The environment.
    pub env_name: Word,
    /// The deployed build.
    pub build_id: BuildId,
    /// Cases by verdict.
    pub counts: report::Summary,
    blocked_pct: Plain,
    /// How far the feature is shown to work.
    pub confidence: LocalScore,
    /// Whether it counts as ready.
    pub ready: bool,
    /// What its cases prove, where requirements are declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirement_coverage: Option<RequirementCoverage>,
}

/// The confidence; `why` is null when nothing is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    #[serde(serialize_with = "confidence::plain")]
    pub score: Option<f64>,
    pub label: String,
    pub why: Option<String>,
}

/// The confidence without a reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LocalScore {
    #[serde(serialize_with = "confidence::plain")]
    pub score: Option<f64>,
    pub label: String,
}

/// Counts of criteria, and the requirements that are not proved yet: ids and counts, never texts.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[expect(missing_docs, reason = "as in the coverage itself")]
pub struct RequirementCoverage {
    pub criteria_total: usize,
    pub proved: usize,
    pub failing: usize,
    pub unproved: usize,
    pub uncovered: usize,
    pub not_proved: Vec<String>,
}

impl RequirementCoverage {
    fn of(coverage: &Coverage) -> Self {
        Self {
            criteria_total: coverage.criteria_total,
            proved: coverage.proved,
            failing: coverage.failing,
            unproved: coverage.unproved,
            uncovered: coverage.uncovered,
            not_proved: coverage.not_proved(),
        }
    }
}

fn counts(facts: &Facts<'_>) -> (report::Summary, Plain) {
    let counts = report::Summary::of(facts.told.cases.iter().map(|case| case.verdict));
    (counts, percent(counts.blocked, counts.total()))
}

impl Summary {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let (counts, blocked_pct) = counts(facts);
        Self {
            run_id: RunIdText(facts.told.run_id.clone()),
            env_name: facts.told.env_name.clone(),
            build_sha: facts.build.clone(),
            counts,
            blocked_pct,
            confidence: Score {
                score: facts.confidence.score,
                label: facts.confidence.label.clone(),
                why: facts.confidence.why.clone(),
            },
            ready: facts.confidence.ready,
            requirement_coverage: facts.coverage.as_ref().map(RequirementCoverage::of),
            executor: facts.executor.clone(),
            reviewer_note: note(facts),
        }
    }
}

impl LocalSummary {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let (counts, blocked_pct) = counts(facts);
        Self {
            run_id: RunIdText(facts.told.run_id.clone()),
            env_name: facts.told.env_name.clone(),
            build_id: facts.build.clone(),
            counts,
            blocked_pct,
            confidence: LocalScore { score: facts.confidence.score, label: facts.confidence.label.clone() },
            ready: facts.confidence.ready,
            requirement_coverage: facts.coverage.as_ref().map(RequirementCoverage::of),
        }
    }
}

fn note(facts: &Facts<'_>) -> String {
    let run_dir = facts.told.run_dir();
    match facts.mode {
        Mode::Reference => format!(
            "Traces stay on the machine that ran them, in {run_dir}/. Check one against the field Trace SHA256 with `shasum -a 256 <path>`, then open it with `npx playwright show-trace <path>`."
        ),
        Mode::None => format!("Open a trace in {run_dir}/ with `npx playwright show-trace <path>`."),
        Mode::Tracker | Mode::Local => {
            "Open an attached trace with `npx playwright show-trace <file>`.".to_owned()
        }
    }
}
