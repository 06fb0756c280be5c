//! Rule 7: the environment is the one that ran. Records name the origins of the documents in which the guard was; a run
//! that is relabelled to another environment has the wrong ones.

use std::collections::BTreeSet;

use super::super::claim::Entry;
use super::{Facts, Findings, Rule};
use crate::host::profile::Environment;

pub(super) const RULE: Rule = Rule {
    code: "rule 7",
    description: "The documents of each executed case came from the environment that the report names, and none from another one",
    mend: "Report the run under the environment that it was on; register further origins of it (a redirect's) under its origins",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    let Some(environment) = facts.environment() else { return };
    let own = declared(environment);
    let elsewhere: BTreeSet<String> = facts
        .profile
        .environments
        .values()
        .flat_map(declared)
        .filter(|origin| !own.contains(origin))
        .collect();
    let mut unjudged = 0;
    for entry in facts.claim.entries().filter(|entry| entry.executed()) {
        let Some(seen) = origins(entry, facts) else {
            unjudged += usize::from(entry.get("writes").is_some());
            continue;
        };
        for origin in seen.intersection(&elsewhere) {
            findings.refuse(
                entry.place(),
                format!("a document came from {origin}, which is another environment's"),
            );
        }
        // A set-up may do all its work by requests; a case is about what a page showed.
        if entry.id().is_some() && seen.is_disjoint(&own) {
            findings.refuse(entry.place(), "no document came from the environment that the report names");
        }
    }
    if unjudged > 0 {
        findings.warn("env_name", format!("{unjudged} executed case(s) or fixture(s) have records without origins: nobody can tell the environment from them"));
    }
}

/// All origins that an entry's records name; none unless every record has them.
fn origins(entry: Entry<'_>, facts: &Facts) -> Option<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    let mut any = false;
    for path in entry.record_paths() {
        let record = facts.disk.records.get(path)?.sound()?;
        all.extend(
            record.origins.as_ref()?.iter().map(|origin| origin_of(origin).unwrap_or_else(|| origin.clone())),
        );
        any = true;
    }
    any.then_some(all)
}

/// The origins that an environment declares, over all its apps.
fn declared(environment: &Environment) -> BTreeSet<String> {
    environment.apps.values().chain(&environment.origins).filter_map(|url| origin_of(url)).collect()
}

fn origin_of(url: &str) -> Option<String> {
    url::Url::parse(url)
        .ok()
        .map(|url| url.origin())
        .filter(url::Origin::is_tuple)
        .map(|origin| origin.ascii_serialization())
}
