//! `cross_app`: needed once there is more than one app, not looked at before.

use indexmap::IndexMap;

use super::super::values::{Faults, Object};
use super::apps::App;

/// The longest time that a change may take from one app to another, in seconds.
const LONGEST_WINDOW: u64 = 600;

pub(super) fn read(root: &Object, apps: Option<&IndexMap<String, App>>, faults: &mut Faults) {
    let Some(apps) = apps.filter(|apps| apps.len() > 1) else { return };
    let Some(block) = faults.mapping(root, "", "cross_app") else { return };
    let window = block.get("propagation_window_s").and_then(whole);
    if !window.is_some_and(|seconds| (1..=LONGEST_WINDOW).contains(&seconds)) {
        faults.add(
            "cross_app.propagation_window_s",
            format!("must be a whole number from 1 to {LONGEST_WINDOW}"),
        );
    }
    if let Some(home) = faults.text(block, "cross_app", "spec_home")
        && !apps.contains_key(home)
    {
        faults.add("cross_app.spec_home", format!("{home} is no declared app"));
    }
}

/// A whole number, however it is written (`30` or `30.0`).
fn whole(value: &serde_json::Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let float = value.as_f64().filter(|float| float.fract() == 0.0 && (0.0..1e9).contains(float))?;
        Some(float as u64)
    })
}
