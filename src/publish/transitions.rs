//! Where each case goes after a run.
//!
//! A run never approves: a pass stays approved only where the spec that ran is the one that QA approved, a failure goes to
//! review, a flake is set aside, and a blocked case stays where it is.

use serde::{Serialize, Serializer};

use super::ledger::Ledger;
use super::verdicts::{Said, Verdicts};
use crate::host::cases::Cases;
use crate::host::profile::{StatusKey, StatusNames};
use crate::host::statuses::{Status, Statuses};
use crate::model::{CaseId, Verdict};

/// One case's way.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Transition {
    /// The case.
    pub id: CaseId,
    /// Where it was; none when its status is missing or unknown.
    #[serde(serialize_with = "from")]
    pub from: Option<StatusKey>,
    /// Where it goes.
    #[serde(serialize_with = "to")]
    pub to: StatusKey,
    /// Its verdict.
    pub verdict: Verdict,
    /// Why.
    pub reason: &'static str,
}

/// All ways, and the ledger after them.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Transitions {
    /// In the order of the cases file.
    pub transitions: Vec<Transition>,
    /// The approvals that hold after the run.
    pub approved_ledger: Ledger,
}

fn from<S: Serializer>(key: &Option<StatusKey>, serializer: S) -> Result<S::Ok, S::Error> {
    key.map(StatusKey::as_str).serialize(serializer)
}

fn to<S: Serializer>(key: &StatusKey, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(key.as_str())
}

impl Transitions {
    /// Computes the ways of all cases that have a verdict.
    pub fn of(
        cases: &Cases,
        statuses: &Statuses,
        names: &StatusNames,
        verdicts: &Verdicts,
        mut ledger: Ledger,
    ) -> Self {
        let mut transitions = Vec::new();
        for case in &cases.cases {
            let id = case.id.as_str();
            let Some(said) = verdicts.of_case(id) else { continue };
            let from = match statuses.of(id, names) {
                Status::Known(key) => Some(key),
                Status::Undeclared(_) | Status::Missing => None,
            };
            let Some((to, reason)) = way(said, from, ledger.hash(id)) else { continue };
            if to != StatusKey::Approved {
                ledger.clear(id);
            }
            transitions.push(Transition { id: case.id.clone(), from, to, verdict: said.verdict, reason });
        }
        Self { transitions, approved_ledger: ledger }
    }

    /// Where the case `id` goes; nowhere when it was blocked or did not run.
    pub fn target(&self, id: &CaseId) -> Option<StatusKey> {
        self.transitions.iter().find(|one| one.id == *id).map(|one| one.to)
    }
}

fn way(said: &Said, from: Option<StatusKey>, approved: Option<&str>) -> Option<(StatusKey, &'static str)> {
    let ran = said.spec_sha.as_ref().map(super::SpecSha::as_str);
    match (said.verdict, from) {
        (Verdict::Pass, Some(StatusKey::Approved)) if ran.is_some() && ran == approved => {
            Some((StatusKey::Approved, "passed, and the spec is the one that was approved"))
        }
        (Verdict::Pass, Some(StatusKey::Approved)) => {
            Some((StatusKey::UnderReview, "passed, and the spec is not the one that was approved"))
        }
        (Verdict::Pass, _) => Some((StatusKey::UnderReview, "passed; the verdict waits for review")),
        (Verdict::Fail, _) => Some((StatusKey::UnderReview, "failed; the verdict waits for review")),
        (Verdict::Flaky, _) => Some((StatusKey::Quarantined, "passed only on retry")),
        (Verdict::Blocked, _) => None,
    }
}
