//! A further proxy between here and the origins, such as a company has: plain HTTP goes to it in absolute form, everything
//! else through a tunnel by CONNECT (RFC 9110, section 9.3.6). Its credentials are sent to it alone.

use super::{Trouble, UpstreamError};
use crate::proxy::names::{Authority, Origin, is_own_machine};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::PROXY_AUTHORIZATION;
use http::{HeaderValue, Request, StatusCode};
use percent_encoding::percent_decode_str;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

/// How long the proxy may take to open a tunnel: it resolves and connects meanwhile.
const TUNNEL_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest head in bytes of an answer to CONNECT.
const MAX_HEAD: usize = 64 << 10;

/// The proxy behind which origins are.
#[derive(Clone, PartialEq, Eq)]
pub struct UpstreamProxy {
    address: Authority,
    /// The value of `Proxy-Authorization`.
    credentials: Option<HeaderValue>,
    /// Hosts that are reached without it, each for one port or for any (0).
    spared: Vec<Authority>,
    spares_all: bool,
}

/// Why a URL names no proxy that can be gone through. Never says the credentials.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ViaError {
    /// Not a URL with a host and nothing behind it.
    #[error(
        "is no proxy; write http://HOST:PORT, with USER:PASSWORD@ before the host where the proxy wants them"
    )]
    Url,
    /// TLS.
    #[error("TLS to the proxy itself is not supported; name its plain port as http://HOST:PORT")]
    Tls,
    /// Neither.
    #[error("a proxy of the scheme {0} is not supported; name one as http://HOST:PORT")]
    Scheme(String),
    /// What a header cannot carry.
    #[error("user and password must be text without control characters; write special ones as %XX")]
    Credentials,
}

impl UpstreamProxy {
    /// Reads `http://[user:password@]host[:port]`; user and password are percent-decoded. `no_proxy` lists hosts that are
    /// reached without it: names with all that is below them, addresses, each with or without a port, or `*`.
    ///
    /// # Errors
    /// When it is no URL of that form.
    pub fn parse(text: &str, no_proxy: &str) -> Result<Self, ViaError> {
        let url = Url::parse(text).map_err(|_| ViaError::Url)?;
        match url.scheme() {
            "http" => {}
            "https" => return Err(ViaError::Tls),
            _ if !text.contains("://") => return Err(ViaError::Url),
            other => return Err(ViaError::Scheme(other.to_owned())),
        }
        let bare = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
        let host = url.host_str().filter(|_| bare).ok_or(ViaError::Url)?;
        let address = Authority::parse(host, Some(url.port().unwrap_or(80))).map_err(|_| ViaError::Url)?;
        let names: Vec<&str> =
            no_proxy.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty()).collect();
        Ok(Self {
            address,
            credentials: credentials(&url)?,
            // What is no name, such as a range of addresses, spares nobody.
            spared: names.iter().filter_map(|name| spared(name)).collect(),
            spares_all: names.contains(&"*"),
        })
    }

    /// Where it is.
    pub(super) fn address(&self) -> &Authority {
        &self.address
    }

    /// Whether `authority` is reached without it: this machine always is.
    pub(super) fn spares(&self, authority: &Authority) -> bool {
        let own = authority.is_localhost()
            || authority.literal().is_some_and(|ip| is_own_machine(SocketAddr::new(ip, authority.port)));
        own || self.spares_all || self.spared.iter().any(|spared| is_below(authority, spared))
    }

    /// Opens a tunnel to `origin` over `socket`, a connection to the proxy.
    ///
    /// # Errors
    /// When the proxy says no, or nothing in time.
    pub(super) async fn tunnel(&self, socket: &mut TcpStream, origin: &Origin) -> Result<(), UpstreamError> {
        let fail = |trouble, message: String| UpstreamError::new(trouble, origin, message);
        let broke = |error: std::io::Error| {
            fail(Trouble::Connect, format!("the upstream proxy {} broke off: {error}", self.address))
        };
        let asked = async {
            socket.write_all(&self.connect_head(&origin.authority)).await.map_err(broke)?;
            answer(socket).await.map_err(broke)
        };
        let Ok(head) = timeout(TUNNEL_TIMEOUT, asked).await else {
            let message = format!("no answer from the upstream proxy {} in 30 seconds", self.address);
            return Err(fail(Trouble::Timeout, message));
        };
        let head = head?;
        let mut fields = [httparse::EMPTY_HEADER; 100];
        let mut response = httparse::Response::new(&mut fields);
        // What does not parse has no code.
        let parsed = response.parse(&head).is_ok();
        match response.code.filter(|_| parsed).and_then(|code| StatusCode::from_u16(code).ok()) {
            Some(status) if status.is_success() => Ok(()),
            Some(status) => Err(self.refusal(origin, status)),
            None => {
                Err(fail(Trouble::Connect, format!("the upstream proxy {} answered no HTTP", self.address)))
            }
        }
    }

    /// Makes of a request in origin form one that the proxy forwards: absolute form (RFC 9112, section 3.2.2), with its credentials.
    pub(super) fn take<B>(&self, request: &mut Request<B>, origin: &Origin) {
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        // Both parts were read from a URI.
        if let Ok(uri) = format!("{origin}{target}").parse() {
            *request.uri_mut() = uri;
        }
        if let Some(credentials) = &self.credentials {
            request.headers_mut().insert(PROXY_AUTHORIZATION, credentials.clone());
        }
    }

    /// Looks whether an answer is the proxy's own, which wants other credentials.
    ///
    /// # Errors
    /// When it is.
    pub(super) fn accepted(&self, origin: &Origin, status: StatusCode) -> Result<(), UpstreamError> {
        match status {
            StatusCode::PROXY_AUTHENTICATION_REQUIRED => Err(self.refusal(origin, status)),
            _ => Ok(()),
        }
    }

    /// What a status means with which the proxy does not let `origin` be reached.
    fn refusal(&self, origin: &Origin, status: StatusCode) -> UpstreamError {
        let mend = match (status, &self.credentials) {
            (StatusCode::PROXY_AUTHENTICATION_REQUIRED, None) => {
                "; give it user and password: --upstream-proxy http://USER:PASSWORD@HOST:PORT"
            }
            (StatusCode::PROXY_AUTHENTICATION_REQUIRED, Some(_)) => {
                "; it does not take user and password of --upstream-proxy"
            }
            _ => "",
        };
        let message = format!("the upstream proxy {} answered {status}{mend}", self.address);
        UpstreamError::new(Trouble::Connect, origin, message)
    }

    fn connect_head(&self, authority: &Authority) -> Vec<u8> {
        let mut head = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n").into_bytes();
        if let Some(credentials) = &self.credentials {
            head.extend_from_slice(b"Proxy-Authorization: ");
            head.extend_from_slice(credentials.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        head
    }
}

impl fmt::Debug for UpstreamProxy {
    /// Without the credentials, which must not land in any log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpstreamProxy").field("address", &self.address).finish_non_exhaustive()
    }
}

fn credentials(url: &Url) -> Result<Option<HeaderValue>, ViaError> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(None);
    }
    let mut pair: Vec<u8> = percent_decode_str(url.username()).collect();
    // A colon in the user's name would end it (RFC 7617, section 2).
    let split = pair.contains(&b':');
    pair.push(b':');
    pair.extend(percent_decode_str(url.password().unwrap_or_default()));
    if split || pair.iter().any(u8::is_ascii_control) {
        return Err(ViaError::Credentials);
    }
    let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair)))
        .map_err(|_| ViaError::Credentials)?;
    value.set_sensitive(true);
    Ok(Some(value))
}

fn spared(name: &str) -> Option<Authority> {
    let name = name.trim_start_matches("*.").trim_start_matches('.');
    let bracketed = name.parse::<std::net::Ipv6Addr>().is_ok().then(|| format!("[{name}]"));
    Authority::parse(bracketed.as_deref().unwrap_or(name), Some(0)).ok()
}

fn is_below(authority: &Authority, spared: &Authority) -> bool {
    if spared.port != 0 && spared.port != authority.port {
        return false;
    }
    let (host, top) = (authority.host.to_string(), spared.host.to_string());
    host == top
        || (authority.literal().is_none() && host.strip_suffix(&top).is_some_and(|rest| rest.ends_with('.')))
}

/// The head of the answer, and not a byte more: what follows belongs to whoever is at the other end of the tunnel.
async fn answer(socket: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let there = socket.peek(&mut chunk).await?;
        if there == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let before = head.len();
        head.extend_from_slice(chunk.get(..there).unwrap_or_default());
        let end = head.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4);
        let used = end.unwrap_or(head.len()) - before;
        socket.read_exact(chunk.get_mut(..used).unwrap_or_default()).await?;
        if let Some(end) = end {
            head.truncate(end);
            return Ok(head);
        }
        if head.len() > MAX_HEAD {
            return Err(std::io::Error::other("its answer is too long"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_decoded_and_never_shown() {
        let proxy = UpstreamProxy::parse("http://al%40ice:s%3Aecret@Proxy.test:3128", "").unwrap();
        assert_eq!(proxy.address().to_string(), "proxy.test:3128");
        let value = proxy.credentials.clone().unwrap();
        assert_eq!(value, format!("Basic {}", STANDARD.encode("al@ice:s:ecret")));
        let shown = format!("{proxy:?} {value:?}");
        assert!(!shown.contains("ecret") && !shown.contains(&STANDARD.encode("al@ice:s:ecret")), "{shown}");
        assert_eq!(UpstreamProxy::parse("http://proxy.test", "").unwrap().credentials, None);
        assert_eq!(UpstreamProxy::parse("http://[::1]:1", "").unwrap().address().to_string(), "[::1]:1");
    }

    #[test]
    fn what_is_no_proxy_is_refused_without_its_secrets() {
        for (text, want) in [
            ("https://u:secret@proxy.test:1", ViaError::Tls),
            ("socks5://u:secret@proxy.test:1", ViaError::Scheme("socks5".into())),
            ("proxy.test:3128", ViaError::Url),
            ("http://u:secret@/", ViaError::Url),
            ("http://u:secret@proxy.test/path", ViaError::Url),
            ("http://u:secret@proxy.test:1?q", ViaError::Url),
            ("", ViaError::Url),
            ("http://u%0d%0ax:secret@proxy.test", ViaError::Credentials),
            ("http://u%3Ax:secret@proxy.test", ViaError::Credentials),
        ] {
            let error = UpstreamProxy::parse(text, "").unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
            assert_eq!(error, want, "{text}");
        }
    }

    #[test]
    fn who_is_spared_is_reached_directly() {
        let spares = |no_proxy: &str, target: &str| {
            let proxy = UpstreamProxy::parse("http://proxy.test:1", no_proxy).unwrap();
            proxy.spares(&Authority::parse(target, Some(443)).unwrap())
        };
        for (no_proxy, target, want) in [
            ("", "localhost", true),
            ("", "127.0.0.1:8080", true),
            ("", "[::1]", true),
            ("", "a.localhost", true),
            ("", "shop.test", false),
            ("shop.test", "shop.test", true),
            (".shop.test", "api.shop.test", true),
            ("*.shop.test", "api.shop.test", true),
            ("shop.test", "myshop.test", false),
            ("x.test, shop.test:8443", "shop.test:8443", true),
            ("shop.test:8443", "shop.test", false),
            ("10.0.0.1", "10.0.0.1", true),
            ("0.0.1", "10.0.0.1", false),
            ("fe80::1", "[fe80::1]", true),
            ("10.0.0.0/8", "10.0.0.1", false),
            ("*", "shop.test", true),
        ] {
            assert_eq!(spares(no_proxy, target), want, "{no_proxy} {target}");
        }
    }

    #[test]
    fn tunnels_name_addresses_in_brackets() {
        let proxy = UpstreamProxy::parse("http://proxy.test:1", "").unwrap();
        let head = proxy.connect_head(&Authority::parse("[2001:db8::1]:443", None).unwrap());
        let text = String::from_utf8(head).unwrap();
        assert_eq!(text, "CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:db8::1]:443\r\n\r\n");
    }
}
