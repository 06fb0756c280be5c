//! What one GraphQL request asks for: texts, names that choose among their operations, and references to stored texts.

use super::json::Json;
use crate::model::Digest;
use crate::policy::request::decode;

/// The parts of a request that decide, every occurrence of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    texts: Vec<String>,
    names: Vec<String>,
    /// SHA-256 hashes, in hexadecimal, of texts that the server may have stored (automatic persisted queries).
    hashes: Vec<String>,
    /// Another reference to a stored text.
    stored: bool,
    /// Whether there is any parameter at all.
    parameters: bool,
}

impl Asked {
    /// The parameters of a query string. Every occurrence counts, and `;` parts pairs for some servers.
    pub(super) fn of_query(query: &str) -> Self {
        let mut asked = Self::default();
        let decoded = |part: &str| decode(&part.replace('+', " "));
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            asked.parameters = true;
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            asked.add_parameter(&decoded(name), &decoded(value));
            if value.contains(';') {
                for pair in pair.split(';').skip(1) {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    asked.add_parameter(&decoded(name), &decoded(value));
                }
            }
        }
        asked
    }

    /// A JSON object; an error says why it is no request.
    pub(super) fn of_json(json: &Json) -> Result<Self, &'static str> {
        let mut asked = Self::default();
        let Json::Map(pairs) = json else { return Err("it is JSON, but no GraphQL request") };
        for (key, value) in pairs {
            match (*key, value) {
                (_, Json::Null) => {}
                ("query", Json::Text(text)) => asked.add_text(text),
                ("query", _) => return Err("its query is no text"),
                ("operationName", Json::Text(name)) => asked.add_name(name),
                ("operationName", _) => return Err("its operation name is no text"),
                ("extensions", extensions) => asked.add_extensions(extensions),
                ("documentId" | "doc_id" | "queryId", _) => asked.stored = true,
                _ => {}
            }
        }
        Ok(asked)
    }

    /// One field of a form or query string.
    pub(super) fn add_parameter(&mut self, name: &str, value: &str) {
        let is = |known: &str| name.trim().eq_ignore_ascii_case(known);
        if is("query") {
            self.add_text(value);
        } else if is("operationName") {
            self.add_name(value);
        } else if is("extensions") && !value.trim().is_empty() {
            match super::json::parse(value) {
                Ok(extensions) => self.add_extensions(&extensions),
                Err(_) => self.stored = true,
            }
        } else if is("documentId") || is("doc_id") || is("queryId") {
            self.stored = true;
        }
    }

    fn add_text(&mut self, text: &str) {
        if !text.trim().is_empty() && !self.texts.iter().any(|known| known == text) {
            self.texts.push(text.to_owned());
        }
    }

    fn add_name(&mut self, name: &str) {
        if !name.is_empty() && !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }

    fn add_extensions(&mut self, extensions: &Json) {
        self.stored |= !matches!(extensions, Json::Map(_) | Json::Null);
        for persisted in extensions.values_of("persistedQuery") {
            let before = self.hashes.len();
            self.hashes.extend(persisted.texts_of("sha256Hash").map(str::to_owned));
            let whole = persisted.values_of("sha256Hash").count() == self.hashes.len() - before;
            self.stored |= !whole || self.hashes.len() == before;
        }
    }

    /// The texts, each once.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(String::as_str)
    }

    /// Whether there is a text.
    pub(super) fn is_some_text(&self) -> bool {
        !self.texts.is_empty()
    }

    /// Whether a stored text is referred to.
    pub(super) fn is_stored(&self) -> bool {
        self.stored || !self.hashes.is_empty()
    }

    /// Whether a query string has any parameter.
    pub(super) fn is_some_parameter(&self) -> bool {
        self.parameters
    }

    /// Whether every reference to a stored text is the hash of the one text that was sent along.
    pub(super) fn hash_fits(&self, texts: &[&str]) -> bool {
        let fits = |hash: &String| {
            texts.iter().all(|text| Digest::of(text.as_bytes()).to_string().eq_ignore_ascii_case(hash))
        };
        !self.stored && self.hashes.iter().all(fits)
    }

    /// The name that chooses an operation, when there is one.
    pub(super) fn only_name(&self) -> Option<&str> {
        self.names.first().filter(|_| self.names_agree()).map(String::as_str)
    }

    /// Whether no two names are given.
    pub(super) fn names_agree(&self) -> bool {
        self.names.len() < 2
    }
}

/// What a server that undoes percent-encoding again, up to twice, makes of a text that was decoded.
pub(super) fn decoded_again(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for _ in 0..2 {
        let decoded = decode(found.last().map_or(text, String::as_str));
        if decoded == *found.last().map_or(text, String::as_str) {
            break;
        }
        found.push(decoded);
    }
    found
}
