//! What people and machines read: one output a file, over values that others made. Nothing here decides or prints.

pub mod gate_github;
pub mod gate_json;
pub mod gate_text;
pub mod run_json;
pub mod run_text;
