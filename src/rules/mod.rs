//! What `qa-pilot rules` does: packs are held against their examples, requests of a HAR are judged, and the requests that no
//! signature named become a first list. Everything is judged by the code that judges for the proxy.

pub mod check;
mod described;
mod har;
mod judged;
mod suggest;

pub use described::{Described, DescribedError, Payload};
pub use har::{Entries, HAR_CAP, HarError, parse as parse_har, read as read_har};
pub use judged::{Judgement, Verdict, judge};
pub use suggest::{Channel, DENIED, Guess, Seen, SuggestError, Suggestion, from_lists, suggest};
