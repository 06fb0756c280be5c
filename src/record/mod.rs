//! writes.json, the contract between the half that guards and the half that reports.

mod aggregate;
mod format;
mod read;
mod sweep;
mod unclassified;
mod write;

pub use aggregate::{AttemptRecords, Writes, aggregate};
pub use format::{
    AttemptInfo, ControlEvent, Event, EventAction, GuardInfo, InScope, RequestEvent, WritesRecord,
};
pub use read::{Reading, Record, Records, parse};
pub use sweep::{FIXTURES, Stray, sweep};
pub use unclassified::{UNCLASSIFIED, Unclassified, UnclassifiedList, UnclassifiedRequest};
pub use write::{EventId, MAX_EVENTS, Recorder, Written};
