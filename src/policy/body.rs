//! A request body as text that patterns can be tried on.
//!
//! A pattern is tried on the whole text; once more on the text with JSON string escapes resolved, since `\u006d` and `m` are
//! one letter to the server; and on each field of a form as `name=value`. What cannot be read that way is
//! [`Body::Unjudgeable`], and a rule that could have applied then does.

use super::request::{decode, form_values};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

/// What is known of the body when the request is decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Body {
    /// There is none.
    Absent,
    /// There is one, and no rule needed it so far.
    #[default]
    Unread,
    /// It was read.
    Text(BodyText),
    /// It was held and cannot be read, and why.
    Unjudgeable(String),
}

/// The texts of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyText {
    wholes: Vec<String>,
    fields: Vec<(String, String)>,
}

impl Body {
    /// Reads a whole body by the content encoding, type and charset that `headers` state.
    pub fn read(headers: &HeaderMap, bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return Self::Absent;
        }
        let encoded = headers.get_all(CONTENT_ENCODING).iter().find(|value| {
            let value = value.as_bytes().trim_ascii();
            !value.is_empty() && !value.eq_ignore_ascii_case(b"identity")
        });
        if let Some(encoding) = encoded {
            return Self::Unjudgeable(format!("its content encoding is {}", lossy(encoding.as_bytes())));
        }
        let content_type = content_type(headers);
        let text = match text_of(&content_type, bytes) {
            Ok(text) => text,
            Err(reason) => return Self::Unjudgeable(reason),
        };
        let fields = match form_kind(&content_type) {
            None => Vec::new(),
            Some(FormKind::Urlencoded) => urlencoded(&text),
            Some(FormKind::Multipart) => match multipart(&content_type, &text) {
                Some(fields) => fields,
                None => return Self::Unjudgeable("it is no well-formed multipart body".into()),
            },
        };
        let unescaped = text.contains('\\').then(|| unescape(&text)).filter(|unescaped| *unescaped != text);
        Self::Text(BodyText { wholes: [text].into_iter().chain(unescaped).collect(), fields })
    }

    /// Whether it says so itself that its fields can claim another method.
    pub fn is_form(headers: &HeaderMap) -> bool {
        form_kind(&content_type(headers)).is_some()
    }
}

impl BodyText {
    /// Whether `test` holds for any text or field.
    pub fn any(&self, test: impl Fn(&str) -> bool) -> bool {
        self.wholes.iter().any(|text| test(text))
            || self.fields.iter().any(|(name, value)| test(&format!("{name}={value}")))
    }

    /// Whether `test` holds for the text however it is read.
    pub fn all(&self, test: impl Fn(&str) -> bool) -> bool {
        self.wholes.iter().all(|text| test(text))
    }

    /// The methods that `_method` fields claim.
    pub fn overrides(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(|(name, _)| name.trim() == "_method").map(|(_, value)| value.as_str())
    }
}

enum FormKind {
    Urlencoded,
    Multipart,
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// All that the headers say about the type; two types are read as if both held.
fn content_type(headers: &HeaderMap) -> String {
    headers.get_all(CONTENT_TYPE).iter().map(|value| lossy(value.as_bytes())).collect::<Vec<_>>().join(",")
}

fn form_kind(content_type: &str) -> Option<FormKind> {
    let lower = content_type.to_ascii_lowercase();
    if lower.contains("multipart/form-data") {
        Some(FormKind::Multipart)
    } else if lower.contains("x-www-form-urlencoded") {
        Some(FormKind::Urlencoded)
    } else {
        None
    }
}

/// The parameter `name` of a header value; separators within quotes are none (RFC 9110, section 5.6.4).
fn parameter<'a>(value: &'a str, name: &str) -> Option<&'a str> {
    let mut quoted = false;
    let mut escaped = false;
    let separates = |c: char| {
        let after_backslash = std::mem::take(&mut escaped);
        match c {
            '\\' if quoted && !after_backslash => escaped = true,
            '"' if !after_backslash => quoted = !quoted,
            _ => {}
        }
        matches!(c, ';' | ',') && !quoted
    };
    value.split(separates).find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"'))
    })
}

fn text_of(content_type: &str, bytes: &[u8]) -> Result<String, String> {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes
            .chunks(2)
            .map(|pair| unit([pair.first().copied().unwrap_or(0), pair.get(1).copied().unwrap_or(0)]));
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>()
    };
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => return Ok(lossy(rest)),
        [0xff, 0xfe, rest @ ..] => return Ok(utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => return Ok(utf16(rest, u16::from_be_bytes)),
        _ => {}
    }
    let charset = parameter(content_type, "charset");
    // Text of JSON and the like begins with ASCII, and some servers tell UTF-16 by that (RFC 4627, section 3).
    match bytes {
        [0, 1..=255, ..] if charset.is_none() => return Ok(utf16(bytes, u16::from_be_bytes)),
        [1..=255, 0, ..] if charset.is_none() => return Ok(utf16(bytes, u16::from_le_bytes)),
        _ => {}
    }
    match charset.unwrap_or("utf-8").to_ascii_lowercase().as_str() {
        "" | "utf-8" | "utf8" | "us-ascii" | "ascii" => Ok(lossy(bytes)),
        "iso-8859-1" | "latin1" | "windows-1252" | "iso-8859-15" => {
            Ok(bytes.iter().map(|byte| char::from(*byte)).collect())
        }
        "utf-16" | "utf-16be" => Ok(utf16(bytes, u16::from_be_bytes)),
        "utf-16le" => Ok(utf16(bytes, u16::from_le_bytes)),
        other => Err(format!("its charset is {other}")),
    }
}

fn urlencoded(text: &str) -> Vec<(String, String)> {
    let decoded = |part: &str| decode(&part.replace('+', " "));
    let pairs = text.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let mut fields: Vec<_> = pairs.map(|(name, value)| (decoded(name), decoded(value))).collect();
    // Some readers part pairs at a semicolon as well.
    fields.extend(form_values(text, "_method").map(|value| ("_method".to_owned(), value)));
    fields
}

/// The fields of a multipart body (RFC 7578); `None` when it is not well formed.
fn multipart(content_type: &str, text: &str) -> Option<Vec<(String, String)>> {
    let boundary = parameter(content_type, "boundary").filter(|boundary| !boundary.is_empty())?;
    let delimiter = format!("--{boundary}");
    let mut parts = text.split(delimiter.as_str());
    parts.next()?;
    let mut fields = Vec::new();
    let mut closed = false;
    for part in parts {
        if closed {
            return None;
        }
        if part.starts_with("--") {
            closed = true;
            continue;
        }
        let part =
            part.trim_start_matches([' ', '\t']).strip_prefix("\r\n").or_else(|| part.strip_prefix('\n'))?;
        let (head, value) = part.split_once("\r\n\r\n").or_else(|| part.split_once("\n\n"))?;
        let value = value.strip_suffix("\r\n").or_else(|| value.strip_suffix('\n'))?;
        let disposition = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case("content-disposition").then_some(value)
        })?;
        let name = parameter(disposition, "name").unwrap_or_default();
        fields.push((name.to_owned(), value.to_owned()));
    }
    closed.then_some(fields)
}

/// Escapes of JSON strings resolved wherever they stand; what is no escape stays.
fn unescape(text: &str) -> String {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    let mut pair = [0; 2];
    while let Some(char) = chars.next() {
        let mut ahead = chars.clone();
        let resolved = if char == '\\' { ahead.next() } else { None };
        let unit = match resolved {
            Some(plain @ ('"' | '\\' | '/')) => Some(plain as u16),
            Some('n') => Some(0x0a),
            Some('t') => Some(0x09),
            Some('r') => Some(0x0d),
            Some('b') => Some(0x08),
            Some('f') => Some(0x0c),
            Some('u') => {
                let digits = ahead.as_str().get(..4);
                let unit = digits
                    .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
                    .and_then(|digits| u16::from_str_radix(digits, 16).ok());
                if unit.is_some() {
                    ahead.by_ref().take(4).for_each(drop);
                }
                unit
            }
            _ => None,
        };
        match unit {
            Some(unit) => {
                units.push(unit);
                chars = ahead;
            }
            None => units.extend_from_slice(char.encode_utf16(&mut pair)),
        }
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};
    use proptest::prelude::*;

    fn read(pairs: &[(&str, &str)], body: &[u8]) -> Body {
        let headers = pairs
            .iter()
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap()))
            .collect();
        Body::read(&headers, body)
    }

    fn has(body: &Body, text: &str) -> bool {
        matches!(body, Body::Text(texts) if texts.any(|whole| whole.contains(text)))
    }

    #[test]
    fn escapes_hide_nothing() {
        let body = read(&[], br#"{"query":"\u006dutation {\n a }", "x": "\\u0041 \q \ud83d\ude00 \u00"}"#);
        assert!(has(&body, "mutation {\n a }"));
        assert!(has(&body, r"\u0041"), "an escaped backslash is not an escape");
        assert!(has(&body, "😀"));
        assert!(has(&body, r"\u006dutation"), "the text as sent counts too");
    }

    #[test]
    fn charsets() {
        assert!(has(&read(&[("content-type", "text/plain; charset=iso-8859-1")], b"caf\xe9"), "café"));
        assert!(has(&read(&[("content-type", "text/plain; charset=\"UTF-16LE\"")], b"a\0b\0"), "ab"));
        assert!(has(&read(&[], b"\xff\xfea\0b\0"), "ab"));
        assert!(has(&read(&[], b"\xef\xbb\xbfab"), "ab"));
        assert!(matches!(
            read(&[("content-type", "text/plain; charset=shift_jis")], b"ab"),
            Body::Unjudgeable(_)
        ));
        assert!(matches!(read(&[("content-encoding", "gzip")], b"ab"), Body::Unjudgeable(_)));
        assert!(has(&read(&[("content-encoding", "identity")], b"ab"), "ab"));
    }

    #[test]
    fn form_fields() {
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let body = read(&form, b"a=1&b+c=%64+e&_method=put&x;_method=delete");
        assert!(has(&body, "b c=d e"));
        let Body::Text(text) = body else { panic!() };
        assert!(["put", "delete"].iter().all(|method| text.overrides().any(|claimed| claimed == *method)));
    }

    #[test]
    fn multipart_fields() {
        let kind = [("content-type", "multipart/form-data; boundary=\"x\"")];
        let body = "--x\r\nContent-Disposition: form-data; name=\"_method\"\r\n\r\nDELETE\r\n--x\r\n\
                    content-disposition: form-data; name=f; filename=a\r\n\r\nbin\r\n--x--\r\n";
        let Body::Text(text) = read(&kind, body.as_bytes()) else { panic!() };
        assert_eq!(text.overrides().collect::<Vec<_>>(), ["DELETE"]);
        assert!(text.any(|text| text == "f=bin"));
        assert!(matches!(read(&kind, b"--x\r\nnonsense"), Body::Unjudgeable(_)));
        assert!(matches!(read(&kind, &body.as_bytes()[..40]), Body::Unjudgeable(_)), "cut short");
        assert!(matches!(read(&[("content-type", "multipart/form-data")], b"a"), Body::Unjudgeable(_)));
    }

    #[test]
    fn separators_in_quotes_are_none() {
        let value = r#"form-data; filename="x;name=q\"; name=z"; name="_method""#;
        assert_eq!(parameter(value, "name"), Some("_method"));
        assert_eq!(parameter("multipart/form-data; boundary=\"a;b\"", "boundary"), Some("a;b"));
    }

    #[test]
    fn utf_16_without_a_mark_is_read() {
        let bytes: Vec<u8> = "{\"query\":\"mutation\"}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let Body::Text(text) = Body::read(&HeaderMap::new(), &bytes) else { panic!("it is text") };
        assert!(text.any(|text| text.contains("mutation")));
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200), kind in 0..4usize) {
            let kinds = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=-", "text/plain; charset=utf-16"];
            let _ = read(&[("content-type", kinds[kind])], &bytes);
        }

        #[test]
        fn escaping_a_text_does_not_hide_it(text in "[a-c\"\\\\/\n é😀]{1,12}", every in any::<bool>()) {
            let escaped = if every {
                text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
            } else {
                serde_json::to_string(&text).unwrap()
            };
            prop_assert!(has(&read(&[], escaped.as_bytes()), &text));
        }
    }
}
