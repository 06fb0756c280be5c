//! What the host repository declares: its profile, a feature's cases, recorded statuses and a run's metadata.

pub mod cases;
pub mod meta;
pub mod profile;
pub mod skeleton;
pub mod spec_guard;
pub mod spec_sha;
pub mod statuses;
mod values;
pub mod workflow;
