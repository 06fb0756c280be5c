//! writes.json, the contract between the half that guards and the half that reports.

mod format;

pub use format::{
    AttemptInfo, ControlEvent, Event, EventAction, GuardInfo, InScope, RequestEvent, WritesRecord,
};
