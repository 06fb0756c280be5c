//! What counts as a write, and what is done about it. Pure: no async, no I/O.
//!
//! `config` reads the host's `mutation` block, `signature` is one entry of its lists. `decide` for requests and `messages` for what
//! WebSockets carry are the only makers of a `Permit`, without which nothing is forwarded.

mod body;
mod charset;
mod config;
mod decide;
mod encoding;
mod explain;
mod form;
mod graphql;
mod messages;
pub mod packs;
mod request;
mod rules;
mod signature;
mod url_set;

pub use body::{Body, BodyText};
pub use config::{DenyControls, MutationConfig, ScopeRequests, UnsafeMethods};
pub use decide::{Decision, Examination, Observation, Permit, Refusal, Scope, Situation, Standing};
pub use explain::Explanation;
pub use messages::{Message, Messages};
pub use request::Request;
pub use rules::Rules;
pub use signature::{GraphqlKind, SignatureMethod, WriteSignature};
