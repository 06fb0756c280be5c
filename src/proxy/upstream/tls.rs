//! Whom the proxy trusts as an origin: the system's roots and the certificates that a user names, never less.

use crate::files::{self, FileError};
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::Verifier;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest file of certificates in bytes.
const MAX_PEM: u64 = 4 << 20;

/// Roots that are trusted beside the system's.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    extra: Vec<CertificateDer<'static>>,
    /// Made when it is first needed: reading the system's roots takes some milliseconds.
    config: OnceCell<Arc<ClientConfig>>,
}

/// Why a file of certificates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// It cannot be read.
    #[error("cannot read the certificates: {0}")]
    File(FileError),
    /// It holds no usable certificate.
    #[error("{}: {message}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}

impl Trust {
    /// Reads every certificate of every file.
    ///
    /// # Errors
    /// When a file is unreadable, holds no certificate, or one that cannot be a root.
    pub fn read(paths: &[PathBuf]) -> Result<Self, TrustError> {
        let mut extra = Vec::new();
        for path in paths {
            let found = certificates(path)?;
            let mut probe = rustls::RootCertStore::empty();
            for certificate in &found {
                let added = probe.add(certificate.clone());
                added
                    .map_err(|error| unusable(path, format!("not usable as a root certificate: {error}")))?;
            }
            extra.extend(found);
        }
        Ok(Self { extra, config: OnceCell::new() })
    }

    /// The client configuration, which offers HTTP/1.1.
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, String> {
        if let Some(config) = self.config.get() {
            return Ok(config.clone());
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = Verifier::new_with_extra_roots(self.extra.clone(), provider.clone())
            .map_err(|error| format!("the system's root certificates cannot be used: {error}"))?;
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(self.config.get_or_init(|| Arc::new(config)).clone())
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TrustError> {
    let bytes = files::read_capped(path, MAX_PEM).map_err(TrustError::File)?;
    let found: Vec<_> = CertificateDer::pem_slice_iter(&bytes)
        .collect::<Result<_, _>>()
        .map_err(|error| unusable(path, format!("not a pem certificate: {error}")))?;
    if found.is_empty() { Err(unusable(path, "no certificate in it".into())) } else { Ok(found) }
}

fn unusable(path: &Path, message: String) -> TrustError {
    TrustError::Unusable { path: path.into(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        let read = |bytes: &[u8]| {
            files::write_atomic(&path, bytes).unwrap();
            Trust::read(std::slice::from_ref(&path)).unwrap_err().to_string()
        };
        assert!(read(b"").ends_with("ca.pem: no certificate in it"));
        let garbage = read(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        assert!(garbage.contains("ca.pem: not usable as a root certificate"), "{garbage}");
        assert!(Trust::read(&[folder.path().join("none")]).unwrap_err().to_string().contains("none"));
    }
}
