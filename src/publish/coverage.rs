//! Which criteria of the feature's requirements its cases prove.

use serde::Serialize;

use super::confidence::is_approved_pass;
use super::verdicts::Verdicts;
use crate::host::cases::{Case, Cases, Declared};
use crate::host::profile::StatusNames;
use crate::host::statuses::Statuses;
use crate::model::Verdict;

/// Counts over all criteria, and each of them. Ids only: titles and texts are not told.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Coverage {
    /// All criteria.
    pub criteria_total: usize,
    /// Those with an approved pass and no failure.
    pub proved: usize,
    /// Those of which a case fails or is flaky.
    pub failing: usize,
    /// Those that cases cover without proving them.
    pub unproved: usize,
    /// Those that no case covers.
    pub uncovered: usize,
    /// Each requirement, in the order of the file.
    pub by_requirement: Vec<ByRequirement>,
}

/// One requirement.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ByRequirement {
    /// Its id.
    pub id: String,
    /// Its criteria, in the order of the file.
    pub criteria: Vec<ByCriterion>,
}

/// One criterion.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ByCriterion {
    /// Its id.
    pub id: String,
    /// How far it is shown.
    pub state: State,
    /// The cases that cover it, in the order of the file.
    pub cases: Vec<String>,
}

/// How far a criterion is shown; the first that fits, so that a pass elsewhere never hides a failure.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// No case covers it.
    Uncovered,
    /// A case that covers it fails or is flaky.
    Failing,
    /// A case that covers it has an approved pass.
    Proved,
    /// Anything else: blocked, not run, or not approved.
    Unproved,
}

impl Coverage {
    /// Computes the coverage; none when the file declares no requirements or malformed ones.
    pub(super) fn of(
        cases: &Cases,
        statuses: &Statuses,
        names: &StatusNames,
        verdicts: &Verdicts,
    ) -> Option<Self> {
        let Declared::Requirements(requirements) = &cases.requirements else { return None };
        let mut coverage = Self::default();
        for requirement in requirements {
            let mut criteria = Vec::new();
            for criterion in &requirement.criteria {
                let reference = format!("{}/{}", requirement.id, criterion.id);
                let covering: Vec<&Case> =
                    cases.cases.iter().filter(|case| case.covers.contains(&reference)).collect();
                let state = state(&covering, statuses, names, verdicts);
                coverage.criteria_total += 1;
                *match state {
                    State::Uncovered => &mut coverage.uncovered,
                    State::Failing => &mut coverage.failing,
                    State::Proved => &mut coverage.proved,
                    State::Unproved => &mut coverage.unproved,
                } += 1;
                let cases = covering.iter().map(|case| case.id.to_string()).collect();
                criteria.push(ByCriterion { id: criterion.id.clone(), state, cases });
            }
            coverage.by_requirement.push(ByRequirement { id: requirement.id.clone(), criteria });
        }
        Some(coverage)
    }

    /// The requirements of which some criterion is not proved, in the order of the file.
    pub fn not_proved(&self) -> Vec<String> {
        let is_proved =
            |one: &&ByRequirement| one.criteria.iter().all(|criterion| criterion.state == State::Proved);
        self.by_requirement.iter().filter(|one| !is_proved(one)).map(|one| one.id.clone()).collect()
    }
}

fn state(covering: &[&Case], statuses: &Statuses, names: &StatusNames, verdicts: &Verdicts) -> State {
    let verdict = |case: &&Case| verdicts.of_case(case.id.as_str()).map(|said| said.verdict);
    if covering.is_empty() {
        State::Uncovered
    } else if covering.iter().any(|case| matches!(verdict(case), Some(Verdict::Fail | Verdict::Flaky))) {
        State::Failing
    } else if covering.iter().any(|case| is_approved_pass(case, statuses, names, verdicts)) {
        State::Proved
    } else {
        State::Unproved
    }
}
