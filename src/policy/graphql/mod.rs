//! The GraphQL operations of a request, wherever servers look for them: in the query of the URL, in a JSON object or a batch of
//! them, in form fields, in the `operations` field of an upload, in a body that is the document itself.
//!
//! Documents are parsed, so that comments, strings and several operations in one document mislead nobody. What does not
//! parse is in doubt, and a signature that asks for operations then applies.

mod document;
mod json;
mod request;

use super::body::{Body, BodyText};
use super::signature::GraphqlKind;
use json::Json;
use request::Asked;

/// The kinds of operations that a request asks for, all that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Operations {
    kinds: Vec<GraphqlKind>,
    doubt: Option<String>,
}

impl Operations {
    /// Those of a request with the target `target` (path and query as sent) and a body that was read, or none.
    pub(super) fn of_request(target: &str, body: &Body) -> Self {
        let url = Asked::of_query(target.split_once('?').map_or("", |(_, query)| query));
        let mut found = Self::default();
        match body {
            Body::Text(text) => found.add_body(text, &url),
            Body::Absent | Body::Unread | Body::Unjudgeable(_) => {
                // A page on the endpoint is no operation; a parameter that is no text may name a stored one.
                if url.is_some_parameter() {
                    found.add(&url, &Asked::default());
                }
            }
        }
        found
    }

    /// Those of a client message of a WebSocket: the payload of `subscribe` (graphql-transport-ws) or `start` (graphql-ws), or a
    /// request by itself. Messages that open, keep and close a connection ask for none.
    pub(super) fn of_message(text: &BodyText) -> Self {
        let mut found = Self::default();
        let mut read = false;
        for reading in text.readings() {
            let Ok(json) = json::parse(reading) else { continue };
            read = true;
            let kinds: Vec<&str> = json.texts_of("type").collect();
            let only = |known: &[&str]| !kinds.is_empty() && kinds.iter().all(|kind| known.contains(kind));
            if only(&["connection_init", "ping", "pong", "complete", "stop", "connection_terminate"]) {
                continue;
            }
            let payloads: Vec<&Json> = json.values_of("payload").collect();
            if payloads.is_empty() {
                found.add_json(&json, &Asked::default());
            }
            for payload in payloads {
                found.add_json(payload, &Asked::default());
            }
        }
        if !read {
            found.doubt("the message is no JSON");
        }
        found
    }

    /// Whether an operation is of one of `kinds`; an error says why nobody can tell.
    pub(super) fn any(&self, kinds: &[GraphqlKind]) -> Result<bool, &str> {
        match &self.doubt {
            _ if self.kinds.iter().any(|kind| kinds.contains(kind)) => Ok(true),
            Some(doubt) => Err(doubt),
            None => Ok(false),
        }
    }

    /// Whether there are operations, and each is surely of one of `kinds`.
    pub(super) fn all(&self, kinds: &[GraphqlKind]) -> bool {
        self.doubt.is_none() && !self.kinds.is_empty() && self.kinds.iter().all(|kind| kinds.contains(kind))
    }

    fn add_body(&mut self, text: &BodyText, url: &Asked) {
        let mut understood = false;
        for json in text.readings().filter_map(|reading| json::parse(reading).ok()) {
            if matches!(json, Json::Map(_) | Json::List(_)) {
                understood = true;
                self.add_json(&json, url);
            }
        }
        if text.is_form() {
            understood = true;
            let mut asked = Asked::default();
            for (name, value) in text.fields() {
                if !name.eq_ignore_ascii_case("operations") {
                    asked.add_parameter(name, value);
                    continue;
                }
                match json::parse(value) {
                    Ok(json) => self.add_json(&json, url),
                    Err(why) => self.doubt(&format!("the field `operations` is no JSON: {why}")),
                }
            }
            if asked.is_some_text() || self.is_empty() {
                self.add(&asked, url);
            }
        }
        if text.is_graphql() || !understood {
            let documents = text.readings().map(document::operations);
            let readable: Vec<_> = documents.filter_map(Result::ok).collect();
            if readable.is_empty() {
                self.doubt("it is neither JSON, nor a form, nor a GraphQL document");
            }
            for document in readable {
                self.add_document(&document, url.only_name());
            }
        }
        if url.is_stored() {
            self.push(GraphqlKind::Unknown);
        }
        // Some servers prefer the text in the URL, and choose by a name in the body.
        self.add_texts(url, None);
    }

    fn add_json(&mut self, json: &Json, url: &Asked) {
        match json {
            Json::List(batch) if !batch.is_empty() => {
                for item in batch {
                    match Asked::of_json(item) {
                        Ok(asked) => self.add(&asked, url),
                        Err(why) => self.doubt(why),
                    }
                }
            }
            _ => match Asked::of_json(json) {
                Ok(asked) => self.add(&asked, url),
                Err(why) => self.doubt(why),
            },
        }
    }

    /// Adds what `asked` asks for; a name that stands in the URL chooses as well as one in the body.
    fn add(&mut self, asked: &Asked, url: &Asked) {
        let texts: Vec<&str> = asked.texts().collect();
        if texts.is_empty() || !asked.hash_fits(&texts) {
            self.push(GraphqlKind::Unknown);
        }
        let name = match (asked.only_name(), url.only_name()) {
            (Some(name), Some(other)) if name != other => None,
            (name, other) => name.or(other),
        };
        let sure = texts.len() == 1 && asked.names_agree() && url.names_agree() && !url.is_some_text();
        self.add_texts(asked, name.filter(|_| sure));
    }

    fn add_texts(&mut self, asked: &Asked, name: Option<&str>) {
        for text in asked.texts() {
            match document::operations(text) {
                Ok(document) => self.add_document(&document, name),
                Err(why) => self.doubt(&why),
            }
            if asked.is_some_parameter() {
                let deeper = request::decoded_again(text);
                for document in deeper.iter().filter_map(|text| document::operations(text).ok()) {
                    self.add_document(&document, None);
                }
            }
        }
    }

    /// One operation when `name` is the name of exactly one, else all.
    fn add_document(&mut self, document: &[document::Operation], name: Option<&str>) {
        let chosen = name.and_then(|name| {
            let mut named = document.iter().filter(|operation| operation.name.as_deref() == Some(name));
            named.next().filter(|_| named.next().is_none())
        });
        match chosen {
            Some(operation) => self.push(operation.kind),
            None => document.iter().for_each(|operation| self.push(operation.kind)),
        }
    }

    fn push(&mut self, kind: GraphqlKind) {
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
    }

    fn doubt(&mut self, why: &str) {
        self.doubt.get_or_insert_with(|| why.to_owned());
    }

    fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.doubt.is_none()
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
