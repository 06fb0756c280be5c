//! Answers that the guard makes itself: the one place in which a refusal or an error becomes a status.
//!
//! A block is a plain 403, or a broken answer where the user wants that, and never a closed connection: a browser sends a request
//! again when its connection just closes.

use super::body::ResponseBody;
use super::upstream::{Trouble, UpstreamError};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

const BLOCKED: &str = "x-qa-pilot-blocked";
const ERROR: &str = "x-qa-pilot-error";

/// A request that was judged, or could not be, and is not forwarded.
pub(super) fn blocked(reason: &str, method: &str, url: &str) -> Response<ResponseBody> {
    let body = json!({ "blocked": { "reason": reason, "method": method, "url": url } });
    let mut response = json(StatusCode::FORBIDDEN, &body);
    response.headers_mut().insert(BLOCKED, header_value(reason));
    response.extensions_mut().insert(Blocked);
    response
}

/// Marks the answer to a blocked request among all others.
#[derive(Clone, Copy)]
struct Blocked;

/// Whether a response is one that [`blocked`] made.
pub(super) fn is_block(response: &Response<ResponseBody>) -> bool {
    response.extensions().get::<Blocked>().is_some()
}

/// Carries a token that the stream spoils as it is written.
pub(super) fn spoiled(token: &str) -> Response<ResponseBody> {
    let mut response = empty(StatusCode::FORBIDDEN);
    response.headers_mut().insert(BLOCKED, header_value(token));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// A request in origin form: it was meant for a server, and this is none.
pub(super) fn no_proxy_request() -> Response<ResponseBody> {
    let mut response = line(
        StatusCode::BAD_REQUEST,
        "this port takes proxy requests alone; the guard's own answers are below the control url of its ready line",
    );
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// A request that names two hosts, or not the one of its connection (RFC 9110, section 15.5.20).
pub(super) fn misdirected(reason: &str) -> Response<ResponseBody> {
    let mut response = line(StatusCode::MISDIRECTED_REQUEST, reason);
    response.headers_mut().insert(BLOCKED, header_value(reason));
    response
}

/// A request whose boundaries are in doubt: nothing more can be read from its connection.
pub(super) fn malformed(reason: &str) -> Response<ResponseBody> {
    let mut response = line(StatusCode::BAD_REQUEST, reason);
    response.headers_mut().insert(BLOCKED, header_value(reason));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// A permitted request that could not be forwarded.
pub(super) fn upstream(error: &UpstreamError) -> Response<ResponseBody> {
    let status = match error.trouble {
        Trouble::Timeout => StatusCode::GATEWAY_TIMEOUT,
        Trouble::Own => StatusCode::FORBIDDEN,
        Trouble::Dns | Trouble::Connect | Trouble::Tls | Trouble::Protocol => StatusCode::BAD_GATEWAY,
    };
    let mut response = line(status, &error.to_string());
    response.headers_mut().insert(ERROR, HeaderValue::from_static(error.trouble.as_str()));
    response
}

/// A request that is neither sent nor held against the run.
pub(super) fn dropped() -> Response<ResponseBody> {
    empty(StatusCode::NO_CONTENT)
}

/// No content.
pub(super) fn empty(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::Empty);
    *response.status_mut() = status;
    response
}

/// One line of text.
pub(super) fn line(status: StatusCode, text: &str) -> Response<ResponseBody> {
    own(status, "text/plain; charset=utf-8", format!("qa-pilot: {text}\n").into())
}

/// A JSON value.
pub(super) fn json(status: StatusCode, value: &Value) -> Response<ResponseBody> {
    own(status, "application/json", value.to_string().into())
}

/// An error of the control API.
pub(super) fn error(status: StatusCode, message: &str) -> Response<ResponseBody> {
    json(status, &json!({ "error": message }))
}

fn own(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::Own(Some(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Any text as a header: what does not fit becomes `?`.
fn header_value(text: &str) -> HeaderValue {
    let fit: String =
        text.chars().take(500).map(|char| if matches!(char, ' '..='~') { char } else { '?' }).collect();
    HeaderValue::from_str(&fit).unwrap_or_else(|_| HeaderValue::from_static("blocked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_reason_fits_a_header() {
        let response = blocked("ü\r\nx: y\u{1f600}", "POST", "https://a.test/");
        assert_eq!(response.headers()[BLOCKED], "???x: y?");
        assert_eq!(response.status(), 403);
    }
}
