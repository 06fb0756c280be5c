//! Where a feature's cases stand: which may run, which are held and why, and how far the feature is shown to work.

use serde::Serialize;

use super::confidence::{Confidence, confidence};
use super::coverage::Coverage;
use super::verdicts::Verdicts;
use crate::host::cases::{Case, Cases, Declared};
use crate::host::profile::{StatusKey, StatusNames};
use crate::host::statuses::{Status, Statuses};

/// The standing of a feature. The order of keys is part of the format.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// Cases that may run.
    pub executable: Vec<Executable>,
    /// Cases that wait for a person.
    pub held: Vec<Held>,
    /// Cases that were set aside as flaky, also when they may run.
    pub quarantined: Vec<Named>,
    /// Cases without a status.
    pub unsynced: Vec<Named>,
    /// Statuses that the host does not declare.
    pub unknown_status: Vec<Unknown>,
    /// Ids with a status that are no cases.
    pub orphaned: Vec<String>,
    /// Cases that may run while their last verdict waits for review.
    pub awaiting_review: Vec<String>,
    /// How far the feature is shown to work.
    pub confidence: Confidence,
    /// What its cases prove; absent when no requirements are declared, or malformed ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirements: Option<Coverage>,
    /// How many of each.
    pub counts: Counts,
    /// What a person should know, a line each.
    pub warnings: Vec<String>,
}

/// A case that may run.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Executable {
    /// The case.
    pub id: String,
    /// `P0`, `P1` or `P2`.
    pub priority: Option<String>,
    /// The status as it is recorded.
    pub status: String,
    /// What it means.
    pub state: &'static str,
}

/// A case that waits.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Held {
    /// The case.
    pub id: String,
    /// `P0`, `P1` or `P2`.
    pub priority: Option<String>,
    /// The status as it is recorded.
    pub status: String,
    /// What it means.
    pub state: &'static str,
    /// What it waits for.
    pub reason: &'static str,
}

/// A case by name.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Named {
    /// The case.
    pub id: String,
    /// `P0`, `P1` or `P2`.
    pub priority: Option<String>,
}

/// A status that the host does not declare.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unknown {
    /// The case.
    pub id: String,
    /// What is recorded.
    pub status: serde_json::Value,
}

/// How many cases stand where.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Counts {
    pub total: usize,
    pub executable: usize,
    pub held: usize,
    pub quarantined: usize,
    pub approved: usize,
}

impl Standing {
    /// Sorts the cases by their recorded statuses. With `include_quarantined` those set aside may run as well.
    pub fn of(
        cases: &Cases,
        statuses: &Statuses,
        names: &StatusNames,
        verdicts: &Verdicts,
        include_quarantined: bool,
    ) -> Self {
        let mut standing = Self {
            executable: Vec::new(),
            held: Vec::new(),
            quarantined: Vec::new(),
            unsynced: Vec::new(),
            unknown_status: Vec::new(),
            orphaned: Vec::new(),
            awaiting_review: Vec::new(),
            confidence: confidence(cases, statuses, names, verdicts),
            requirements: Coverage::of(cases, statuses, names, verdicts),
            counts: Counts::default(),
            warnings: Vec::new(),
        };
        for case in &cases.cases {
            standing.sort(case, statuses, names, include_quarantined);
        }
        let is_case = |id: &str| cases.cases.iter().any(|case| case.id.as_str() == id);
        standing.orphaned =
            statuses.iter().map(|(id, _)| id).filter(|id| !is_case(id)).map(str::to_owned).collect();
        standing.counts.total = cases.cases.len();
        standing.counts.executable = standing.executable.len();
        standing.counts.held = standing.held.len();
        standing.counts.quarantined = standing.quarantined.len();
        standing.warnings = standing.warn(names, include_quarantined, &cases.requirements);
        standing
    }

    fn sort(&mut self, case: &Case, statuses: &Statuses, names: &StatusNames, include_quarantined: bool) {
        let (id, priority) = (case.id.to_string(), case.priority.clone());
        let key = match statuses.of(&id, names) {
            Status::Missing => return self.unsynced.push(Named { id, priority }),
            Status::Undeclared(value) => {
                return self.unknown_status.push(Unknown { id, status: value.clone() });
            }
            Status::Known(key) => key,
        };
        let status = statuses.text(&id).unwrap_or_default().to_owned();
        let state = key.as_str();
        if key == StatusKey::Approved {
            self.counts.approved += 1;
        }
        if key == StatusKey::UnderReview {
            self.awaiting_review.push(id.clone());
        }
        if key == StatusKey::Quarantined {
            self.quarantined.push(Named { id: id.clone(), priority: priority.clone() });
            if !include_quarantined {
                return;
            }
        }
        match key {
            StatusKey::CaseReview => {
                self.held.push(Held { id, priority, status, state, reason: "it waits for design review" });
            }
            StatusKey::Rejected => {
                let reason = "it must be mended and approved for execution again";
                self.held.push(Held { id, priority, status, state, reason });
            }
            _ => self.executable.push(Executable { id, priority, status, state }),
        }
    }

    fn warn(&self, names: &StatusNames, include_quarantined: bool, declared: &Declared) -> Vec<String> {
        let named = |list: &[Named]| list.iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join(", ");
        let mut warnings = Vec::new();
        if !self.awaiting_review.is_empty() {
            warnings
                .push(format!("their last verdict waits for review: {}", self.awaiting_review.join(", ")));
        }
        if !self.quarantined.is_empty() && !include_quarantined {
            let ids = named(&self.quarantined);
            warnings
                .push(format!("set aside as flaky, so they do not run without --include-quarantined: {ids}"));
        }
        if !self.unsynced.is_empty() {
            warnings.push(format!("without a status, so they do not run: {}", named(&self.unsynced)));
        }
        if !self.orphaned.is_empty() {
            warnings.push(format!("have a status and are no cases: {}", self.orphaned.join(", ")));
        }
        if !self.unknown_status.is_empty() {
            let found = self.unknown_status.iter().map(|one| format!("{} ({})", one.id, one.status));
            let known: Vec<&str> = names.all().collect();
            warnings.push(format!(
                "have a status that is none of {}: {}",
                known.join(", "),
                found.collect::<Vec<_>>().join(", ")
            ));
        }
        if *declared == Declared::Malformed {
            warnings.push("requirements are malformed, so nothing is said of their coverage; `qa-pilot cases lint` says what to mend".to_owned());
        }
        warnings
    }
}
