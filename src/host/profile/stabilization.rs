//! `stabilization`: the environment on which new specs prove themselves.

use indexmap::IndexMap;

use super::super::values::{Faults, Object};
use super::environments::{EnvKind, Environment};

pub(super) fn read(
    root: &Object,
    environments: &IndexMap<String, Environment>,
    faults: &mut Faults,
) -> Option<String> {
    if !root.contains_key("stabilization") {
        return None;
    }
    let block = faults.mapping(root, "", "stabilization")?;
    faults.closed(block, "stabilization", &["env"]);
    let env = faults.text(block, "stabilization", "env")?;
    let registered = root.get("environments").and_then(|all| all.get(env)).is_some();
    if !registered {
        faults.add("stabilization.env", format!("{env} is no registered environment"));
    } else if environments.get(env).is_some_and(|found| found.kind == EnvKind::Production) {
        faults.add("stabilization.env", "must not be a production environment");
    }
    Some(env.to_owned())
}
