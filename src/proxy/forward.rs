//! From a permit to the origin's answer. Nothing gets here that was not judged: every function takes the [`Permit`].

use super::body::{RequestBody, ResponseBody};
use super::conn::Conn;
use super::upstream::{Trouble, Upstream, UpstreamError};
use super::web_socket::{SocketJudge, relay_judged, relay_raw};
use crate::policy::Permit;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Request, Response, StatusCode, Uri, Version, request};
use hyper::upgrade::OnUpgrade;
use std::rc::Rc;

/// Fields that belong to one connection (RFC 9110, section 7.6.1), and those that speak to the proxy.
static HOP_BY_HOP: [HeaderName; 9] = [
    header::CONNECTION,
    header::PROXY_AUTHORIZATION,
    header::PROXY_AUTHENTICATE,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("http2-settings"),
];

/// Forwards a request and streams the answer back.
///
/// # Errors
/// Names what failed between here and the origin.
pub(super) async fn forward(
    permit: Permit,
    upstream: &Rc<Upstream>,
    head: request::Parts,
    body: RequestBody,
) -> Result<Response<ResponseBody>, UpstreamError> {
    let _used = permit;
    let request = outgoing(upstream, head, body)?;
    let (response, lease) = upstream.send(request).await?;
    let (mut head, body) = response.into_parts();
    strip(&mut head.headers);
    head.headers.remove(header::ALT_SVC);
    head.version = Version::HTTP_11;
    Ok(Response::from_parts(head, ResponseBody::from_origin(body, lease)))
}

/// Forwards a WebSocket handshake over a connection of its own. When the origin accepts it, bytes are copied both ways, and
/// with a `judge` what the client sends is judged message by message.
///
/// # Errors
/// As [`forward`].
pub(super) async fn web_socket(
    permit: Permit,
    conn: &Rc<Conn>,
    upstream: &Rc<Upstream>,
    head: request::Parts,
    client: OnUpgrade,
    judge: Option<SocketJudge>,
) -> Result<Response<ResponseBody>, UpstreamError> {
    let _used = permit;
    let mut request = outgoing(upstream, head, RequestBody::Empty)?;
    if judge.is_some() {
        // What an extension makes of messages could not be judged; compression is the one that browsers offer.
        request.headers_mut().remove(header::SEC_WEBSOCKET_EXTENSIONS);
    }
    upgrade_headers(request.headers_mut());
    let mut response = upstream.send_upgrade(request).await?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        let (mut head, body) = response.into_parts();
        strip(&mut head.headers);
        head.headers.remove(header::ALT_SVC);
        return Ok(Response::from_parts(head, ResponseBody::Origin(body, None)));
    }
    if judge.is_some() && response.headers().contains_key(header::SEC_WEBSOCKET_EXTENSIONS) {
        let message = "the origin chose a websocket extension that was not offered";
        return Err(UpstreamError::new(Trouble::Protocol, upstream.text(), message));
    }
    let origin = hyper::upgrade::on(&mut response);
    let conn = conn.clone();
    conn.clone().spawner().spawn(async move {
        let relay = async {
            if let (Ok(client), Ok(origin)) = (client.await, origin.await) {
                match judge {
                    Some(judge) => relay_judged(client, origin, judge).await,
                    None => relay_raw(client, origin).await,
                }
            }
        };
        tokio::select! {
            () = relay => {}
            () = conn.closed() => {}
        }
    });
    let (mut head, _) = response.into_parts();
    strip(&mut head.headers);
    upgrade_headers(&mut head.headers);
    Ok(Response::from_parts(head, ResponseBody::Empty))
}

/// The request as the origin gets it: origin form, one `Host` made from the judged name, framing by us.
fn outgoing(
    upstream: &Upstream,
    mut head: request::Parts,
    body: RequestBody,
) -> Result<Request<RequestBody>, UpstreamError> {
    let bad = |message: &str| UpstreamError::new(Trouble::Protocol, upstream.text(), message);
    let target = head.uri.path_and_query().cloned().ok_or_else(|| bad("the request has no path"))?;
    head.uri = Uri::from(target);
    head.version = Version::HTTP_11;
    strip(&mut head.headers);
    // hyper has answered it already when the body is first read.
    head.headers.remove(header::EXPECT);
    let host =
        HeaderValue::from_str(&upstream.origin().host_header()).map_err(|_| bad("the host is no header"))?;
    head.headers.insert(header::HOST, host);
    Ok(Request::from_parts(head, body))
}

/// Removes what belongs to one connection, and what `Connection` names as such.
fn strip(headers: &mut HeaderMap) {
    // One pass over the names costs less than looking for each.
    if !headers.keys().any(|name| HOP_BY_HOP.contains(name)) {
        return;
    }
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
        .collect();
    for name in named {
        // A sender must not name end-to-end fields, and some of these would change what was judged.
        if !matches!(name, header::HOST | header::CONTENT_LENGTH | header::COOKIE | header::AUTHORIZATION) {
            headers.remove(name);
        }
    }
    let trailers =
        headers.get_all(header::TE).iter().any(|value| value.as_bytes().eq_ignore_ascii_case(b"trailers"));
    for name in &HOP_BY_HOP {
        headers.remove(name);
    }
    if trailers {
        headers.insert(header::TE, HeaderValue::from_static("trailers"));
    }
}

fn upgrade_headers(headers: &mut HeaderMap) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_one_connection_is_removed() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "keep-alive, x-hop, content-length"),
            ("x-hop", "1"),
            ("keep-alive", "timeout=5"),
            ("te", "trailers"),
            ("proxy-authorization", "Basic x"),
            ("proxy-connection", "keep-alive"),
            ("x-end", "1"),
            ("content-length", "3"),
            ("trailer", "x-sum"),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=2"),
        ] {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        strip(&mut headers);
        let left: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}={}", value.to_str().unwrap())).collect();
        for kept in [
            "x-end=1",
            "content-length=3",
            "trailer=x-sum",
            "set-cookie=a=1",
            "set-cookie=b=2",
            "te=trailers",
        ] {
            assert!(left.contains(&kept.to_owned()), "{kept}: {left:?}");
        }
        assert_eq!(left.len(), 6, "{left:?}");
    }
}
