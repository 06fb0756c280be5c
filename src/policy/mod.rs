//! What counts as a write, and what is done about it. Pure: no async, no I/O.
//!
//! `config` reads the host's `mutation` block, `signature` is one entry of its lists. `decide` is the only maker of a
//! `Permit`, without which nothing is forwarded.

mod config;
mod signature;

pub use config::{DenyControls, MutationConfig, ScopeRequests, UnsafeMethods};
pub use signature::{GraphqlKind, SignatureMethod, WriteSignature};
