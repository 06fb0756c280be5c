//! `assertions`: what an expectation may speak of.

use serde_json::Value;

use super::super::values::{Faults, Object};

/// Whether expectations may speak of requests and responses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NetworkEvents {
    /// They may.
    Allowed,
    /// Only what a person can see on the screen counts.
    Forbidden,
}

pub(super) fn read(root: &Object, faults: &mut Faults, warnings: &mut Faults) -> Option<NetworkEvents> {
    let block = faults.mapping(root, "", "assertions")?;
    let network = faults.word(
        block,
        "assertions",
        "network_events",
        &[("allowed", NetworkEvents::Allowed), ("forbidden", NetworkEvents::Forbidden)],
    );
    let ui_state = faults.word(block, "assertions", "style", &[("ui-state", true), ("mixed", false)]);
    if network == Some(NetworkEvents::Forbidden) {
        if ui_state == Some(false) {
            faults.add("assertions.style", "must be ui-state where network_events are forbidden");
        }
        let extra = root.get("evidence").and_then(|evidence| evidence.get("extra")).and_then(Value::as_array);
        if extra.is_none_or(Vec::is_empty) {
            warnings.add(
                "evidence.extra",
                "is empty while network_events are forbidden: a failure will have little to look at",
            );
        }
    }
    network
}
