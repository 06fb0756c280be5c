//! A part of a run.

use serde::{Deserialize, Serialize};

/// One shard of several.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Shard {
    /// Which one, from 1.
    pub current: u64,
    /// Of how many.
    pub total: u64,
}
