//! The egress lock: a network namespace for the test command that holds nothing but loopback.
//!
//! What runs in it reaches no network: a raw socket, a bypass list, UDP and DNS all end on its loopback, and so does the
//! guard's proxy, the one way out, since the guard's listening sockets were made inside. A socket belongs to the namespace
//! it was made in wherever it goes, so a small helper process makes the namespace, makes sockets in it, and hands them to
//! the guard, which stays outside, binds and connects them. The helper asks for nothing else and knows no test.
//!
//! Linux only (network_namespaces(7), user_namespaces(7)). Without the right to make a network namespace alone the helper
//! makes a user namespace as well, in which the user is still the same user.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "elsewhere nothing is refused"))]
mod error;
#[cfg(target_os = "linux")]
mod helper;
#[cfg(target_os = "linux")]
mod hold;
#[cfg(target_os = "linux")]
mod loopback;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "elsewhere nobody asks or answers"))]
mod message;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod sockets;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Lock, Sockets};
pub use error::LockError;
#[cfg(target_os = "linux")]
pub use helper::help;
#[cfg(target_os = "linux")]
pub use hold::Lock;
pub use message::{Family, Step};
#[cfg(target_os = "linux")]
pub use namespace::enter;
#[cfg(target_os = "linux")]
pub use sockets::Sockets;
