//! `apps`: the frontends of the host.

use indexmap::IndexMap;
use serde_json::Value;

use super::super::values::{Faults, Object};

/// One frontend.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct App {
    /// Its framework, for people.
    pub framework: String,
    /// Where its specs are, relative to the repository.
    pub spec_dir: String,
    /// The repository that holds it.
    pub repo: String,
}

/// Nothing when the block is unusable as a whole; apps with faults are left out.
pub(super) fn read(root: &Object, faults: &mut Faults) -> Option<IndexMap<String, App>> {
    let Some(block) = root.get("apps").and_then(Value::as_object).filter(|block| !block.is_empty()) else {
        faults.add("apps", "must be a mapping with at least one app");
        return None;
    };
    let mut apps = IndexMap::new();
    for (name, value) in block {
        let at = format!("apps.{name}");
        let Some(app) = value.as_object() else {
            faults.add(at, "must be a mapping with framework, spec_dir and repo");
            // Declared all the same: an environment may name it without a second complaint.
            apps.insert(
                name.clone(),
                App { framework: String::new(), spec_dir: String::new(), repo: String::new() },
            );
            continue;
        };
        let mut field = |key| faults.text(app, &at, key).unwrap_or_default().to_owned();
        apps.insert(
            name.clone(),
            App { framework: field("framework"), spec_dir: field("spec_dir"), repo: field("repo") },
        );
    }
    Some(apps)
}
