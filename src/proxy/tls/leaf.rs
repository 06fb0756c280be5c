//! A certificate for each host: ECDSA P-256 with one key that all leaves share and the authority does not, exactly one
//! subject name (so that a browser never reuses one host's connection for another), and the authority's certificate in the
//! chain, without which neither Chromium's key list nor Node accept it.

use super::CertificateError;
use super::ca::{Authority, named, params};
use moka::sync::Cache;
use rcgen::{ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, SanType};
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, ProducesTickets};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use std::net::IpAddr;
use std::sync::Arc;
use url::Host;

/// How many hosts are kept ready.
const HOSTS: u64 = 4096;

/// Whole TLS configurations by host, each made once.
pub struct Leaves {
    authority: Authority,
    key: KeyPair,
    signer: Arc<dyn rustls::sign::SigningKey>,
    provider: Arc<CryptoProvider>,
    tickets: Arc<dyn ProducesTickets>,
    ready: Cache<Host<String>, Arc<ServerConfig>>,
}

impl Leaves {
    /// Leaves signed by `authority`.
    pub fn new(authority: Authority) -> Result<Self, CertificateError> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let der = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        Ok(Self {
            authority,
            signer: rustls::crypto::ring::sign::any_ecdsa_type(&der)?,
            provider: Arc::new(rustls::crypto::ring::default_provider()),
            tickets: rustls::crypto::ring::Ticketer::new()?,
            ready: Cache::new(HOSTS),
            key,
        })
    }

    /// The authority.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The configuration with which to be `host`, made when it is first asked for, however many ask at once.
    pub fn config_for(&self, host: &Host<String>) -> Result<Arc<ServerConfig>, CertificateError> {
        self.ready
            .try_get_with_by_ref(host, || self.mint(host))
            .map_err(|error: Arc<CertificateError>| CertificateError::clone(&error))
    }

    fn mint(&self, host: &Host<String>) -> Result<Arc<ServerConfig>, CertificateError> {
        let chain = vec![self.leaf(host)?, self.authority.certificate().clone()];
        let certified = CertifiedKey::new(chain, self.signer.clone());
        let mut config = ServerConfig::builder_with_provider(self.provider.clone())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        // Tickets resume without memory on this side; one key serves all hosts.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.ticketer = self.tickets.clone();
        Ok(Arc::new(config))
    }

    fn leaf(&self, host: &Host<String>) -> Result<CertificateDer<'static>, CertificateError> {
        let mut params = params()?;
        params.distinguished_name = named("qa-pilot leaf");
        params.subject_alt_names = vec![match host {
            Host::Domain(name) => SanType::DnsName(name.as_str().try_into()?),
            Host::Ipv4(address) => SanType::IpAddress(IpAddr::V4(*address)),
            Host::Ipv6(address) => SanType::IpAddress(IpAddr::V6(*address)),
        }];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        Ok(params.signed_by(&self.key, self.authority.issuer())?.der().clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::{ServerName, UnixTime};
    use rustls::{RootCertStore, client::WebPkiServerVerifier};

    fn leaves() -> Leaves {
        Leaves::new(Authority::new().unwrap()).unwrap()
    }

    #[test]
    fn a_leaf_is_valid_for_its_host_alone() {
        let leaves = leaves();
        let mut roots = RootCertStore::empty();
        roots.add(leaves.authority().certificate().clone()).unwrap();
        let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), leaves.provider.clone())
            .build()
            .unwrap();
        for (host, other) in
            [("shop.test", "a.shop.test"), ("127.0.0.1", "127.0.0.2"), ("xn--bcher-kva.test", "b.test")]
        {
            let leaf = leaves.leaf(&Host::parse(host).unwrap()).unwrap();
            let verify = |name: &str| {
                use rustls::client::danger::ServerCertVerifier;
                let name = ServerName::try_from(name.to_owned()).unwrap();
                verifier.verify_server_cert(&leaf, &[], &name, &[], UnixTime::now())
            };
            assert!(verify(host).is_ok(), "{host}");
            assert!(verify(other).is_err(), "{other}");
        }
    }

    #[test]
    fn a_host_is_minted_once_and_serials_differ() {
        let leaves = leaves();
        let host = Host::parse("a.test").unwrap();
        assert!(Arc::ptr_eq(&leaves.config_for(&host).unwrap(), &leaves.config_for(&host).unwrap()));
        assert_ne!(leaves.leaf(&host).unwrap(), leaves.leaf(&host).unwrap());
        assert!(leaves.config_for(&Host::Domain("ü".into())).is_err(), "no panic on a name that is none");
    }

    #[test]
    fn keys_are_not_shared_with_the_authority() {
        let leaves = leaves();
        use rcgen::PublicKeyData;
        assert_ne!(leaves.key.der_bytes(), leaves.authority.issuer().key().der_bytes());
        assert!(!leaves.authority().pem().contains("PRIVATE"));
    }
}
