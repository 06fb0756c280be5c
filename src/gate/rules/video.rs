//! A video that is named is there.

use super::{Facts, Findings, Rule, check_files};

pub(super) const RULE: Rule = Rule {
    code: "video",
    description: "A recorded video is in the run directory, with something in it",
    mend: "Keep the run directory whole, with the files that Playwright attached",
    check,
};

fn check(facts: &Facts, findings: &mut Findings) {
    check_files(facts, "video", false, findings);
}
