//! What is known of a request before its body is read: the methods it claims and the spellings of its URL.
//!
//! A server may act on another method than the one on the wire, and on another path than the one that was sent, so every
//! claim and every spelling that servers are known to act on is judged.

use http::{HeaderMap, HeaderName};

/// Headers by which frameworks let a request claim another method.
static OVERRIDE_HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("x-http-method-override"),
    HeaderName::from_static("x-http-method"),
    HeaderName::from_static("x-method-override"),
];

/// How often percent-encoding is undone: some servers decode again what a proxy in front of them decoded.
const DECODINGS: usize = 3;

/// One request as the rules see it.
#[derive(Clone, Debug)]
pub struct Request {
    method: String,
    /// In upper case, the wire method first, each once.
    claims: Vec<String>,
    /// `spellings` texts for each form; the first is the URL as a browser would report it.
    forms: Vec<String>,
    spellings: usize,
    preflight: bool,
}

impl Request {
    /// Describes a request. `origin` is `scheme://host` with the port unless it is the default one, `target` path and query
    /// as they were sent.
    pub fn new(method: &str, origin: &str, target: &str, headers: &HeaderMap, has_body: bool) -> Self {
        Self::build(method, &[origin], target, headers, has_body)
    }

    /// Describes a WebSocket handshake, whose URL is tried with ws and wss as well as with http and https.
    pub fn web_socket(origin: &str, target: &str, headers: &HeaderMap) -> Self {
        let spelled = origin.replacen("http", "ws", 1);
        Self::build("GET", &[&spelled, origin], target, headers, false)
    }

    fn build(method: &str, origins: &[&str], target: &str, headers: &HeaderMap, has_body: bool) -> Self {
        let target = target.split('#').next().unwrap_or_default();
        let mut forms: Vec<String> = origins.iter().map(|origin| [origin, target].concat()).collect();
        for canonical in canonical_targets(target) {
            forms.extend(origins.iter().map(|origin| [origin, canonical.as_str()].concat()));
        }
        let mut request = Self {
            method: method.into(),
            claims: Vec::new(),
            forms,
            spellings: origins.len(),
            preflight: false,
        };
        request.claim(method);
        if request.claims.first().is_some_and(|upper| upper != method) {
            request.claims.push(method.into());
        }
        let query = target.split_once('?').map_or("", |(_, query)| query);
        let mut overridden = false;
        for name in &OVERRIDE_HEADERS {
            for value in headers.get_all(name) {
                overridden = true;
                String::from_utf8_lossy(value.as_bytes()).split(',').for_each(|method| request.claim(method));
            }
        }
        for claimed in form_values(query, "_method") {
            overridden = true;
            request.claim(&claimed);
        }
        request.preflight = method == "OPTIONS"
            && !has_body
            && !overridden
            && headers.contains_key(http::header::ORIGIN)
            && headers.contains_key(http::header::ACCESS_CONTROL_REQUEST_METHOD);
        request
    }

    /// Adds a method that the request claims, e.g. by a `_method` field.
    pub fn claim(&mut self, method: &str) {
        let method = method.trim().to_ascii_uppercase();
        if !method.is_empty() && !self.claims.contains(&method) {
            self.claims.push(method);
        }
    }

    /// The method on the wire.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The wire method and every override, in upper case.
    pub fn claims(&self) -> &[String] {
        &self.claims
    }

    /// The URL as a browser would report it.
    pub fn url(&self) -> &str {
        self.forms.first().map_or("", String::as_str)
    }

    /// The forms of the URL, each in all its spellings: signatures fire on any, and must hold in one spelling of each form
    /// to clear.
    pub fn forms(&self) -> impl Iterator<Item = &[String]> {
        self.forms.chunks(self.spellings)
    }

    /// Whether it is a WebSocket handshake.
    pub fn is_web_socket(&self) -> bool {
        self.spellings > 1
    }

    /// Whether it is a CORS preflight: it asks whether a write may be sent, and carries none.
    pub fn is_preflight(&self) -> bool {
        self.preflight
    }
}

/// The targets that servers may make of this one, without the target itself.
fn canonical_targets(target: &str) -> Vec<String> {
    let mut found = Vec::new();
    let path = target.split('?').next().unwrap_or_default();
    let plain =
        !target.contains('%') && !path.contains(['\\', ';']) && !path.contains("//") && !path.contains("/.");
    if plain {
        return found;
    }
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let sent = query;
    let (mut path, mut query) = (path.to_owned(), query.map(str::to_owned));
    for _ in 0..=DECODINGS {
        let canonical = canonical_path(&path);
        // A server may read the path once more than the query.
        for query in [query.as_deref(), sent] {
            let canonical = match query {
                Some(query) => format!("{canonical}?{query}"),
                None => canonical.clone(),
            };
            if canonical != target && !found.contains(&canonical) {
                found.push(canonical);
            }
        }
        let decoded = (decode(&path), query.as_deref().map(decode));
        if decoded.0 == path && decoded.1 == query {
            break;
        }
        (path, query) = decoded;
    }
    found
}

/// Backslash as slash, parameters of segments dropped, slashes merged, dot segments resolved.
fn canonical_path(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut ends_open = false;
    for segment in path.split(['/', '\\']) {
        let segment = segment.split(';').next().unwrap_or_default();
        ends_open = matches!(segment, "" | "." | "..");
        match segment {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    let mut out = String::with_capacity(path.len() + 1);
    for segment in &kept {
        out.push('/');
        out.push_str(segment);
    }
    if ends_open || out.is_empty() {
        out.push('/');
    }
    out
}

/// Percent-encoding undone once; bytes that are no UTF-8 become U+FFFD.
pub(super) fn decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digit = |byte: Option<u8>| byte.and_then(|byte| (byte as char).to_digit(16));
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                // Two hexadecimal digits fit a byte.
                out.push(u8::try_from(high << 4 | low).unwrap_or(b'?'));
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Decoded values of a key in a query or an urlencoded form. Every occurrence counts, and `;` parts pairs for some.
pub(super) fn form_values<'a>(form: &'a str, key: &'a str) -> impl Iterator<Item = String> + 'a {
    let pairs = if form.contains(key) || form.contains('%') { form } else { "" };
    pairs.split(['&', ';']).filter_map(move |pair| {
        let (name, value) = pair.split_once('=')?;
        (decode(&name.replace('+', " ")).trim() == key).then(|| decode(&value.replace('+', " ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use proptest::prelude::*;

    fn forms(target: &str) -> Vec<String> {
        let request = Request::new("GET", "https://a.test", target, &HeaderMap::new(), false);
        request.forms().flatten().map(|form| form.replacen("https://a.test", "", 1)).collect()
    }

    #[test]
    fn a_plain_url_has_one_form() {
        for target in ["/", "/orders/1?x=1/../2", "/a.b/c", "/a?b=c;d=e//f"] {
            assert_eq!(forms(target), [target]);
        }
    }

    #[test]
    fn spellings_that_servers_fold() {
        for (target, want) in [
            ("/orders/_search/../_bulk", "/orders/_bulk"),
            ("/orders/_search/..%2F_bulk", "/orders/_bulk"),
            ("/orders/_search/%2e%2E/_bulk", "/orders/_bulk"),
            ("/orders/%252e%252e/_bulk", "/_bulk"),
            ("/orders/%25252e%25252e/_bulk", "/_bulk"),
            ("/orders\\_bulk", "/orders/_bulk"),
            ("/orders%5C_bulk", "/orders/_bulk"),
            ("//orders///_bulk", "/orders/_bulk"),
            ("/orders;a=b/_bulk", "/orders/_bulk"),
            ("/orders/..;/_bulk", "/_bulk"),
            ("/orders/..%3B/_bulk", "/_bulk"),
            ("/%6frders", "/orders"),
            ("/a?q=%6d", "/a?q=m"),
            ("/%61?q=%6d", "/a?q=%6d"),
            ("/../../x/.", "/x/"),
            ("/./", "/"),
        ] {
            assert!(forms(target).contains(&want.to_owned()), "{target}: {:?}", forms(target));
            assert_eq!(forms(target)[0], target, "the first form is what was sent");
        }
    }

    #[test]
    fn claims() {
        let mut headers = HeaderMap::new();
        headers.append("x-http-method-override", HeaderValue::from_static("delete, put"));
        headers.append("x-method-override", HeaderValue::from_static("Patch"));
        let request =
            Request::new("POST", "https://a.test", "/x?_method=get&%5fmethod=LINK", &headers, false);
        assert_eq!(request.claims(), ["POST", "DELETE", "PUT", "PATCH", "GET", "LINK"]);
        assert_eq!(
            Request::new("post", "https://a.test", "/", &HeaderMap::new(), false).claims(),
            ["POST", "post"]
        );
    }

    #[test]
    fn preflights() {
        let mut headers = HeaderMap::new();
        headers.insert("origin", HeaderValue::from_static("https://b.test"));
        headers.insert("access-control-request-method", HeaderValue::from_static("DELETE"));
        let is = |target, headers: &HeaderMap, body| {
            Request::new("OPTIONS", "https://a.test", target, headers, body).is_preflight()
        };
        assert!(is("/x", &headers, false));
        assert!(!is("/x", &headers, true));
        assert!(!is("/x?_method=DELETE", &headers, false));
        headers.insert("x-http-method", HeaderValue::from_static("DELETE"));
        assert!(!is("/x", &headers, false));
    }

    #[test]
    fn web_sockets_have_two_spellings() {
        let request = Request::web_socket("https://a.test:9", "/ws//x", &HeaderMap::new());
        let forms: Vec<_> = request.forms().collect();
        assert_eq!(request.url(), "wss://a.test:9/ws//x");
        assert_eq!(forms[1], ["wss://a.test:9/ws/x", "https://a.test:9/ws/x"]);
    }

    proptest! {
        #[test]
        fn canonical_paths_are_stable(path in "(/|\\\\|\\.|;|a|%2e|%2F|%25|_){0,14}") {
            let target = format!("/{path}");
            let last = canonical_targets(&target).pop().unwrap_or(target);
            prop_assert!(last.starts_with('/'));
            prop_assert!(!last.contains("//") && !last.contains("/../") && !last.contains('\\'), "{}", last);
        }

        #[test]
        fn nothing_panics(target in ".{0,40}") {
            let _ = forms(&target);
            let _ = form_values(&target, "_method").count();
        }
    }
}
