//! Which origin a request is for: the one that its target, its `Host` and its tunnel agree on, and never the guard itself.

use super::body::ResponseBody;
use super::conn::{Conn, Place};
use super::names::{Authority, NameError, Origin, Scheme};
use super::note::note;
use super::{control, respond};
use http::{Method, Response, Version, header, request};

/// Why a request is refused before it can be judged.
pub(super) enum Unjudged {
    /// In origin form on a port of the guard: it was not meant to be proxied.
    NoProxyRequest,
    /// Two names.
    Names(String),
    /// No origin can be made out.
    Target(String),
}

/// The origin that target, `Host` and tunnel agree on.
pub(super) fn origin_of(conn: &Conn, head: &request::Parts) -> Result<Origin, Unjudged> {
    let uri = &head.uri;
    if head.method == Method::CONNECT {
        return Err(Unjudged::Target("a CONNECT within a tunnel".into()));
    }
    let scheme = match uri.scheme_str() {
        None => None,
        Some("http") => Some(Scheme::Http),
        Some("https") => Some(Scheme::Https),
        Some(other) => return Err(Unjudged::Target(format!("the scheme {other} is not proxied"))),
    };
    let named = |error: NameError| Unjudged::Target(error.to_string());
    let (origin, other_name) = match conn.place() {
        Place::Tunnel { origin, other_name } => (origin.clone(), other_name.as_ref()),
        Place::Open => {
            let (Some(scheme), Some(authority)) = (scheme, uri.authority()) else {
                return Err(Unjudged::NoProxyRequest);
            };
            let authority =
                Authority::parse(authority.as_str(), Some(scheme.default_port())).map_err(named)?;
            (Origin { scheme, authority }, None)
        }
    };
    if uri.path() == "*" {
        return Err(Unjudged::Target("a request about the server as a whole cannot be judged".into()));
    }
    let differs = |what: &str, name: &str| {
        Unjudged::Names(format!("{what} {name:?} is not the origin {origin} that the connection is for"))
    };
    if let Some(name) = other_name {
        return Err(differs("the tls server name", name));
    }
    if scheme.is_some_and(|scheme| scheme != origin.scheme) {
        return Err(differs("the scheme", uri.scheme_str().unwrap_or_default()));
    }
    let same = |text: &str| origin.authority.is_spelled(text, origin.scheme.default_port());
    if let Some(authority) = uri.authority() {
        if authority.as_str().contains('@') {
            return Err(named(NameError::UserInfo));
        }
        if !same(authority.as_str()) {
            return Err(differs("the request target", authority.as_str()));
        }
    }
    let mut hosts = head.headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(_), Some(_)) => Err(Unjudged::Names("more than one host header".into())),
        (Some(host), None) if !host.to_str().is_ok_and(same) => {
            Err(differs("the host header", &String::from_utf8_lossy(host.as_bytes())))
        }
        (None, _) if head.version == Version::HTTP_11 => Err(Unjudged::Names("no host header".into())),
        _ => Ok(origin),
    }
}

/// The guard's own listeners are no origins; the probe alone is answered, and counts for nothing.
pub(super) fn own_listener(conn: &Conn, origin: &Origin, head: &request::Parts) -> Response<ResponseBody> {
    let is_main = origin.authority.port == conn.proxy().main_port;
    if is_main && head.method == Method::GET && head.uri.path() == control::PROBE {
        return control::probe(conn.port().kind());
    }
    let reason = "a listener of the guard itself";
    let url = format!("{origin}{}", head.uri.path());
    note(&conn.ledger(), reason, head.method.as_str(), &url);
    respond::blocked(reason, head.method.as_str(), &url)
}
