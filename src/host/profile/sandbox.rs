//! `sandbox`: the switch that puts a seeded back end behind the application, whose runs prove nothing.

use super::super::values::{Faults, Object};

/// The variable and the value that mean a seeded back end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sandbox {
    /// The environment variable that the application is built or started with.
    pub env_var: String,
    /// Its value for the sandbox.
    pub value: String,
}

pub(super) fn read(root: &Object, faults: &mut Faults) -> Option<Sandbox> {
    let block = faults.mapping(root, "", "sandbox")?;
    let mode = faults.mapping(block, "sandbox", "mode")?;
    let env_var = faults.text(mode, "sandbox.mode", "env_var");
    let value = faults.text(mode, "sandbox.mode", "value");
    Some(Sandbox { env_var: env_var?.to_owned(), value: value?.to_owned() })
}
