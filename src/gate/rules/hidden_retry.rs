//! The try of a flaky case that failed is the one to look at.

use super::super::facts::Evidence;
use super::{Facts, Findings, Rule};
use crate::host::profile::Capture;
use crate::model::Verdict;
use crate::report::Outcome;

pub(super) const RULE: Rule = Rule {
    code: "hidden_retry",
    description: "A warning: under evidence capture always, a failed try of a flaky case left no trace",
    mend: "Keep traces of every attempt (trace: on), not of the last one only",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    let Ok(rerun) = &facts.disk.rerun else { return };
    if facts.capture() != Capture::Always {
        return;
    }
    for case in facts.claim.cases().filter(|case| case.verdict() == Some(Verdict::Flaky)) {
        let Some(subject) = case.subject() else { continue };
        let failed = rerun
            .derived
            .tries
            .iter()
            .filter(|attempt| attempt.subject == subject && attempt.outcome == Outcome::Failed);
        for attempt in failed {
            let has_trace = attempt
                .trace
                .as_deref()
                .is_some_and(|path| matches!(facts.evidence(path), Evidence::File(_)));
            if !has_trace {
                findings.warn(
                    case.place(),
                    format!(
                        "try {} in project {:?} failed and left no trace",
                        attempt.retry, attempt.project
                    ),
                );
            }
        }
    }
}
