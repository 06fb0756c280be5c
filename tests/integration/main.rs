//! One integration binary: the whole program from outside.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod claims;
mod egress;
mod gate;
mod house;
mod init;
mod ledgers;
mod merge;
mod preflight;
mod publish;
mod report;
mod rules;
mod run;
mod run_dir;
mod sha;
mod support;
mod vectors;
mod wire;
