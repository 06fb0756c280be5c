//! A request that somebody wrote down, made into what arrives at the proxy: a folded origin, a target as browsers encode it,
//! headers.

use crate::proxy::{Authority, NameError, Origin, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Method};

/// One request as it would arrive.
#[derive(Clone, Debug)]
pub struct Described {
    pub(super) method: Method,
    pub(super) origin: Origin,
    /// Path and query.
    pub(super) target: String,
    pub(super) headers: HeaderMap,
    pub(super) payload: Payload,
    pub(super) web_socket: bool,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// There is none.
    Absent,
    /// As sent.
    Bytes(Vec<u8>),
    /// There was one, which is not known; says why.
    Unknown(String),
}

/// Why a description is no request.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DescribedError {
    /// Not `METHOD URL`.
    #[error("`{0}` is no request; write a method and a URL, e.g. 'POST https://shop.test/orders'")]
    NoRequest(String),
    /// The method is no token (RFC 9110, section 9.1).
    #[error("`{0}` is no method")]
    Method(String),
    /// Nothing that is sent over HTTP, such as `data:` and `blob:`.
    #[error("`{0}` is not sent over http")]
    Scheme(String),
    /// No host.
    #[error("the url `{0}` names no host: {1}")]
    Host(String, NameError),
    /// A header that cannot be sent.
    #[error("the header `{0}` cannot be sent; write it as 'Name: value'")]
    Header(String),
}

impl Described {
    /// A request of `method` for `url`.
    ///
    /// # Errors
    /// When it could not be sent over HTTP.
    pub fn new(method: &str, url: &str) -> Result<Self, DescribedError> {
        let named = |text: &str| text.chars().take(200).collect::<String>();
        let method =
            Method::from_bytes(method.as_bytes()).map_err(|_| DescribedError::Method(named(method)))?;
        let (scheme, rest) = url.split_once("://").ok_or_else(|| DescribedError::Scheme(named(url)))?;
        let (scheme, web_socket) = match scheme.to_ascii_lowercase().as_str() {
            "http" => (Scheme::Http, false),
            "https" => (Scheme::Https, false),
            "ws" => (Scheme::Http, true),
            "wss" => (Scheme::Https, true),
            _ => return Err(DescribedError::Scheme(named(url))),
        };
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        // User and password become a header, if anything.
        let authority = authority.rsplit('@').next().unwrap_or_default();
        let authority = Authority::parse(authority, Some(scheme.default_port()))
            .map_err(|error| DescribedError::Host(named(url), error))?;
        Ok(Self {
            method,
            origin: Origin { scheme, authority },
            target: target(path),
            headers: HeaderMap::new(),
            payload: Payload::Absent,
            web_socket,
        })
    }

    /// Reads `METHOD URL`.
    ///
    /// # Errors
    /// When it is not of that form, or could not be sent.
    pub fn parse(text: &str) -> Result<Self, DescribedError> {
        let (method, url) =
            text.trim().split_once(' ').ok_or_else(|| DescribedError::NoRequest(text.to_owned()))?;
        Self::new(method, url.trim_start())
    }

    /// Adds a header.
    ///
    /// # Errors
    /// When name or value cannot be sent.
    pub fn header(&mut self, name: &str, value: &str) -> Result<(), DescribedError> {
        let wrong = || DescribedError::Header(name.chars().take(200).collect());
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        self.headers.append(key, HeaderValue::from_bytes(value.as_bytes()).map_err(|_| wrong())?);
        Ok(())
    }

    /// Adds the header of a line `Name: value`.
    ///
    /// # Errors
    /// When it is not of that form, or cannot be sent.
    pub fn header_line(&mut self, line: &str) -> Result<(), DescribedError> {
        let (name, value) =
            line.split_once(':').ok_or_else(|| DescribedError::Header(line.chars().take(200).collect()))?;
        self.header(name.trim(), value.trim())
    }

    /// Gives it a body; an empty one is none.
    pub fn body(&mut self, payload: Payload) {
        self.payload = if payload == Payload::Bytes(Vec::new()) { Payload::Absent } else { payload };
    }
}

/// Path and query as they are sent: without the fragment, and encoded where only ASCII may stand (the URL standard's C0
/// control and query percent-encode sets). Dots and slashes stay: whoever folds them does so after the proxy.
fn target(path: &str) -> String {
    let path = path.split('#').next().unwrap_or_default();
    let mut out = String::with_capacity(path.len() + 1);
    if !path.starts_with('/') {
        out.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'\t' | b'\n' | b'\r' => {}
            0x21..=0x7e if !matches!(byte, b'"' | b'<' | b'>') => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(text: &str) -> String {
        let described = Described::new("GET", text).unwrap();
        format!("{}{}", described.origin, described.target)
    }

    #[test]
    fn urls_become_what_is_sent() {
        for (text, want) in [
            ("https://SHOP.test:443", "https://shop.test/"),
            ("http://shop.test?a=b#c", "http://shop.test/?a=b"),
            (
                "HTTPS://u:p@bücher.test:8443/a/../ü b?\"#x",
                "https://xn--bcher-kva.test:8443/a/../%C3%BC%20b?%22",
            ),
            ("wss://[::1]:9/ws", "https://[::1]:9/ws"),
            ("https://a.test\\x", "https://a.test/\\x"),
        ] {
            assert_eq!(url(text), want);
        }
        assert!(Described::new("GET", "ws://a.test/").unwrap().web_socket);
    }

    #[test]
    fn refusals() {
        let message = |text: &str| Described::parse(text).unwrap_err().to_string();
        assert!(message("POST").starts_with("`POST` is no request; write a method and a URL"));
        assert_eq!(message("PO(ST https://a.test/"), "`PO(ST` is no method");
        assert_eq!(message("GET data:text/plain,x"), "`data:text/plain,x` is not sent over http");
        assert_eq!(message("GET /x"), "`/x` is not sent over http");
        assert!(message("GET https:///x").starts_with("the url `https:///x` names no host"));
        let mut described = Described::parse("GET  https://a.test/").unwrap();
        assert!(
            described.header_line("no colon").unwrap_err().to_string().starts_with("the header `no colon`")
        );
        assert!(described.header("a", "b\nc").is_err());
        assert_eq!(described.header_line("X-A:  b "), Ok(()));
        assert_eq!(described.headers["x-a"], "b");
    }

    proptest! {
        #[test]
        fn nothing_panics(text in ".{0,40}", url in "(https?|wss?|x)://.{0,30}") {
            let _ = Described::parse(&text);
            if let Ok(described) = Described::new("GET", &url) {
                prop_assert!(described.target.starts_with('/'));
                prop_assert!(described.target.parse::<http::uri::PathAndQuery>().is_ok() || described.target.contains(['\\', '^', '`', '{', '|', '}']), "{}", described.target);
            }
        }
    }
}
