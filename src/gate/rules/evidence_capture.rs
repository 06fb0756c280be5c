//! A run that captured nothing has nothing to show.

use super::{Facts, Findings, Rule};
use crate::host::profile::Capture;

pub(super) const RULE: Rule = Rule {
    code: "evidence_capture",
    description: "The run captured evidence, on production of every attempt",
    mend: "Set evidence.capture in the profile to always, and run again",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    let subject = "evidence_capture";
    let capture = match facts.claim.get(subject) {
        None => Capture::default(),
        Some(value) => match value.as_str().and_then(Capture::from_word) {
            Some(capture) => capture,
            None => {
                findings.refuse(subject, format!("is {value}: must be always, on-failure or off"));
                return;
            }
        },
    };
    // A claim that is silent means always, which is the most that can be asked.
    if facts.claim.get(subject).is_some()
        && let Some(why) = facts.relabelled(subject)
    {
        findings.refuse(subject, why);
    }
    match capture {
        Capture::Always => {}
        Capture::Off => findings.refuse(subject, "is off: a run without evidence cannot be published"),
        Capture::OnFailure if facts.is_production() => {
            findings.refuse(subject, "is on-failure: production needs always");
        }
        Capture::OnFailure => findings.warn(subject, "is on-failure: passes come without evidence"),
    }
}
