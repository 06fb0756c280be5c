//! Who may use the ports where other machines reach them: whoever knows the token (RFC 7617, Basic).

use super::body::ResponseBody;
use super::respond;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONNECTION, HeaderValue, PROXY_AUTHENTICATE};
use http::{Response, StatusCode};

/// The user's name that goes with the token.
pub(super) const USER: &str = "run";

const CHALLENGE: &str = "Basic realm=\"qa-pilot\"";
const WANTED: &str = "this proxy wants the user `run` and the token of the ready line as the password";

/// What `Proxy-Authorization` must say.
pub(super) struct Credentials(String);

impl Credentials {
    /// Those that go with `token`.
    pub(super) fn new(token: &str) -> Self {
        Self(STANDARD.encode(format!("{USER}:{token}")))
    }

    /// Whether a field's value is right. Every byte is looked at, whichever differs.
    pub(super) fn are(&self, value: Option<&[u8]>) -> bool {
        let Some((scheme, given)) = value.and_then(|value| value.split_at_checked(6)) else { return false };
        let (given, wanted) = (given.trim_ascii(), self.0.as_bytes());
        scheme.eq_ignore_ascii_case(b"basic ")
            && given.len() == wanted.len()
            && given.iter().zip(wanted).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

/// The answer to a request without them.
pub(super) fn asked_for() -> Response<ResponseBody> {
    let mut response = respond::line(StatusCode::PROXY_AUTHENTICATION_REQUIRED, WANTED);
    response.headers_mut().insert(PROXY_AUTHENTICATE, HeaderValue::from_static(CHALLENGE));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The same in answer to a CONNECT.
pub(super) fn asked_for_bytes() -> String {
    let body = format!("qa-pilot: {WANTED}\n");
    format!(
        "HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: {CHALLENGE}\r\ncontent-type: text/plain\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_will_do() {
        let credentials = Credentials::new("token");
        for (value, want) in [
            (Some(format!("Basic {}", STANDARD.encode("run:token"))), true),
            (Some(format!("basic  {} ", STANDARD.encode("run:token"))), true),
            (Some(format!("Basic {}", STANDARD.encode("run:tokeN"))), false),
            (Some(format!("Bearer {}", STANDARD.encode("run:token"))), false),
            (Some("Basic".into()), false),
            (Some("Basic ".into()), false),
            (None, false),
        ] {
            assert_eq!(credentials.are(value.as_deref().map(str::as_bytes)), want, "{value:?}");
        }
    }
}
