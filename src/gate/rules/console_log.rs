//! A console log that is named is there.

use super::{Facts, Findings, Rule, check_files};

pub(super) const RULE: Rule = Rule {
    code: "console_log",
    description: "A recorded console log is in the run directory, with something in it",
    mend: "Keep the run directory whole, with the files that the specs attached",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    check_files(facts, "console_log", false, findings);
}
