//! Whom the proxy trusts as an origin: the system's roots and the certificates that a user names, never less.

use super::way::{ClientCert, UpstreamHost};
use crate::files::{self, FileError};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::Verifier;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use url::Host;

/// The largest file of certificates in bytes.
const MAX_PEM: u64 = 4 << 20;

/// What is offered to an origin as the protocol of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1.
    One,
    /// HTTP/2.
    Two,
}

/// Roots that are trusted beside the system's, and what holds for single hosts.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    extra: Vec<CertificateDer<'static>>,
    verifier: OnceCell<Arc<Verifier>>,
    common: Configs,
    hosts: HashMap<Host<String>, Special>,
}

/// What holds for one host.
#[derive(Clone, Debug, Default)]
struct Special {
    key: Option<Arc<CertifiedKey>>,
    insecure: bool,
    configs: Configs,
}

/// Client configurations, one a protocol. Made when first needed: reading the system's roots takes some milliseconds.
#[derive(Clone, Debug, Default)]
struct Configs {
    one: OnceCell<Arc<ClientConfig>>,
    two: OnceCell<Arc<ClientConfig>>,
}

/// Why a file of certificates or keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// It cannot be read.
    #[error("cannot read the certificates: {0}")]
    File(FileError),
    /// It holds no usable certificate or key.
    #[error("{}: {message}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// Which certificate to show is not clear.
    #[error("--client-cert names {0} twice; one certificate is shown to a host")]
    Twice(UpstreamHost),
}

impl Trust {
    /// Reads every certificate of every file in `roots`, and each certificate to show with its key; what `insecure` hosts show is
    /// not verified.
    ///
    /// # Errors
    /// When a file is unreadable, holds no certificate or key, or one that cannot be used.
    pub fn read(
        roots: &[PathBuf],
        shown: &[ClientCert],
        insecure: &[UpstreamHost],
    ) -> Result<Self, TrustError> {
        let mut trust = Self::default();
        for path in roots {
            let found = certificates(path)?;
            let mut probe = rustls::RootCertStore::empty();
            for certificate in &found {
                let added = probe.add(certificate.clone());
                added
                    .map_err(|error| unusable(path, format!("not usable as a root certificate: {error}")))?;
            }
            trust.extra.extend(found);
        }
        for client in shown {
            let special = trust.hosts.entry(client.host.0.clone()).or_default();
            if special.key.replace(Arc::new(certified(client)?)).is_some() {
                return Err(TrustError::Twice(client.host.clone()));
            }
        }
        for host in insecure {
            trust.hosts.entry(host.0.clone()).or_default().insecure = true;
        }
        Ok(trust)
    }

    /// The client configuration for `host`, which offers `protocol`.
    pub(super) fn config(
        &self,
        host: &Host<String>,
        protocol: Protocol,
    ) -> Result<Arc<ClientConfig>, String> {
        let special = self.hosts.get(host);
        let configs = special.map_or(&self.common, |special| &special.configs);
        let cell = match protocol {
            Protocol::One => &configs.one,
            Protocol::Two => &configs.two,
        };
        if let Some(config) = cell.get() {
            return Ok(config.clone());
        }
        let config = self.build(special, protocol)?;
        Ok(cell.get_or_init(|| Arc::new(config)).clone())
    }

    fn build(&self, special: Option<&Special>, protocol: Protocol) -> Result<ClientConfig, String> {
        let provider = provider();
        let verifier: Arc<dyn ServerCertVerifier> = if special.is_some_and(|special| special.insecure) {
            Arc::new(Unverified(provider.clone()))
        } else {
            self.verifier(&provider)?
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match special.and_then(|special| special.key.clone()) {
            Some(key) => builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(key))),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![match protocol {
            Protocol::One => b"http/1.1".to_vec(),
            Protocol::Two => b"h2".to_vec(),
        }];
        Ok(config)
    }

    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Arc<Verifier>, String> {
        if let Some(verifier) = self.verifier.get() {
            return Ok(verifier.clone());
        }
        let verifier = Verifier::new_with_extra_roots(self.extra.clone(), provider.clone())
            .map_err(|error| format!("the system's root certificates cannot be used: {error}"))?;
        Ok(self.verifier.get_or_init(|| Arc::new(verifier)).clone())
    }
}

/// Takes any certificate. What signs the handshake must still be its key.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A certificate to show, with the chain and the key that belong to it.
fn certified(client: &ClientCert) -> Result<CertifiedKey, TrustError> {
    let chain = certificates(&client.chain)?;
    let bytes = files::read_capped(&client.key, MAX_PEM).map_err(TrustError::File)?;
    let encrypted = bytes.windows(9).any(|window| window == b"ENCRYPTED");
    let key = PrivateKeyDer::from_pem_slice(&bytes).map_err(|_| {
        let message = if encrypted {
            "the private key is encrypted; give one that is not (`openssl pkey -in FILE -out PLAIN`)"
        } else {
            "no private key in it; a PEM file with one is needed"
        };
        unusable(&client.key, message.into())
    })?;
    CertifiedKey::from_der(chain, key, &provider()).map_err(|error| {
        let message = match error {
            rustls::Error::InconsistentKeys(_) => {
                format!(
                    "is not the key of the first certificate in {}; the chain begins with the certificate itself",
                    client.chain.display()
                )
            }
            error => format!("the private key cannot be used: {error}"),
        };
        unusable(&client.key, message)
    })
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
            Trust::read(std::slice::from_ref(&path), &[], &[]).unwrap_err().to_string()
        };
        assert!(read(b"").ends_with("ca.pem: no certificate in it"));
        let garbage = read(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        assert!(garbage.contains("ca.pem: not usable as a root certificate"), "{garbage}");
        assert!(
            Trust::read(&[folder.path().join("none")], &[], &[]).unwrap_err().to_string().contains("none")
        );
    }
}
