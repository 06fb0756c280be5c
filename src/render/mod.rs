//! What people and machines read: one output a file, over values that others made. Nothing here decides or prints.

pub mod gate_github;
pub mod gate_json;
pub mod gate_text;
pub mod rules_json;
pub mod rules_text;
pub mod rules_yaml;
pub mod run_json;
pub mod run_plan;
pub mod run_text;

/// Text on one line and without anything that draws on a terminal: titles, paths and values come from outside.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
