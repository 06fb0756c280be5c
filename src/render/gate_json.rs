//! The gate's decision for machines.

use serde::Serialize;

use crate::files::{FileError, json_bytes};
use crate::gate::{Decision, Finding};

#[derive(Serialize)]
struct Shape<'a> {
    publishable: bool,
    refusals: &'a [Finding],
    warnings: &'a [Finding],
}

/// `{"publishable", "refusals": [{code, subject, message}], "warnings": [...]}` and a final newline.
///
/// # Errors
/// Never in practice: the values are plain.
pub fn decision(decision: &Decision) -> Result<Vec<u8>, FileError> {
    json_bytes(&match decision {
        Ok(approved) => Shape { publishable: true, refusals: &[], warnings: approved.warnings() },
        Err(refused) => {
            Shape { publishable: false, refusals: &refused.refusals, warnings: &refused.warnings }
        }
    })
}
