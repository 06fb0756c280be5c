//! Vocabulary without I/O: the names that every room uses for the same thing.

mod case_id;
pub mod clock;
mod digest;
mod fault;
mod fixture_title;
mod policy;
mod run_id;
mod run_kind;
mod shard;
mod verdict;

pub use case_id::CaseId;
pub use digest::{Digest, Hasher};
pub use fault::Fault;
pub use fixture_title::{FixtureTitle, Phase};
pub use policy::{Policy, PolicyError, PolicyKind};
pub use run_id::RunId;
pub use run_kind::RunKind;
pub use shard::Shard;
pub use verdict::Verdict;
