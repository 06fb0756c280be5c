//! Connections to origins: dialled, verified, pooled.

mod dial;
mod fetch;
mod last_words;
mod pool;
mod tls;
mod via;
mod way;

pub(super) use dial::Dialer;
pub use fetch::{FetchError, Fetched, fetch};
pub(super) use pool::{Lease, Pool, Upstream};
pub use tls::TrustError;
pub use via::{UpstreamProxy, ViaError};
pub use way::{ClientCert, HostError, UpstreamHost, Way, WayError, WayOptions};

use std::fmt;

/// What kind of thing went wrong between here and the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The name has no address.
    Dns,
    /// No connection.
    Connect,
    /// No TLS session, or the certificate is not to be trusted.
    Tls,
    /// It took too long.
    Timeout,
    /// What came back is no HTTP, or the connection broke.
    Protocol,
    /// The name leads back to the guard.
    Own,
}

/// Why a request could not be forwarded.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{origin}: {message}")]
pub struct UpstreamError {
    /// The kind.
    pub trouble: Trouble,
    /// Scheme, host and port.
    pub origin: String,
    /// What happened, in lower case.
    pub message: String,
}

impl Trouble {
    /// As the `X-QA-Pilot-Error` header has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::Protocol => "protocol",
            Self::Own => "own",
        }
    }
}

impl UpstreamError {
    pub(super) fn new(trouble: Trouble, origin: impl fmt::Display, message: impl Into<String>) -> Self {
        Self { trouble, origin: origin.to_string(), message: message.into() }
    }
}
