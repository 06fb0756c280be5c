//! Rule 6: evidence that stays on the machine is held by its digest.

use super::super::facts::Evidence;
use super::{Facts, Findings, Rule};
use crate::files;

pub(super) const RULE: Rule = Rule {
    code: "rule 6",
    description: "Where traces stay on the machine, each is in the run directory and has the digest that the report names",
    mend: "A trace that changed proves nothing: run again, and keep the run directory as it is",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    if !facts.is_pinned() {
        return;
    }
    for entry in facts.claim.entries() {
        let Some(trace) = entry.get("trace") else { continue };
        let Some(trace) = trace.as_str().filter(|path| files::is_inner(path)) else {
            findings.refuse(entry.place(), format!("the trace {trace} is no path inside the run directory"));
            continue;
        };
        let Some(pinned) = entry.text("trace_sha256") else {
            findings.refuse(entry.place(), "its trace stays on the machine and has no trace_sha256");
            continue;
        };
        match facts.evidence(trace) {
            Evidence::File(Some(digest)) if digest.to_string() == pinned => {}
            Evidence::File(_) => findings
                .refuse(entry.place(), format!("{trace} has other bytes than the report's trace_sha256")),
            Evidence::Empty => findings.refuse(entry.place(), format!("{trace} is empty")),
            Evidence::Unusable(why) => {
                findings.refuse(entry.place(), format!("{trace} cannot be held against its digest: {why}"))
            }
            Evidence::Outside => findings.refuse(entry.place(), format!("{trace} leaves the run directory")),
        }
    }
}
