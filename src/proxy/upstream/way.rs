//! The way to origins, as a user describes it: whom to trust, which certificate to show, which proxy to go through.

use super::tls::{Trust, TrustError};
use super::via::{UpstreamProxy, ViaError};
use crate::proxy::names::{Authority, NameError, Origin};
use std::fmt;
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::str::FromStr;
use url::Host;

/// What a user says of the way to origins. Nothing is read yet.
#[derive(Clone, Debug, Default)]
pub struct WayOptions {
    /// PEM files of certificates that are trusted beside the system's roots.
    pub ca: Vec<PathBuf>,
    /// The proxy behind which origins are.
    pub proxy: Option<UpstreamProxy>,
    /// Certificates to show, at most one a host.
    pub client_certs: Vec<ClientCert>,
    /// Hosts whose certificates are not verified.
    pub insecure: Vec<UpstreamHost>,
}

/// The way to origins: what [`WayOptions`] name was read.
#[derive(Clone, Debug, Default)]
pub struct Way {
    pub(super) trust: Trust,
    pub(super) proxy: Option<UpstreamProxy>,
}

/// A host of origins, whatever their port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UpstreamHost(pub(super) Host<String>);

/// A certificate that is shown to one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCert {
    /// To whom.
    pub host: UpstreamHost,
    /// The certificate, then those between it and a root: PEM.
    pub chain: PathBuf,
    /// Its private key: PEM.
    pub key: PathBuf,
}

/// Why the way to origins cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum WayError {
    /// A file of certificates or a key.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The proxy.
    #[error("--upstream-proxy: {0}")]
    Proxy(#[from] ViaError),
    /// No host.
    #[error("--upstream-insecure {text}: {error}")]
    Insecure {
        /// As it was given.
        text: String,
        /// What is wrong with it.
        error: HostError,
    },
    /// Not of the form `HOST=CERT,KEY`.
    #[error("--client-cert {0}: must be HOST=CERT,KEY, with two PEM files of which neither path has a comma")]
    ClientCert(String),
    /// Its host is none.
    #[error("--client-cert {text}: {error}")]
    ClientCertHost {
        /// As it was given.
        text: String,
        /// What is wrong with it.
        error: HostError,
    },
}

/// Why a text names no host.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// Something else.
    #[error("{0}")]
    Name(String),
    /// It says more than a host.
    #[error("name the host alone: it holds for all of its ports")]
    Port,
}

impl WayOptions {
    /// Reads what arguments say. `no_proxy` lists hosts that are reached without the proxy, as the variable `NO_PROXY` has them.
    ///
    /// # Errors
    /// Names the argument and the mend; never the proxy's credentials.
    pub fn parse(
        ca: Vec<PathBuf>,
        proxy: Option<&str>,
        no_proxy: Option<&str>,
        client_certs: &[String],
        insecure: &[String],
    ) -> Result<Self, WayError> {
        let proxy = proxy.map(|url| UpstreamProxy::parse(url, no_proxy.unwrap_or_default())).transpose()?;
        let host =
            |text: &String| text.parse().map_err(|error| WayError::Insecure { text: text.clone(), error });
        Ok(Self {
            ca,
            proxy,
            client_certs: client_certs.iter().map(|text| client_cert(text)).collect::<Result<_, _>>()?,
            insecure: insecure.iter().map(host).collect::<Result<_, _>>()?,
        })
    }
}

impl Way {
    /// Reads every file that `options` name.
    ///
    /// # Errors
    /// When a file is unreadable, or holds no certificate or key that can be used.
    pub fn read(options: &WayOptions) -> Result<Self, TrustError> {
        let trust = Trust::read(&options.ca, &options.client_certs, &options.insecure)?;
        Ok(Self { trust, proxy: options.proxy.clone() })
    }

    /// The proxy through which `origin` is reached; none where it is reached directly.
    pub(super) fn proxy_for(&self, origin: &Origin) -> Option<&UpstreamProxy> {
        self.proxy.as_ref().filter(|proxy| !proxy.spares(&origin.authority))
    }
}

fn client_cert(text: &str) -> Result<ClientCert, WayError> {
    let bad = || WayError::ClientCert(text.to_owned());
    let (host, files) = text.split_once('=').ok_or_else(bad)?;
    let (chain, key) = files.split_once(',').ok_or_else(bad)?;
    if chain.is_empty() || key.is_empty() || key.contains(',') {
        return Err(bad());
    }
    let host = host.parse().map_err(|error| WayError::ClientCertHost { text: text.to_owned(), error })?;
    Ok(ClientCert { host, chain: chain.into(), key: key.into() })
}

impl FromStr for UpstreamHost {
    type Err = HostError;

    /// Reads a name or an address, an IPv6 one with or without brackets.
    fn from_str(text: &str) -> Result<Self, HostError> {
        let bare = text.parse::<Ipv6Addr>().is_ok();
        let host = if bare { format!("[{text}]") } else { text.to_owned() };
        // Any port shows that none was written.
        let read = |port| {
            Authority::parse(&host, Some(port)).map_err(|error: NameError| match error {
                NameError::BadPort(_) => HostError::Port,
                error => HostError::Name(error.to_string()),
            })
        };
        let (one, other) = (read(1)?, read(2)?);
        if one.port == other.port { Err(HostError::Port) } else { Ok(Self(one.host)) }
    }
}

impl fmt::Display for UpstreamHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(client_certs: &[&str], insecure: &[&str]) -> Result<WayOptions, String> {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        WayOptions::parse(Vec::new(), None, None, &owned(client_certs), &owned(insecure))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn hosts_are_folded_and_stand_alone() {
        let found = parse(&[], &["SHOP.test.", "::1", "[::1]", "bücher.test"]).unwrap().insecure;
        let texts: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["shop.test", "[::1]", "[::1]", "xn--bcher-kva.test"]);
        for (text, message) in [
            ("shop.test:443", "--upstream-insecure shop.test:443: name the host alone"),
            ("shop.test:x", "name the host alone"),
            ("", "no host"),
            ("https://shop.test", "https"),
            ("*.shop.test/", "is no host name"),
        ] {
            let error = parse(&[], &[text]).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn client_certificates_name_host_and_files() {
        let found = parse(&["Shop.test=/a/c.pem,/a/k.pem"], &[]).unwrap().client_certs;
        assert_eq!(found[0].host.to_string(), "shop.test");
        assert_eq!(
            (found[0].chain.as_path(), found[0].key.as_path()),
            ("/a/c.pem".as_ref(), "/a/k.pem".as_ref())
        );
        for text in ["shop.test", "shop.test=a.pem", "shop.test=a,b,c", "shop.test=,k", "shop.test=c,"] {
            let error = parse(&[text], &[]).unwrap_err();
            assert!(error.starts_with(&format!("--client-cert {text}: must be HOST=CERT,KEY")), "{error}");
        }
        assert!(parse(&["a:1=c,k"], &[]).unwrap_err().contains("name the host alone"));
    }
}
