//! What a pipeline runs, and what it says of it. It knows no tracker: the committed ledger of approvals is its only source.

mod select;
mod verdict;

pub use select::{Priorities, Runnable, Selection, Skipped, select};
pub use verdict::{Ending, verdict};
