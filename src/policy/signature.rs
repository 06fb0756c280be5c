//! One entry of a signature list: which requests it names.

use crate::model::Fault;
use crate::pattern::Pattern;
use serde_json::{Map, Value, json};

const HTTP_METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// The method a signature names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureMethod {
    /// `*`: any method, and the client messages of a WebSocket.
    Any,
    /// One HTTP method, in upper case.
    Http(&'static str),
    /// `WS`: client messages of a WebSocket alone.
    WebSocket,
}

impl SignatureMethod {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "*" => Some(Self::Any),
            "WS" => Some(Self::WebSocket),
            _ => HTTP_METHODS.into_iter().find(|method| *method == text).map(Self::Http),
        }
    }

    /// The spelling in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Any => "*",
            Self::Http(method) => method,
            Self::WebSocket => "WS",
        }
    }
}

/// A kind of GraphQL operation that a signature asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphqlKind {
    /// `query`.
    Query,
    /// `mutation`.
    Mutation,
    /// `subscription`.
    Subscription,
    /// No operation text to look at, as with persisted hashes.
    Unknown,
}

impl GraphqlKind {
    fn parse(text: &str) -> Option<Self> {
        [Self::Query, Self::Mutation, Self::Subscription, Self::Unknown]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }

    /// The spelling in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Mutation => "mutation",
            Self::Subscription => "subscription",
            Self::Unknown => "unknown",
        }
    }
}

/// Names requests by method, URL and, where given, body, headers and GraphQL operations; all that are given must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteSignature {
    /// The method.
    pub method: SignatureMethod,
    /// Tried on the URL, unanchored.
    pub url: Pattern,
    /// Tried on the whole body; never matches a request without one.
    pub body: Option<Pattern>,
    /// Lower-case header names and the patterns that one of their values must match.
    pub headers: Vec<(String, Pattern)>,
    /// To write, any operation of the request is of one of these kinds; to clear, all are. Empty when not asked for.
    pub graphql: Vec<GraphqlKind>,
    /// What the entry is for, in the host's words.
    pub note: Option<String>,
}

impl WriteSignature {
    /// Whether the body must be seen to tell.
    pub fn needs_body(&self) -> bool {
        self.body.is_some() || !self.graphql.is_empty()
    }

    /// All that decides, none of the notes: what the digest of a list of signatures is made over.
    pub(super) fn canonical(&self) -> Value {
        json!({
            "method": self.method.as_str(),
            "url": self.url.source(),
            "body": self.body.as_ref().map(Pattern::source),
            "headers": self.headers.iter().map(|(name, value)| json!([name, value.source()])).collect::<Vec<_>>(),
            "graphql": self.graphql.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(),
        })
    }

    /// Reads the entry at `path`; every fault is added to `faults`, and one fault is enough for `None`.
    pub(super) fn parse(value: &Value, path: &str, faults: &mut Vec<Fault>) -> Option<Self> {
        let Some(object) = value.as_object() else {
            faults.push(Fault::new(path, "must be a mapping with method and url"));
            return None;
        };
        for key in object.keys() {
            if !matches!(key.as_str(), "method" | "url" | "body" | "note" | "headers" | "graphql") {
                faults.push(Fault::new(
                    format!("{path}.{key}"),
                    "unknown key; known are method, url, body, headers, graphql and note",
                ));
            }
        }
        let before = faults.len();
        let method = method(object, path, faults);
        let url = required_pattern(object, "url", path, faults);
        let body = match object.get("body") {
            None | Some(Value::Null) => None,
            Some(_) => required_pattern(object, "body", path, faults),
        };
        let headers = headers(object, path, faults);
        let graphql = graphql(object, path, faults);
        let note = match object.get("note") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                faults.push(Fault::new(format!("{path}.note"), "must be text"));
                None
            }
        };
        if faults.len() > before {
            return None;
        }
        Some(Self { method: method?, url: url?, body, headers, graphql, note })
    }
}

fn method(object: &Map<String, Value>, path: &str, faults: &mut Vec<Fault>) -> Option<SignatureMethod> {
    let method = object.get("method").and_then(Value::as_str).and_then(SignatureMethod::parse);
    if method.is_none() {
        faults.push(Fault::new(
            format!("{path}.method"),
            "must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, WS or \"*\", in upper case",
        ));
    }
    method
}

fn required_pattern(
    object: &Map<String, Value>,
    key: &str,
    path: &str,
    faults: &mut Vec<Fault>,
) -> Option<Pattern> {
    let path = format!("{path}.{key}");
    match object.get(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => pattern(text, &path, faults),
        _ => {
            faults.push(Fault::new(path, "must be a regular expression, as text that is not blank"));
            None
        }
    }
}

/// Compiles the pattern at `path`.
pub(super) fn pattern(text: &str, path: &str, faults: &mut Vec<Fault>) -> Option<Pattern> {
    match Pattern::new(text) {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            faults.push(Fault::new(path, format!("does not compile: {error}")));
            None
        }
    }
}

fn headers(object: &Map<String, Value>, path: &str, faults: &mut Vec<Fault>) -> Vec<(String, Pattern)> {
    match object.get("headers") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Object(map)) => map
            .iter()
            .filter_map(|(name, value)| {
                let path = format!("{path}.headers.{name}");
                match value {
                    Value::String(text) => {
                        pattern(text, &path, faults).map(|pattern| (name.to_ascii_lowercase(), pattern))
                    }
                    _ => {
                        faults.push(Fault::new(path, "must be a regular expression, as text"));
                        None
                    }
                }
            })
            .collect(),
        Some(_) => {
            faults.push(Fault::new(
                format!("{path}.headers"),
                "must be a mapping of header name to regular expression",
            ));
            Vec::new()
        }
    }
}

fn graphql(object: &Map<String, Value>, path: &str, faults: &mut Vec<Fault>) -> Vec<GraphqlKind> {
    let kinds = match object.get("graphql") {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(items)) if !items.is_empty() => {
            items.iter().map(|item| item.as_str().and_then(GraphqlKind::parse)).collect()
        }
        Some(_) => None,
    };
    kinds.unwrap_or_else(|| {
        faults.push(Fault::new(
            format!("{path}.graphql"),
            "must be a list of query, mutation, subscription or unknown, with one at least",
        ));
        Vec::new()
    })
}
