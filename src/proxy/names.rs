//! One name for one request. Case, a trailing dot, punycode, IPv4 spellings and the default port are folded (as the WHATWG
//! URL standard does), so that the CONNECT target, the TLS server name, the request target and `Host` can be compared, and so
//! that what is compared is also what is resolved, certified and reported.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use url::Host;

/// `http` or `https`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Clear text.
    Http,
    /// Over TLS.
    Https,
}

/// Scheme, folded host and port: the unit in which names are compared and connections are pooled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Clear text or TLS.
    pub scheme: Scheme,
    /// Host and port.
    pub authority: Authority,
}

/// A folded host and its port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Authority {
    /// Lower-case A-labels without a trailing dot, or an IP address.
    pub host: Host<String>,
    /// Always known: the default of the scheme when none was written.
    pub port: u16,
}

/// Why an authority does not name one host.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum NameError {
    /// Nothing before the port.
    #[error("the authority `{0}` has no host")]
    NoHost(String),
    /// CONNECT needs a port.
    #[error("the authority `{0}` has no port")]
    NoPort(String),
    /// Not a number from 1 to 65535.
    #[error("the authority `{0}` has a bad port")]
    BadPort(String),
    /// Credentials have no place there.
    #[error("the authority carries user information")]
    UserInfo,
    /// Not a domain name or an IP address.
    #[error("`{0}` is no host name: {1}")]
    BadHost(String, String),
}

impl Scheme {
    /// The port when none is written.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    /// As written in a URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

impl Authority {
    /// Reads `host`, `host:port`, `[v6]` or `[v6]:port`; without `default_port` the port is required.
    pub fn parse(text: &str, default_port: Option<u16>) -> Result<Self, NameError> {
        if text.contains('@') {
            return Err(NameError::UserInfo);
        }
        let (host, port) = split_port(text);
        let port = match (port, default_port) {
            (Some(digits), _) => {
                let digits_only = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                match digits.parse::<u16>() {
                    Ok(port) if digits_only && port > 0 => port,
                    _ => return Err(NameError::BadPort(text.into())),
                }
            }
            (None, Some(port)) => port,
            (None, None) => return Err(NameError::NoPort(text.into())),
        };
        if host.is_empty() {
            return Err(NameError::NoHost(text.into()));
        }
        Ok(Self { host: fold(host)?, port })
    }

    /// Whether `text` names this host and port. Nearly always it is spelled as it was folded.
    pub fn is_spelled(&self, text: &str, default_port: u16) -> bool {
        if let (Host::Domain(name), true) = (&self.host, self.port == default_port)
            && name == text
        {
            return true;
        }
        Self::parse(text, Some(default_port)).is_ok_and(|authority| authority == *self)
    }

    /// Whether a TLS server name is this host.
    pub fn is_named(&self, server_name: &str) -> bool {
        fold(server_name).is_ok_and(|host| host == self.host)
    }

    /// The address when the host is one, or is a loopback name (RFC 6761).
    pub fn literal(&self) -> Option<IpAddr> {
        match self.host {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
            Host::Domain(_) => None,
        }
    }

    /// Whether the host is `localhost` or below it: loopback without asking a resolver (RFC 6761).
    pub fn is_localhost(&self) -> bool {
        matches!(&self.host, Host::Domain(name) if name == "localhost" || name.ends_with(".localhost"))
    }

    /// Whether this is a listener on loopback at one of `ports`.
    pub fn is_loopback_at(&self, ports: impl Fn(u16) -> bool) -> bool {
        let loopback = self.is_localhost()
            || self.literal().is_some_and(|address| is_own_machine(SocketAddr::new(address, self.port)));
        loopback && ports(self.port)
    }
}

/// Whether an address is loopback, or the unspecified address that the system takes for loopback.
pub fn is_own_machine(address: SocketAddr) -> bool {
    let ip = address.ip().to_canonical();
    ip.is_loopback() || ip.is_unspecified()
}

impl Origin {
    /// Host and port as `Host` carries them: the default port is left out.
    pub fn host_header(&self) -> String {
        if self.authority.port == self.scheme.default_port() {
            self.authority.host.to_string()
        } else {
            self.authority.to_string()
        }
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.host_header())
    }
}

fn split_port(text: &str) -> (&str, Option<&str>) {
    let after_host = if text.starts_with('[') { text.find(']').map_or(text.len(), |at| at + 1) } else { 0 };
    match text.get(after_host..).and_then(|rest| rest.find(':')) {
        Some(colon) => {
            let (host, port) = text.split_at(after_host + colon);
            (host, port.get(1..))
        }
        None => (text, None),
    }
}

fn fold(host: &str) -> Result<Host<String>, NameError> {
    let dotless = host.strip_suffix('.').unwrap_or(host);
    let bad = |why: String| NameError::BadHost(host.into(), why);
    if dotless.is_empty() {
        return Err(NameError::NoHost(host.into()));
    }
    if dotless.contains('%') {
        // A browser never sends one, and two readers would disagree on it.
        return Err(bad("percent-encoded".into()));
    }
    match Host::parse(dotless).map_err(|error| bad(error.to_string()))? {
        Host::Domain(name)
            if name.len() > 253 || name.split('.').any(|label| label.is_empty() || label.len() > 63) =>
        {
            Err(bad("a label is empty or too long".into()))
        }
        parsed => Ok(parsed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_fold_to_one_name() {
        for (text, want) in [
            ("SHOP.test", "shop.test:443"),
            ("shop.test.", "shop.test:443"),
            ("shop.test:443", "shop.test:443"),
            ("bücher.test:8443", "xn--bcher-kva.test:8443"),
            ("XN--BCHER-KVA.test", "xn--bcher-kva.test:443"),
            ("127.0.0.1", "127.0.0.1:443"),
            ("127.1", "127.0.0.1:443"),
            ("0x7f000001", "127.0.0.1:443"),
            ("[::1]:9443", "[::1]:9443"),
            ("[0:0:0:0:0:0:0:1]", "[::1]:443"),
        ] {
            let authority = Authority::parse(text, Some(443)).unwrap();
            assert_eq!(authority.to_string(), want, "{text}");
            for other in [text, "shop.test", "shop.test:80", "127.0.0.1", "a..b", ""] {
                let same = Authority::parse(other, Some(443)).is_ok_and(|parsed| parsed == authority);
                assert_eq!(authority.is_spelled(other, 443), same, "{text} {other}");
            }
            let elsewhere = Authority::parse(text, Some(8443)).is_ok_and(|parsed| parsed == authority);
            assert_eq!(authority.is_spelled(text, 8443), elsewhere, "{text}");
        }
    }

    #[test]
    fn bad_names_are_errors_and_never_panics() {
        for text in [
            "",
            ":443",
            ".",
            "..",
            "a..b",
            "[::1",
            "[::1]x",
            "a:b",
            "a:",
            "a:0",
            "a:99999",
            "a:+1",
            "::1",
            "a b",
            "a\0b",
            "u:p@a",
            "sh%6fp.test",
            "[fe80::1%25eth0]",
            "😀\u{200b}@",
            "a/b",
            "a?b",
            "a#b",
        ] {
            assert!(Authority::parse(text, Some(443)).is_err(), "{text:?}");
        }
        assert!(Authority::parse(&"a".repeat(64), Some(443)).is_err());
        assert_eq!(Authority::parse("a.test", None), Err(NameError::NoPort("a.test".into())));
    }

    #[test]
    fn own_listeners_are_known_under_every_spelling() {
        for text in [
            "localhost:7",
            "127.0.0.1:7",
            "127.9.9.9:7",
            "[::1]:7",
            "a.localhost:7",
            "0.0.0.0:7",
            "[::ffff:127.0.0.1]:7",
        ] {
            assert!(Authority::parse(text, None).unwrap().is_loopback_at(|port| port == 7), "{text}");
        }
        assert!(!Authority::parse("shop.test:7", None).unwrap().is_loopback_at(|port| port == 7));
        assert!(!Authority::parse("127.0.0.1:8", None).unwrap().is_loopback_at(|port| port == 7));
    }

    #[test]
    fn default_ports_are_left_out_of_host() {
        let origin = |scheme, text| Origin { scheme, authority: Authority::parse(text, Some(443)).unwrap() };
        assert_eq!(origin(Scheme::Https, "a.test").to_string(), "https://a.test");
        assert_eq!(origin(Scheme::Http, "a.test").to_string(), "http://a.test:443");
    }
}
