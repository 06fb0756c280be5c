//! A request body as text that patterns can be tried on.
//!
//! A pattern is tried on the whole text after its content codings, in every charset that a server may read it by; once more
//! with JSON string escapes resolved, since `\u006d` and `m` are one letter to the server; and on each field of a form as
//! `name=value`. What cannot be read that way is [`Body::Unjudgeable`], and a rule that could have applied then does.

use super::form::{FormKind, multipart, parameters, urlencoded};
use super::{charset, encoding};
use http::HeaderMap;
use http::header::CONTENT_TYPE;

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
    /// The text in each charset that it may be read by.
    readings: Vec<String>,
    /// The readings with JSON string escapes resolved, where that changes them.
    unescaped: Vec<String>,
    fields: Vec<(String, String)>,
    content_type: String,
}

impl Body {
    /// Reads a whole body by the content codings, type and charset that `headers` state. Decoded it may have `limit` bytes.
    pub fn read(headers: &HeaderMap, bytes: &[u8], limit: usize) -> Self {
        if bytes.is_empty() {
            return Self::Absent;
        }
        match Self::text(content_type(headers), headers, bytes, limit) {
            Ok(text) => Self::Text(text),
            Err(reason) => Self::Unjudgeable(reason),
        }
    }

    /// Reads a WebSocket message; one of text must be UTF-8 (RFC 6455, section 8.1).
    pub(super) fn message(bytes: &[u8], is_text: bool) -> Result<BodyText, String> {
        let readings = match std::str::from_utf8(bytes) {
            Ok(text) if is_text => vec![text.to_owned()],
            Err(_) if is_text => return Err("it is not UTF-8".into()),
            _ => charset::readings(std::iter::empty(), bytes)?,
        };
        Ok(BodyText::new(readings, Vec::new(), String::new()))
    }

    fn text(
        content_type: String,
        headers: &HeaderMap,
        bytes: &[u8],
        limit: usize,
    ) -> Result<BodyText, String> {
        let bytes = encoding::decode(headers, bytes, limit)?;
        let readings = charset::readings(parameters(&content_type, "charset"), &bytes)?;
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut well_formed = false;
        for reading in &readings {
            let read = match FormKind::of(&content_type) {
                None => Some(Vec::new()),
                Some(FormKind::Urlencoded) => Some(urlencoded(reading)),
                Some(FormKind::Multipart) => multipart(&content_type, reading),
            };
            well_formed |= read.is_some();
            for field in read.into_iter().flatten() {
                // Readings differ in few fields, if in any.
                if readings.len() == 1 || !fields.contains(&field) {
                    fields.push(field);
                }
            }
        }
        if !well_formed {
            return Err("it is no well-formed multipart body".into());
        }
        Ok(BodyText::new(readings, fields, content_type))
    }

    /// Whether it says so itself that its fields can claim another method.
    pub fn is_form(headers: &HeaderMap) -> bool {
        FormKind::of(&content_type(headers)).is_some()
    }
}

impl BodyText {
    fn new(readings: Vec<String>, fields: Vec<(String, String)>, content_type: String) -> Self {
        let unescaped = readings
            .iter()
            .filter(|text| text.contains('\\'))
            .map(|text| (text, unescape(text)))
            .filter(|(text, unescaped)| *text != unescaped)
            .map(|(_, unescaped)| unescaped)
            .collect();
        Self { readings, unescaped, fields, content_type }
    }

    /// Whether `test` holds for any text or field.
    pub fn any(&self, test: impl Fn(&str) -> bool) -> bool {
        self.readings.iter().chain(&self.unescaped).any(|text| test(text))
            || self.fields.iter().any(|(name, value)| test(&format!("{name}={value}")))
    }

    /// Whether `test` holds for the text however it is read.
    pub fn all(&self, test: impl Fn(&str) -> bool) -> bool {
        self.readings.iter().chain(&self.unescaped).all(|text| test(text))
    }

    /// The text in each charset that it may be read by.
    pub(super) fn readings(&self) -> impl Iterator<Item = &str> {
        self.readings.iter().map(String::as_str)
    }

    /// The fields of a form.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether it says that it is a form.
    pub(super) fn is_form(&self) -> bool {
        FormKind::of(&self.content_type).is_some()
    }

    /// Whether it says that it is a GraphQL document by itself.
    pub(super) fn is_graphql(&self) -> bool {
        self.content_type.to_ascii_lowercase().contains("application/graphql")
            && !self.content_type.to_ascii_lowercase().contains("json")
    }

    /// The methods that `_method` fields claim.
    pub fn overrides(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(|(name, _)| name.trim() == "_method").map(|(_, value)| value.as_str())
    }
}

/// All that the headers say about the type; two types are read as if both held.
fn content_type(headers: &HeaderMap) -> String {
    let values = headers.get_all(CONTENT_TYPE).iter();
    values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect::<Vec<_>>().join(",")
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
        Body::read(&headers, body, 1 << 20)
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
    fn codings_and_charsets() {
        let gzip = super::encoding::tests::encode("gzip", "{\"q\":\"müt\"}".as_bytes());
        assert!(has(&read(&[("content-encoding", "gzip")], &gzip), "müt"));
        let latin = [("content-type", "text/plain; charset=\"iso-8859-1\"")];
        assert!(has(&read(&latin, b"caf\xe9"), "café"));
        assert!(matches!(
            read(&[("content-type", "text/plain; charset=utf-7")], b"ab"),
            Body::Unjudgeable(_)
        ));
        assert!(matches!(read(&[("content-encoding", "gzip")], b"ab"), Body::Unjudgeable(_)));
        assert!(has(&read(&[("content-encoding", "identity")], b"ab"), "ab"));
        assert_eq!(read(&[("content-encoding", "gzip")], b""), Body::Absent);
    }

    #[test]
    fn fields_are_texts_too() {
        let form = [("content-type", "application/x-www-form-urlencoded; charset=utf-16le")];
        let body = read(&form, b"b+c=%64+e&_method=put");
        assert!(has(&body, "b c=d e"), "servers that take no notice of the charset");
        let Body::Text(text) = body else { panic!() };
        assert_eq!(text.overrides().collect::<Vec<_>>(), ["put"]);
        let multipart = [("content-type", "multipart/form-data; boundary=x")];
        assert!(matches!(read(&multipart, b"--x\r\nnonsense"), Body::Unjudgeable(_)));
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
