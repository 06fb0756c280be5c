//! `selectors`: how specs find elements.

use super::super::values::{Faults, Object};

pub(super) fn read(
    root: &Object,
    file_exists: &dyn Fn(&str) -> bool,
    faults: &mut Faults,
    warnings: &mut Faults,
) {
    let Some(block) = faults.mapping(root, "", "selectors") else { return };
    faults.text(block, "selectors", "testid_attribute");
    if let Some(doc) = faults.optional_text(block, "selectors", "policy_doc") {
        let file = doc.split('#').next().unwrap_or(doc);
        if !file_exists(file) {
            warnings.add("selectors.policy_doc", format!("{file} does not exist beside the profile"));
        }
    }
}
