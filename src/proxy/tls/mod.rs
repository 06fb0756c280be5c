//! The proxy's side of TLS: a certificate authority made for this run, and a leaf for each host that is asked for.

mod ca;
mod leaf;

pub(super) use ca::Authority as CertificateAuthority;
pub(super) use leaf::Leaves;

/// Why no certificate could be made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CertificateError {
    /// While making keys or certificates.
    #[error("cannot make a certificate: {0}")]
    Make(String),
    /// While setting TLS up with them.
    #[error("cannot set up tls: {0}")]
    Setup(String),
}

impl From<rcgen::Error> for CertificateError {
    fn from(error: rcgen::Error) -> Self {
        Self::Make(error.to_string())
    }
}

impl From<rustls::Error> for CertificateError {
    fn from(error: rustls::Error) -> Self {
        Self::Setup(error.to_string())
    }
}
