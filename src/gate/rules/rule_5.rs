//! Rule 5: shared entities were declared, set up before they were used, and removed.

use std::collections::BTreeSet;

use super::super::claim::Entry;
use super::{Facts, Findings, Rule};
use crate::host::cases::{Cases, Teardown};
use crate::model::{Phase, Verdict};

pub(super) const RULE: Rule = Rule {
    code: "rule 5",
    description: "Fixtures are declared, run once a phase, and a case that uses one ran only after its set-up passed",
    mend: "Declare the fixture in the cases file, name its specs FIXTURE <name> and FIXTURE <name> teardown, and make cases depend on its project",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    let Some(cases) = facts.cases() else { return };
    let mut seen = BTreeSet::new();
    for entry in facts.claim.fixtures().filter(|entry| entry.object().is_some()) {
        let Some((name, phase)) = entry.fixture() else {
            findings.refuse(entry.place(), "has no name and phase of a fixture");
            continue;
        };
        if !seen.insert((name, phase)) {
            findings.refuse(entry.place(), "is in the report twice");
        }
        match cases.fixture(name) {
            None => findings.refuse(entry.place(), "is not declared in the cases file"),
            Some(fixture) if phase == Phase::Teardown && fixture.teardown == Teardown::Keep => {
                findings.refuse(entry.place(), "was torn down, and the cases file says teardown: keep");
            }
            Some(_) => {}
        }
    }
    dependents(facts, cases, findings);
    leftovers(facts, cases, findings);
}

/// A case that names a fixture ran only inside one whose set-up passed.
fn dependents(facts: &Facts, cases: &Cases, findings: &mut Findings) {
    for entry in facts.claim.cases() {
        let declared = entry.id().and_then(|id| cases.cases.iter().find(|case| case.id.as_str() == id));
        let Some(fixture) = declared.and_then(|case| case.fixture.as_deref()) else { continue };
        match verdict(facts, fixture, Phase::Setup) {
            None if entry.executed() => {
                findings.refuse(
                    entry.place(),
                    format!("was executed, and the set-up of its fixture {fixture} has no entry"),
                );
            }
            Some(setup) if setup != Some(Verdict::Pass) && entry.verdict() != Some(Verdict::Blocked) => {
                findings.refuse(
                    entry.place(),
                    format!("is not blocked, and the set-up of its fixture {fixture} did not pass"),
                );
            }
            _ => {}
        }
    }
}

/// An entity that was made and not removed.
fn leftovers(facts: &Facts, cases: &Cases, findings: &mut Findings) {
    for fixture in cases.fixtures.iter().filter(|fixture| fixture.teardown == Teardown::Delete) {
        let was_made = verdict(facts, &fixture.name, Phase::Setup) == Some(Some(Verdict::Pass));
        let torn_down = verdict(facts, &fixture.name, Phase::Teardown);
        let place = format!("fixtures[{} teardown]", fixture.name);
        match torn_down {
            None if was_made => findings.warn(place, "there is no teardown: an entity was left behind"),
            Some(Some(Verdict::Fail)) => {
                findings.warn(place, "the teardown failed: an entity was left behind")
            }
            Some(verdict) if was_made && verdict != Some(Verdict::Pass) => {
                findings.warn(place, "the teardown did not pass: an entity may have been left behind");
            }
            _ => {}
        }
    }
}

/// The verdict that the claim has for a fixture's phase; the inner one is none where it is no verdict.
fn verdict(facts: &Facts, name: &str, phase: Phase) -> Option<Option<Verdict>> {
    facts
        .claim
        .fixtures()
        .find(|entry| entry.fixture() == Some((name, phase)))
        .map(|entry: Entry<'_>| entry.verdict())
}
