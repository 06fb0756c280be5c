//! `mutation`: what a write looks like. Its shape belongs to the policy; here stands when it is needed.

use super::super::values::{Faults, Object};
use crate::policy::MutationConfig;

pub(super) fn read(root: &Object, has_production: bool, faults: &mut Faults) -> Option<MutationConfig> {
    let Some(value) = root.get("mutation") else {
        if has_production {
            faults.add("mutation", "is needed where a production environment is registered");
        }
        return None;
    };
    if !value.is_object() {
        faults.add("mutation", "must be a mapping");
        return None;
    }
    match MutationConfig::parse(value) {
        Ok(config) => {
            if has_production && config.write_signatures.is_empty() {
                faults.add(
                    "mutation.write_signatures",
                    "needs at least one signature where a production environment is registered",
                );
            }
            Some(config)
        }
        Err(found) => {
            faults.0.extend(found);
            None
        }
    }
}
