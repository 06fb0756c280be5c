//! Rule 2: the guard was live, with the profile's signatures, for everything that ran.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::claim::Entry;
use super::{Facts, Findings, Rule};
use crate::model::PolicyKind;

pub(super) const RULE: Rule = Rule {
    code: "rule 2",
    description: "On production, and under every policy but unrestricted, each executed case and fixture ran under the guard, with the profile's signatures",
    mend: "Import `test` from the generated write-guard fixture and run with `qa-pilot run`; a test that loads no page is not under the page guard",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    if !facts.is_guarded() {
        return;
    }
    for entry in facts.claim.entries().filter(|entry| entry.executed()) {
        let Some(writes) = entry.get("writes") else {
            findings.refuse(entry.place(), "was executed without a write record: the guard was not there, or the test sent no request at all");
            continue;
        };
        if writes.get("installed") != Some(&Value::Bool(true)) {
            findings.refuse(entry.place(), "an attempt was not under the page guard (installed is not true)");
        }
        if entry.writes_count("routed_requests") == 0 {
            findings.refuse(entry.place(), "its guard routed no request: it was not in the path");
        }
        records_of(entry, facts, findings);
    }
}

fn records_of(entry: Entry<'_>, facts: &Facts, findings: &mut Findings) {
    // Whoever declares nothing about writes is held to nothing here, and an unrestricted run blocks nothing.
    let signatures =
        facts.profile.mutation.as_ref().filter(|_| facts.policy() != Some(PolicyKind::Unrestricted));
    if let Some(config) = signatures {
        let declared = config.write_signatures.len() as u64;
        let loaded = entry.writes_count("write_signatures");
        if loaded != declared {
            let message =
                format!("its guard had {loaded} write signature(s), and the profile declares {declared}");
            findings.refuse(entry.place(), message);
        }
    }
    let expected = signatures.map(|config| config.signatures_sha256().to_string());
    for path in entry.record_paths().collect::<BTreeSet<_>>() {
        let Some(record) = facts.disk.records.get(path).and_then(|reading| reading.sound()) else { continue };
        if record.routed_requests == 0 {
            findings.refuse(
                entry.place(),
                format!("{path} routed no request: that attempt never went through the guard"),
            );
        }
        if let (Some(expected), Some(own)) = (&expected, &record.signatures_sha256)
            && expected != own
        {
            findings.refuse(
                entry.place(),
                format!("{path} was written with other signatures than the profile's"),
            );
        }
    }
}
