//! A report has cases, each once.

use std::collections::BTreeSet;

use super::{Facts, Findings, Rule};

pub(super) const RULE: Rule = Rule {
    code: "cases",
    description: "The report has at least one case, and each case has an id of its own",
    mend: "See that test titles begin with case ids, and write the report again",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    match facts.claim.case_list() {
        None => findings.refuse("cases", "is no list"),
        Some([]) => findings.refuse("cases", "is empty: nothing ran"),
        Some(_) => {
            let mut seen = BTreeSet::new();
            for case in facts.claim.cases().filter(|case| case.object().is_some()) {
                match case.id() {
                    None => findings.refuse(case.place(), "has no id"),
                    Some(id) if !seen.insert(id) => findings.refuse(case.place(), "is in the report twice"),
                    Some(_) => {}
                }
            }
        }
    }
}
