//! The wire, from outside: the real binary between raw sockets, real clients and a real origin in the test process.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod client;
mod guard;
mod origin;
mod pki;

mod attempts;
mod bodies;
mod control;
mod framing;
mod heads_two;
mod http2_origin;
mod judging;
mod messages;
mod names;
mod on_block;
mod onward;
mod passing;
mod peers;
mod remote;
mod robust;
mod stopping;
mod streaming;
mod trust;
mod tunnels;
mod unclassified;
mod web_socket;
