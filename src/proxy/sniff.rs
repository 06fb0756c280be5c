//! What the first bytes of a connection are: a CONNECT and to where, and inside a tunnel whether they can be HTTP.

use super::head::framing::{MAX_FIELDS, MAX_HEAD};
use super::names::Authority;

/// A CONNECT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connect {
    /// Where to, or why that names no host and port.
    pub target: Result<Authority, Malformed>,
    /// The `Proxy-Authorization` that came with it.
    pub credentials: Option<Vec<u8>>,
}

/// A CONNECT that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Lower case, without full stop.
    pub reason: String,
    /// The target as it was sent, without user and password; `?` when there is none.
    pub target: String,
}

/// Reads the whole head of a CONNECT (RFC 9110, section 9.3.6).
///
/// # Errors
/// When it is malformed or has a body.
pub fn connect(head: &[u8]) -> Result<Connect, Malformed> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let parsed = request.parse(head);
    let target = request.path.unwrap_or("?");
    let malformed = |reason: String| Malformed {
        reason,
        target: target.rsplit('@').next().unwrap_or_default().to_owned(),
    };
    if !matches!(parsed, Ok(httparse::Status::Complete(_))) {
        return Err(malformed("the head of a CONNECT is malformed".into()));
    }
    if head.windows(2).any(|pair| matches!(pair, [before, b'\n'] if *before != b'\r')) {
        return Err(malformed("a CONNECT with bare line feeds".into()));
    }
    let framed = request.headers.iter().any(|field| {
        field.name.eq_ignore_ascii_case("transfer-encoding")
            || (field.name.eq_ignore_ascii_case("content-length") && field.value != b"0")
    });
    if framed {
        return Err(malformed("a CONNECT with a body".into()));
    }
    let given = request.headers.iter().find(|field| field.name.eq_ignore_ascii_case("proxy-authorization"));
    let credentials = given.map(|field| field.value.to_vec());
    Ok(Connect {
        target: Authority::parse(target, None).map_err(|error| malformed(error.to_string())),
        credentials,
    })
}

/// Whether the first line can be one of HTTP; `None` while the bytes do not tell yet.
pub fn first_line(bytes: &[u8]) -> Option<bool> {
    let token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let word = line.iter().position(|byte| !token(byte)).unwrap_or(line.len());
    if line.get(word).is_some_and(|byte| *byte != b' ') || word > 64 {
        return Some(false);
    }
    if line.len() < bytes.len() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        return Some(word > 0 && line.windows(6).any(|window| window == b" HTTP/"));
    }
    if word == 0 && !bytes.is_empty() {
        return Some(false);
    }
    (bytes.len() > MAX_HEAD).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines() {
        for (bytes, want) in [
            (&b"GET / HTTP/1.1\r\n"[..], Some(true)),
            (b"POST /x HTTP/1.1", None),
            (b"PO", None),
            (b"SSH-2.0-OpenSSH_9\r\n", Some(false)),
            (b"\0\0\0\x01", Some(false)),
            (b"EHLO a.test\r\n", Some(false)),
            (b" GET", Some(false)),
            (b"\r\n", Some(false)),
            (b"PRI * HTTP/2.0\r\n", Some(true)),
        ] {
            assert_eq!(first_line(bytes), want, "{bytes:?}");
        }
    }

    #[test]
    fn connect_heads() {
        let head = "CONNECT A.test:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic eA==\r\n\r\n";
        let open = connect(head.as_bytes()).unwrap();
        assert_eq!(open.target.map(|authority| authority.to_string()), Ok("a.test:443".into()));
        assert_eq!(open.credentials.as_deref(), Some(&b"Basic eA=="[..]));
        for (head, reason, target) in [
            ("CONNECT a:1 HTTP/1.1\r\nContent-Length: 3\r\n\r\n", "a CONNECT with a body", "a:1"),
            ("CONNECT a:1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "a CONNECT with a body", "a:1"),
            ("CONNECT a:1\r\n\r\n", "the head of a CONNECT is malformed", "?"),
            ("CONNECT a:1 HTTP/1.1\nX: y\r\n\r\n", "a CONNECT with bare line feeds", "a:1"),
            ("CONNECT a:1 HTTP/1.1\r\nX : y\r\n\r\n", "the head of a CONNECT is malformed", "a:1"),
            ("CONNECT u:p@a:1 HTTP/1.1\r\n\r\n", "", "a:1"),
            ("CONNECT a HTTP/1.1\r\n\r\n", "", "a"),
        ] {
            let fault = connect(head.as_bytes()).and_then(|connect| connect.target).unwrap_err();
            assert!(fault.reason.contains(reason) && fault.target == target, "{head:?}: {fault:?}");
        }
    }
}
