//! The strict check of HTTP/1 heads, in front of hyper: it refuses some heads before any service sees them, and accepts some
//! that it should not (with both lengths it drops one unseen). [`framing`] reads boundaries, [`gate`] sits in the byte stream; [`WatchResets`] hears of what
//! is refused on HTTP/2.

pub mod framing;
pub mod gate;
mod resets;

pub use framing::Fault;
pub use gate::{Gate, HeadStream};
pub use resets::WatchResets;

#[cfg(test)]
mod differential_tests;
