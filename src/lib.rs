//! `qa-pilot` guards Playwright suites on shared environments and gates what they claim.
//!
//! Data flows one way. What the host declares (`host`) becomes a `policy`; the `proxy` enforces it and leaves records
//! (`record`) in the run directory; `report` derives report.json from what lies there; `gate` decides.

pub mod cli;
pub mod egress;
pub mod exit;
pub mod files;
pub mod gate;
pub mod host;
pub mod json;
pub mod merge;
pub mod model;
pub mod pattern;
pub mod playwright;
pub mod policy;
pub mod proxy;
pub mod publish;
pub mod record;
pub mod render;
pub mod report;
pub mod rules;
pub mod run;
pub mod yaml;
