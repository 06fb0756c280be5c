//! How far a feature is shown to work: the weighted share of cases whose verdict QA approved and whose verdict was a pass.
//!
//! Approval alone would read a feature as ready just when QA confirmed that it is broken. A case that did not run never
//! counts, quarantined and flaky ones stay in the whole, and any P0 that is not an approved pass means not ready,
//! whatever the score.

use serde::Serialize;

use super::number::Plain;
use super::verdicts::Verdicts;
use crate::host::cases::{Case, Cases};
use crate::host::profile::{StatusKey, StatusNames};
use crate::host::statuses::{Status, Statuses};
use crate::model::Verdict;

/// A score between 0 and 1 and what it means.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Confidence {
    /// The share, not rounded; none when there are no verdicts.
    #[serde(serialize_with = "plain")]
    pub score: Option<f64>,
    /// Whether no P0 stands against it and something counts for it.
    pub ready: bool,
    /// `Unknown`, `Not Ready`, or the score in percent.
    pub label: String,
    /// What a person should know; none when nothing is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

pub(super) fn plain<S: serde::Serializer>(score: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    score.map(Plain).serialize(serializer)
}

/// Whether the last verdict of a case was a pass and QA approved it.
pub(super) fn is_approved_pass(
    case: &Case,
    statuses: &Statuses,
    names: &StatusNames,
    verdicts: &Verdicts,
) -> bool {
    let id = case.id.as_str();
    statuses.of(id, names) == Status::Known(StatusKey::Approved)
        && verdicts.of_case(id).is_some_and(|said| said.verdict == Verdict::Pass)
}

/// Computes the confidence in a feature.
pub(super) fn confidence(
    cases: &Cases,
    statuses: &Statuses,
    names: &StatusNames,
    verdicts: &Verdicts,
) -> Confidence {
    if verdicts.is_empty() || cases.cases.is_empty() {
        let why = Some("there are no verdicts yet".to_owned());
        return Confidence { score: None, ready: false, label: "Unknown".to_owned(), why };
    }
    let counts = |case: &&Case| is_approved_pass(case, statuses, names, verdicts);
    let whole: u64 = cases.cases.iter().map(weight).sum();
    let earned: u64 = cases.cases.iter().filter(counts).map(weight).sum();
    let score = earned as f64 / whole as f64;
    let vetoes = cases.cases.iter().filter(|case| is_p0(case) && !counts(case)).count();
    let not_ready = |why: String| Confidence {
        score: Some(score),
        ready: false,
        label: "Not Ready".to_owned(),
        why: Some(why),
    };
    if vetoes > 0 {
        return not_ready(format!("{vetoes} P0 case(s) without an approved pass"));
    }
    if earned == 0 {
        return not_ready("no case has an approved pass".to_owned());
    }
    let percent = (score * 100.0).round();
    let why = if !cases.cases.iter().any(is_p0) {
        Some("the feature has no P0 case, so nothing can veto".to_owned())
    } else if percent == 0.0 {
        Some(format!("the exact score is {score}"))
    } else {
        None
    };
    Confidence { score: Some(score), ready: true, label: format!("{percent}%"), why }
}

fn is_p0(case: &Case) -> bool {
    case.priority.as_deref() == Some("P0")
}

fn weight(case: &Case) -> u64 {
    match case.priority.as_deref() {
        Some("P0") => 3,
        Some("P1") => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The confidence in cases, each with priority, whether it is approved, and whether it passed.
    fn of(cases: &[(&str, bool, bool)]) -> Confidence {
        let id = |index: usize| format!("A-B-{index:03}");
        let list: Vec<_> = cases
            .iter()
            .enumerate()
            .map(|(index, (priority, ..))| json!({"id": id(index), "priority": priority}))
            .collect();
        let pairs = |value: &dyn Fn(&(&str, bool, bool)) -> &'static str| -> serde_json::Map<String, serde_json::Value> {
            cases.iter().enumerate().map(|(index, case)| (id(index), value(case).into())).collect()
        };
        let statuses = pairs(&|(_, approved, _)| if *approved { "Approved" } else { "Under Review" });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("verdicts.json");
        let verdicts = json!(pairs(&|(.., passed)| if *passed { "pass" } else { "fail" }));
        crate::files::write_atomic(&path, verdicts.to_string().as_bytes()).unwrap();
        confidence(
            &Cases::from_value(&json!({ "cases": list })).unwrap(),
            &Statuses::from_value(statuses.into()).unwrap_or_default(),
            &StatusNames::default(),
            &Verdicts::read(&path).unwrap(),
        )
    }

    #[test]
    fn approved_passes_by_weight_and_p0_vetoes() {
        let mixed = of(&[("P0", true, true), ("P1", true, false), ("P2", false, true)]);
        assert_eq!(
            (mixed.score, mixed.ready, mixed.label.as_str(), mixed.why),
            (Some(0.5), true, "50%", None)
        );
        let broken = of(&[("P0", true, false), ("P1", true, true)]);
        assert_eq!((broken.score, broken.ready, broken.label.as_str()), (Some(0.4), false, "Not Ready"));
        let nothing = of(&[("P1", false, true)]);
        assert_eq!((nothing.score, nothing.ready, nothing.label.as_str()), (Some(0.0), false, "Not Ready"));
        let unknown = of(&[]);
        assert_eq!((unknown.score, unknown.ready, unknown.label.as_str()), (None, false, "Unknown"));
        assert!(of(&[("P1", true, true)]).why.unwrap().contains("no P0"));
    }

    #[test]
    fn a_score_that_rounds_to_nothing_is_told_exactly() {
        let mut cases = vec![("P0", true, true)];
        cases.extend([("P1", false, true); 400]);
        let tiny = of(&cases);
        assert_eq!((tiny.ready, tiny.label.as_str()), (true, "0%"));
        assert_eq!(tiny.why.unwrap(), format!("the exact score is {}", 3.0 / 803.0));
    }
}
