//! Requests out of a HAR, the archive that browsers' developer tools and Playwright save (HAR 1.2).
//!
//! The file comes from outside: what is missing in it is taken for unknown, never for harmless.

use super::described::{Described, DescribedError, Payload};
use crate::files::{self, FileError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::CONTENT_TYPE;
use serde::Deserialize;
use std::path::Path;

/// The largest HAR that is read, in bytes: it holds every response as well.
pub const HAR_CAP: u64 = 256 << 20;

/// Why a HAR is not read.
#[derive(Debug, thiserror::Error)]
pub enum HarError {
    /// It cannot be read, or has another shape.
    #[error(transparent)]
    File(#[from] FileError),
    /// A request in it could not have been sent.
    #[error("{file}: log.entries[{index}].request: {error}")]
    Entry {
        /// The file.
        file: String,
        /// Which entry.
        index: usize,
        /// What is wrong.
        error: DescribedError,
    },
}

/// What a HAR holds.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// Its requests, with the index of their entries.
    pub requests: Vec<(usize, Described)>,
    /// Entries that were never on the network, such as `data:` and `blob:` URLs.
    pub skipped: usize,
}

/// Reads the HAR at `path`.
///
/// # Errors
/// When it cannot be read, is larger than [`HAR_CAP`], or is no HAR.
pub fn read(path: &Path) -> Result<Entries, HarError> {
    parse(path, &files::read_capped(path, HAR_CAP)?)
}

/// Reads the bytes of the HAR at `path`.
///
/// # Errors
/// When they are no HAR.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Entries, HarError> {
    // Some tools begin it with a byte order mark.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let har: Har = files::parse_json(path, bytes)?;
    let mut entries = Entries::default();
    for (index, entry) in har.log.entries.into_iter().enumerate() {
        match entry.request.describe() {
            Ok(request) => entries.requests.push((index, request)),
            Err(DescribedError::Scheme(_)) => entries.skipped += 1,
            Err(error) => {
                return Err(HarError::Entry { file: path.display().to_string(), index, error });
            }
        }
    }
    Ok(entries)
}

#[derive(Deserialize)]
struct Har {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    request: Sent,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sent {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Pair>,
    #[serde(default)]
    post_data: Option<PostData>,
    /// -1 when it is not known.
    #[serde(default)]
    body_size: Option<f64>,
}

#[derive(Deserialize)]
struct Pair {
    name: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PostData {
    #[serde(default)]
    mime_type: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    params: Option<Vec<Param>>,
    /// Not in the standard for requests; `base64` where a tool writes it.
    #[serde(default, alias = "_encoding")]
    encoding: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Param {
    #[serde(default)]
    name: String,
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    file_name: Option<String>,
}

impl Sent {
    fn describe(self) -> Result<Described, DescribedError> {
        let mut request = Described::new(&self.method, &self.url)?;
        // Pseudo-headers say again what method and URL say.
        for Pair { name, value } in self.headers.iter().filter(|header| !header.name.starts_with(':')) {
            request.header(name, value)?;
        }
        let size = self.body_size.unwrap_or(-1.0);
        let Some(data) = self.post_data else {
            if size > 0.0 {
                request.body(Payload::Unknown("the HAR does not hold it".into()));
            }
            return Ok(request);
        };
        if !request.headers.contains_key(CONTENT_TYPE)
            && let Some(kind) = data.mime_type.as_deref().filter(|kind| !kind.is_empty())
        {
            request.header("content-type", kind)?;
        }
        let kind = request.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).map(str::to_owned);
        request.body(data.payload(kind.as_deref().unwrap_or_default(), size));
        Ok(request)
    }
}

impl PostData {
    fn payload(self, content_type: &str, size: f64) -> Payload {
        let unknown = |why: &str| Payload::Unknown(why.to_owned());
        let params = self.params.unwrap_or_default();
        let text = self.text.unwrap_or_default();
        if text.is_empty() {
            return match params.is_empty() {
                true if size == 0.0 => Payload::Absent,
                true => unknown("the HAR does not hold it"),
                false => from_params(&params, content_type),
            };
        }
        match self.encoding.as_deref().map(str::to_ascii_lowercase).as_deref() {
            None | Some("" | "utf-8" | "utf8") => Payload::Bytes(text.into_bytes()),
            Some("base64") => match STANDARD.decode(text.trim()) {
                Ok(bytes) => Payload::Bytes(bytes),
                Err(_) => unknown("the HAR calls it base64, and it is not"),
            },
            Some(_) => unknown("the HAR holds it in an encoding that is not known"),
        }
    }
}

/// The body that parameters stand for: tools that part a form leave its text out.
fn from_params(params: &[Param], content_type: &str) -> Payload {
    let unknown = |why: &str| Payload::Unknown(why.to_owned());
    let kind = content_type.to_ascii_lowercase();
    if params.iter().any(|param| param.value.is_none()) {
        return unknown("the HAR does not hold the value of one of its fields");
    }
    let fields = params.iter().map(|param| (param, param.value.as_deref().unwrap_or_default()));
    if kind.starts_with("application/x-www-form-urlencoded") {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        fields.for_each(|(param, value)| {
            form.append_pair(&param.name, value);
        });
        return Payload::Bytes(form.finish().into_bytes());
    }
    let boundary =
        content_type.split_once("boundary=").map(|(_, rest)| rest.split(';').next().unwrap_or(rest));
    let Some(boundary) = boundary.map(|text| text.trim().trim_matches('"')).filter(|text| !text.is_empty())
    else {
        return unknown("the HAR holds its fields without what parted them");
    };
    let mut body = String::new();
    for (param, value) in fields {
        let quoted = |text: &str| text.replace('"', "%22").replace(['\r', '\n'], " ");
        body.push_str(&format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"",
            quoted(&param.name)
        ));
        if let Some(file) = &param.file_name {
            body.push_str(&format!("; filename=\"{}\"", quoted(file)));
        }
        body.push_str(&format!("\r\n\r\n{value}\r\n"));
    }
    body.push_str(&format!("--{boundary}--\r\n"));
    Payload::Bytes(body.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Body, BodyText};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn har(requests: &Value) -> Result<Entries, HarError> {
        let entries: Vec<Value> =
            requests.as_array().unwrap().iter().map(|request| json!({ "request": request })).collect();
        let text = json!({ "log": { "version": "1.2", "entries": entries } }).to_string();
        parse(Path::new("a.har"), text.as_bytes())
    }

    fn payload(mut request: Value) -> (Payload, Described) {
        request["method"] = "POST".into();
        request["url"] = "https://a.test/x".into();
        let (_, described) = har(&json!([request])).unwrap().requests.remove(0);
        (described.payload.clone(), described)
    }

    fn bytes(text: &str) -> Payload {
        Payload::Bytes(text.as_bytes().to_vec())
    }

    fn text(described: &Described) -> BodyText {
        let Payload::Bytes(bytes) = &described.payload else { panic!("{:?}", described.payload) };
        match Body::read(&described.headers, bytes, 1 << 20) {
            Body::Text(text) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn bodies_in_every_spelling() {
        let post = |data: Value| payload(json!({ "postData": data, "bodySize": -1 })).0;
        assert_eq!(post(json!({ "mimeType": "application/json", "text": "{}" })), bytes("{}"));
        assert_eq!(post(json!({ "mimeType": "", "text": "aGk=", "encoding": "base64" })), bytes("hi"));
        assert_eq!(post(json!({ "text": "aGk=", "_encoding": "BASE64" })), bytes("hi"));
        assert_eq!(payload(json!({ "bodySize": 0 })).0, Payload::Absent);
        assert_eq!(payload(json!({ "bodySize": 0, "postData": { "text": "" } })).0, Payload::Absent);
        assert_eq!(payload(json!({})).0, Payload::Absent);
        for data in [
            json!({ "mimeType": "application/json" }),
            json!({ "text": "?", "encoding": "base64" }),
            json!({ "text": "x", "encoding": "rot13" }),
            json!({ "mimeType": "multipart/form-data", "params": [{ "name": "a", "value": "b" }] }),
            json!({ "mimeType": "multipart/form-data; boundary=x", "params": [{ "name": "a", "fileName": "f" }] }),
        ] {
            assert!(matches!(post(data.clone()), Payload::Unknown(_)), "{data}");
        }
        assert!(matches!(payload(json!({ "bodySize": 12 })).0, Payload::Unknown(_)));
    }

    #[test]
    fn parted_forms_are_put_together_again() {
        let params = json!([{ "name": "_method", "value": "DELETE" }, { "name": "a b", "value": "c&d" }]);
        for kind in ["application/x-www-form-urlencoded", "multipart/form-data; boundary=\"----x\""] {
            let (_, described) = payload(json!({ "postData": { "mimeType": kind, "params": params } }));
            let text = text(&described);
            assert!(text.overrides().any(|method| method == "DELETE"), "{kind}");
            assert!(text.any(|field| field == "a b=c&d"), "{kind}");
        }
    }

    #[test]
    fn what_was_never_on_the_network_is_skipped() {
        let entries = har(&json!([
            { "method": "GET", "url": "data:text/plain,x" },
            { "method": "GET", "url": "https://a.test/", "headers": [{ "name": ":method", "value": "GET" }, { "name": "X", "value": "y" }] },
            { "method": "GET", "url": "wss://a.test/ws" },
        ]))
        .unwrap();
        assert_eq!((entries.skipped, entries.requests.len()), (1, 2));
        assert_eq!(entries.requests[0].0, 1);
        assert_eq!(entries.requests[0].1.headers["x"], "y");
    }

    #[test]
    fn faults_name_the_entry() {
        let fault = |value: Value| har(&value).unwrap_err().to_string();
        assert_eq!(
            fault(json!([{ "method": "G T", "url": "https://a.test/" }])),
            "a.har: log.entries[0].request: `G T` is no method"
        );
        assert!(
            fault(json!([{ "method": 1, "url": "" }])).starts_with("a.har: log.entries[0].request.method: ")
        );
        assert!(parse(Path::new("a.har"), b"[]").unwrap_err().to_string().starts_with("a.har: "));
        assert!(parse(Path::new("a.har"), b"\xef\xbb\xbf{\"log\":{\"entries\":[]}}").is_ok());
    }

    proptest! {
        #[test]
        fn no_bytes_panic(text in r#"(\{"log":\{"entries":\[)?\{"request":\{"method":"POST","url":"https://a/","postData":\{"(text|mimeType|encoding)":"[a-z=/;]{0,20}"\}\}\}[\]}"a-z0-9,:{]{0,10}"#, bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = parse(Path::new("f"), text.as_bytes());
            let _ = parse(Path::new("f"), &bytes);
        }
    }
}
