//! A certificate authority of the test's own, with an intermediate one below it: for origins, and for clients that show who they are.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) struct Pki {
    folder: tempfile::TempDir,
    root: rcgen::Certificate,
    between: rcgen::Certificate,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate with all that stands between it and the root, and its key.
pub(super) struct Leaf {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) pem: String,
    pub(super) key: KeyPair,
}

impl Pki {
    pub(super) fn new() -> Self {
        let authority = || {
            let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params
        };
        let (root_key, between_key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let mut root_params = authority();
        root_params.distinguished_name.push(rcgen::DnType::CommonName, "root");
        let root = root_params.self_signed(&root_key).unwrap();
        let mut between_params = authority();
        between_params.distinguished_name.push(rcgen::DnType::CommonName, "between");
        let between =
            between_params.clone().signed_by(&between_key, &Issuer::new(root_params, root_key)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("root.pem"), root.pem()).unwrap();
        Self { folder, root, between, issuer: Issuer::new(between_params, between_key) }
    }

    /// The root, as PEM.
    pub(super) fn root(&self) -> PathBuf {
        self.folder.path().join("root.pem")
    }

    pub(super) fn leaf(&self, names: &[&str]) -> Leaf {
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, "leaf");
        let leaf = params.signed_by(&key, &self.issuer).unwrap();
        Leaf {
            chain: vec![leaf.der().clone(), self.between.der().clone()],
            pem: format!("{}{}", leaf.pem(), self.between.pem()),
            key,
        }
    }

    /// The files that `--client-cert` takes.
    pub(super) fn client_files(&self, name: &str) -> (PathBuf, PathBuf) {
        let leaf = self.leaf(&[name]);
        let at = |ending: &str| self.folder.path().join(format!("{name}.{ending}"));
        fs_err::write(at("pem"), leaf.pem).unwrap();
        fs_err::write(at("key"), leaf.key.serialize_pem()).unwrap();
        (at("pem"), at("key"))
    }

    /// How a server with a certificate for `names` accepts, on `versions` of TLS and with the protocols that it speaks.
    pub(super) fn server(
        &self,
        names: &[&str],
        protocols: &[&str],
        versions: &[&'static rustls::SupportedProtocolVersion],
        asks_for_certificates: bool,
    ) -> Arc<rustls::ServerConfig> {
        let leaf = self.leaf(names);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(versions)
            .unwrap();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.root.der().clone()).unwrap();
        let builder = if asks_for_certificates {
            builder.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build().unwrap(),
            )
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::Pkcs8(leaf.key.serialize_der().into());
        let mut config = builder.with_single_cert(leaf.chain, key).unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Arc::new(config)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = Path::join(self.folder.path(), name);
        fs_err::write(&path, text).unwrap();
        path
    }
}
