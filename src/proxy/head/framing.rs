//! How far one HTTP/1 message reaches, read strictly: boundaries and framing fields only (RFC 9112, sections 2, 6 and 7).
//! Whatever two servers could read differently is a [`Fault`]: bare line feeds, both lengths, a repeated length, a transfer
//! coding that is not exactly `chunked`, folded lines, white space before a colon.

/// How the body of a message is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// So many bytes.
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
}

/// What a head says about its boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Bytes of the head, the empty line included.
    pub length: usize,
    /// How the body is delimited.
    pub framing: Framing,
    /// Whether it asks for another protocol: what follows waits for the answer.
    pub upgrade: bool,
}

/// Why a head or a chunk is not passed on, with what is known of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Lower case, without full stop.
    pub reason: String,
    /// The method when the first line could be read.
    pub method: Option<String>,
    /// The request target when the first line could be read.
    pub target: Option<String>,
}

/// The longest head in bytes that is read.
pub const MAX_HEAD: usize = 256 * 1024;

/// The most header fields a head may have.
pub const MAX_FIELDS: usize = 200;

/// The most fields a trailer may have.
const MAX_TRAILERS: u8 = 100;

impl Fault {
    /// A fault of which no request is known.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), method: None, target: None }
    }
}

/// Reads one head from the start of `bytes`; `None` when it is not there whole yet.
///
/// # Errors
///
/// A fault when the head is malformed or ambiguous, as early as the bytes show it.
pub fn read_head(bytes: &[u8]) -> Result<Option<Head>, Fault> {
    let Some(length) = head_end(bytes)? else {
        if bytes.len() > MAX_HEAD {
            return Err(Fault::new(format!("the request head is longer than {MAX_HEAD} bytes")));
        }
        return Ok(None);
    };
    let head = bytes.get(..length).unwrap_or(bytes);
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err(Fault::new("the request head ends early")),
        Err(error) => {
            return Err(Fault { reason: format!("the request head is malformed: {error}"), ..known(head) });
        }
    }
    let fault = |reason: String| Fault { reason, ..known(head) };
    let method = request.method.unwrap_or_default();
    if http::Method::from_bytes(method.as_bytes()).is_err() {
        return Err(fault("the method is malformed".into()));
    }
    if method == "CONNECT" {
        return Err(fault("a CONNECT after the first request of a connection".into()));
    }
    let target = request.path.unwrap_or_default();
    if target.parse::<http::Uri>().is_err() || target.contains('#') {
        return Err(fault("the request target is malformed".into()));
    }
    let framing = framing(head, request.version == Some(1)).map_err(fault)?;
    let upgrade = request.headers.iter().any(|field| field.name.eq_ignore_ascii_case("upgrade"));
    Ok(Some(Head { length, framing, upgrade }))
}

/// Where the head ends. Each line must end in CR LF: a bare LF ends a line for some readers only.
fn head_end(bytes: &[u8]) -> Result<Option<usize>, Fault> {
    let mut line_start = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte != b'\n' {
            continue;
        }
        let line = bytes.get(line_start..at).unwrap_or_default();
        let Some((b'\r', text)) = line.split_last() else {
            return Err(Fault {
                reason: "a line of the request head ends in a bare line feed".into(),
                ..known(bytes)
            });
        };
        if text.contains(&b'\r') {
            return Err(Fault {
                reason: "a bare carriage return in the request head".into(),
                ..known(bytes)
            });
        }
        if text.is_empty() {
            return Ok(Some(at + 1));
        }
        line_start = at + 1;
    }
    Ok(None)
}

fn framing(head: &[u8], http11: bool) -> Result<Framing, String> {
    let mut length = None;
    let mut chunked = false;
    for line in head.split(|byte| *byte == b'\n').skip(1) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = line.split_at(colon);
        let value = value.get(1..).unwrap_or_default();
        let value = trim_spaces(value.strip_suffix(b"\r").unwrap_or(value));
        if name.eq_ignore_ascii_case(b"content-length") {
            let digits = std::str::from_utf8(value).unwrap_or_default();
            if digits.is_empty() || digits.len() > 18 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err("the content-length is no plain number".into());
            }
            if length.replace(digits.parse::<u64>().map_err(|error| error.to_string())?).is_some() {
                return Err("more than one content-length".into());
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if !value.eq_ignore_ascii_case(b"chunked") {
                return Err("the transfer-encoding is not exactly `chunked`".into());
            }
            if std::mem::replace(&mut chunked, true) {
                return Err("more than one transfer-encoding".into());
            }
        }
    }
    match (chunked, length) {
        (true, Some(_)) => Err("both content-length and transfer-encoding".into()),
        (true, None) if !http11 => Err("transfer-encoding in an HTTP/1.0 request".into()),
        (true, None) => Ok(Framing::Chunked),
        (false, length) => Ok(Framing::Length(length.unwrap_or(0))),
    }
}

/// A character of a method or a field name (RFC 9110, section 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Only spaces: a tab around a framing value is what some readers trim and others do not.
fn trim_spaces(mut value: &[u8]) -> &[u8] {
    while let Some((b' ', rest)) = value.split_first() {
        value = rest;
    }
    while let Some((b' ', rest)) = value.split_last() {
        value = rest;
    }
    value
}

/// Method and target for the record, as far as the first line shows them.
fn known(head: &[u8]) -> Fault {
    let line = head.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let line = line.get(..line.len().min(2048)).unwrap_or(line);
    let mut words = std::str::from_utf8(line).unwrap_or_default().split(' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    if version.is_some_and(|version| version.starts_with("HTTP/")) {
        Fault { reason: String::new(), method: method.map(Into::into), target: target.map(Into::into) }
    } else {
        Fault::new("")
    }
}

/// Where a chunked body stands between two reads (RFC 9112, section 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// In the size line: value and number of digits so far.
    Size(u64, u8),
    /// In a chunk extension of so many bytes.
    Extension(u64, u16),
    /// The LF after the size line is due.
    SizeLf(u64),
    /// So many bytes of data are left.
    Data(u64),
    /// The CR after the data is due.
    DataCr,
    /// The LF after the data is due.
    DataLf,
    /// In the name of a trailer field, or before it: whether the line has begun, bytes of all lines, fields before it.
    Trailer(bool, u16, u8),
    /// In the value of a trailer field.
    TrailerValue(u16, u8),
    /// The LF of a trailer line is due; whether that line was empty.
    TrailerLf(bool, u16, u8),
}

impl Chunk {
    /// Before the first size line.
    pub const START: Self = Self::Size(0, 0);

    /// Walks over `bytes`. Gives the bytes consumed and the state, `None` when the body is over.
    pub fn walk(mut self, bytes: &[u8]) -> Result<(usize, Option<Self>), &'static str> {
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            self = match (self, *byte) {
                (Self::Data(left), _) => {
                    let step = left.min((bytes.len() - at) as u64);
                    // At most what is in memory, so it fits.
                    at += usize::try_from(step).unwrap_or(usize::MAX);
                    self = if step == left { Self::DataCr } else { Self::Data(left - step) };
                    continue;
                }
                (Self::Size(_, 0), b'\r' | b';') => return Err("a chunk without a size"),
                (Self::Size(size, _), b'\r') => Self::SizeLf(size),
                (Self::Size(size, _), b';') => Self::Extension(size, 0),
                (Self::Size(size, digits @ 0..15), digit) => match (digit as char).to_digit(16) {
                    Some(value) => Self::Size(size << 4 | u64::from(value), digits + 1),
                    None => return Err("a chunk size that is no hexadecimal number"),
                },
                (Self::Size(..), _) => return Err("a chunk size that is too long"),
                (Self::Extension(size, _), b'\r') => Self::SizeLf(size),
                (Self::Extension(..), b'\n') => return Err("a bare line feed in a chunk extension"),
                (Self::Extension(size, length @ 0..1024), _) => Self::Extension(size, length + 1),
                (Self::Extension(..), _) => return Err("a chunk extension that is too long"),
                (Self::SizeLf(0), b'\n') => Self::Trailer(false, 0, 0),
                (Self::SizeLf(size), b'\n') => Self::Data(size),
                (Self::DataCr, b'\r') => Self::DataLf,
                (Self::DataLf, b'\n') => Self::START,
                (Self::Trailer(false, all, fields), b'\r') => Self::TrailerLf(true, all, fields),
                (Self::Trailer(_, 16000.., _) | Self::TrailerValue(16000.., _), _) => {
                    return Err("trailers that are too long");
                }
                (Self::Trailer(_, _, MAX_TRAILERS..), _) => return Err("too many trailers"),
                (Self::Trailer(true, all, fields), b':') => Self::TrailerValue(all + 1, fields),
                (Self::Trailer(_, all, fields), byte) if is_token(byte) => {
                    Self::Trailer(true, all + 1, fields)
                }
                (Self::Trailer(..), _) => return Err("a trailer that is no field"),
                (Self::TrailerValue(all, fields), b'\r') => Self::TrailerLf(false, all, fields),
                (Self::TrailerValue(..), 0..=8 | 10..=31 | 127) => {
                    return Err("a control character in a trailer");
                }
                (Self::TrailerValue(all, fields), _) => Self::TrailerValue(all + 1, fields),
                (Self::TrailerLf(true, ..), b'\n') => return Ok((at + 1, None)),
                // Its CR LF counts too.
                (Self::TrailerLf(false, all, fields), b'\n') => Self::Trailer(false, all + 2, fields + 1),
                _ => return Err("a chunk that does not end in CR LF"),
            };
            at += 1;
        }
        Ok((at, Some(self)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head(text: &str) -> Result<Option<Head>, Fault> {
        read_head(text.as_bytes())
    }

    #[test]
    fn plain_heads() {
        let read = head("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\nbody").unwrap().unwrap();
        assert_eq!((read.framing, read.length), (Framing::Length(12), 49));
        assert_eq!(head("GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap().unwrap().framing, Framing::Length(0));
        let chunked =
            head("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: Chunked\r\n\r\n").unwrap().unwrap();
        assert_eq!(chunked.framing, Framing::Chunked);
        assert_eq!(head("GET / HTTP/1.1\r\nHost: a\r\n"), Ok(None));
        assert!(head("GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n").unwrap().unwrap().upgrade);
    }

    #[test]
    fn ambiguous_heads_are_refused() {
        for fields in [
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
            "Transfer-Encoding: chunked\t\r\n",
            "Transfer-Encoding:\tchunked\r\n",
            "Transfer-Encoding : chunked\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: xchunked\r\n",
            "Transfer-Encoding: \x0bchunked\r\n",
            "Transfer-Encoding:\r\n",
            "Content-Length: 5\r\nContent-Length: 6\r\n",
            "Content-Length: 5\r\nContent-Length: 5\r\n",
            "Content-Length: 5, 5\r\n",
            "Content-Length: +5\r\n",
            "Content-Length: -5\r\n",
            "Content-Length: 0x5\r\n",
            "Content-Length:\r\n",
            "Content-Length: 99999999999999999999\r\n",
            "X-A: b\r\n folded\r\n",
            "X-A: b\nContent-Length: 5\r\n",
            "X-A: b\rContent-Length: 5\r\n",
            "X A: b\r\n",
            ": b\r\n",
            "no colon\r\n",
            "X-A: \0\r\n",
        ] {
            let text = format!("POST /x HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
            let fault = head(&text).expect_err(fields);
            assert_eq!(fault.method.as_deref(), Some("POST"), "{fields}");
            assert_eq!(fault.target.as_deref(), Some("/x"), "{fields}");
        }
        for text in [
            "GET  / HTTP/1.1\r\n\r\n",
            "GET / HTTP/2.0\r\n\r\n",
            "GET /\r\n\r\n",
            "G@T / HTTP/1.1\r\n\r\n",
            "\0\0\0\n",
            "GET /\u{7f} HTTP/1.1\r\n\r\n",
            "CONNECT a:1 HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\n\n",
            "GET /#x HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ] {
            assert!(head(text).is_err(), "{text:?}");
        }
        let many = "X: y\r\n".repeat(MAX_FIELDS + 1);
        assert!(head(&format!("GET / HTTP/1.1\r\n{many}\r\n")).is_err());
        assert!(read_head(&vec![b'a'; MAX_HEAD + 1]).is_err());
    }

    #[test]
    fn chunks_end_where_they_should() {
        let body = b"4;x=y\r\nwiki\r\n0\r\nX: y\r\n\r\nGET /";
        assert_eq!(Chunk::START.walk(body), Ok((body.len() - 5, None)));
        let many = format!("0\r\n{}", "x: y\r\n".repeat(101));
        assert_eq!(Chunk::START.walk(many.as_bytes()), Err("too many trailers"));
        let long = format!("0\r\nx: {}", "y".repeat(20_000));
        assert_eq!(Chunk::START.walk(long.as_bytes()), Err("trailers that are too long"));
        for bad in [
            "\r\n",
            "g\r\n",
            "4\nwiki\r\n",
            "4\r\nwikix",
            "4\r\nwiki\n",
            "1;\n",
            "0\r\nX: y\n",
            "10000000000000000\r\n",
            " 4\r\n",
            "4 \r\n",
            "0\r\nno colon\r\n",
            "0\r\n: x\r\n",
            "0\r\nX : y\r\n",
            "0\r\n folded: x\r\n",
            "0\r\nX: \0\r\n",
        ] {
            assert!(Chunk::START.walk(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn chunks_are_the_same_however_they_are_cut(parts in proptest::collection::vec(1..40usize, 0..6), cuts in proptest::collection::vec(1..9usize, 1..200)) {
            let mut body = Vec::new();
            for part in parts {
                body.extend(format!("{part:x}\r\n{}\r\n", "a".repeat(part)).into_bytes());
            }
            body.extend(b"0\r\n\r\n");
            let (mut state, mut at) = (Some(Chunk::START), 0);
            for cut in cuts.iter().cycle() {
                let Some(chunk) = state else { break };
                let piece = &body[at..body.len().min(at + cut)];
                let (used, next) = chunk.walk(piece).unwrap();
                prop_assert!(used == piece.len() || next.is_none());
                (state, at) = (next, at + used);
            }
            prop_assert_eq!(at, body.len());
        }

        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read_head(&bytes);
            let _ = Chunk::START.walk(&bytes);
        }

        #[test]
        fn a_prefix_of_a_good_head_is_never_a_fault(cut in 0..60usize) {
            let text = "POST /a?b HTTP/1.1\r\nHost: a.test\r\nContent-Length: 12\r\n\r\n";
            if let Some(part) = text.get(..cut.min(text.len() - 1)) {
                prop_assert_eq!(head(part), Ok(None));
            }
        }
    }
}
