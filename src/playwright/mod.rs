//! What comes from Playwright and what goes to it.

pub mod fixture;
pub mod results;
