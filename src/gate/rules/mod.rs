//! The rules, one file each, named as their codes (a blank is a `_`). A rule is data and one pure function over facts:
//! it returns findings and never prints, exits, or reads the clock or the disk.
//!
//! [`ALL`] is the one ordered table: help, `--explain`, fixtures and documentation are checked against it. To add a rule,
//! write its file, add its line, and put a passing and a refusing fixture below `tests/gate/<file name>/`.

mod api_mode;
mod cases;
mod commit_sha;
mod console_log;
mod env_kind;
mod env_name;
mod env_url;
mod evidence_capture;
mod failure_summary;
mod flaky;
mod hidden_retry;
mod map;
mod report;
mod retries;
mod rule_1;
mod rule_1b;
mod rule_2;
mod rule_3;
mod rule_4;
mod rule_5;
mod rule_6;
mod rule_7;
mod run_halted;
mod run_kind;
mod sha_mismatch;
mod sha_source;
mod status;
mod statuses;
mod summary;
mod trace;
mod unmapped;
mod upstream_insecure;
mod verdict;
mod video;

use super::facts::{Evidence, Facts};
use super::finding::Findings;

/// A rule of the gate.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// How findings name it.
    pub code: &'static str,
    /// What it demands.
    pub description: &'static str,
    /// What to do about a finding.
    pub mend: &'static str,
    /// Looks at the facts and adds what it finds.
    pub check: fn(&Facts, &mut Findings),
}

/// The code of the rule that something is a report at all.
pub(super) const REPORT: &str = report::RULE.code;

/// Every rule, in the order of findings.
pub const ALL: &[Rule] = &[
    report::RULE,
    run_kind::RULE,
    cases::RULE,
    commit_sha::RULE,
    sha_source::RULE,
    sha_mismatch::RULE,
    env_name::RULE,
    env_url::RULE,
    env_kind::RULE,
    upstream_insecure::RULE,
    api_mode::RULE,
    evidence_capture::RULE,
    statuses::RULE,
    status::RULE,
    map::RULE,
    verdict::RULE,
    failure_summary::RULE,
    retries::RULE,
    summary::RULE,
    run_halted::RULE,
    trace::RULE,
    video::RULE,
    console_log::RULE,
    rule_1::RULE,
    rule_1b::RULE,
    rule_2::RULE,
    rule_3::RULE,
    rule_4::RULE,
    rule_5::RULE,
    rule_6::RULE,
    rule_7::RULE,
    unmapped::RULE,
    flaky::RULE,
    hidden_retry::RULE,
];

/// The rule with the code `code`.
pub fn find(code: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.code == code)
}

/// Evidence of one kind: a path that leaves the run directory is refused whatever the verdict; an entry that owes
/// evidence must have it on the disk where the claim names it.
fn check_files(facts: &Facts, key: &str, is_owed: bool, findings: &mut Findings) {
    for entry in facts.claim.entries() {
        let needs = facts.needs_evidence(entry);
        let Some(value) = entry.get(key) else {
            if is_owed && needs {
                findings.refuse(entry.place(), format!("has no {key}, and its verdict needs one"));
            }
            continue;
        };
        let Some(path) = value.as_str().filter(|path| !path.trim().is_empty()) else {
            findings.refuse(entry.place(), format!("{key} is no path"));
            continue;
        };
        if key == "console_log" && path.starts_with("inline:") {
            continue;
        }
        match facts.evidence(path) {
            Evidence::Outside => findings.refuse(entry.place(), format!("{path} leaves the run directory")),
            Evidence::Empty if needs => findings.refuse(entry.place(), format!("{path} is empty")),
            Evidence::Unusable(why) if needs => {
                findings.refuse(entry.place(), format!("{path} is no evidence: {why}"))
            }
            Evidence::File(_) | Evidence::Empty | Evidence::Unusable(_) => {}
        }
    }
}
