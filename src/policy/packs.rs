//! Signature packs: `proxy-rules/*.yaml`, one stack a file, embedded in the binary.
//!
//! A pack has a title, signature lists of the same shape as a profile's `mutation` block, and examples, which
//! `qa-pilot rules check` and a test hold.

use super::WriteSignature;
use crate::model::Fault;
use crate::yaml;
use serde_json::{Map, Value};
use std::path::Path;

/// Name and text of every pack, by name.
const PACKS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/packs.rs"));

const KEYS: [&str; 5] = ["title", "write_signatures", "allow_signatures", "drop_signatures", "examples"];

/// The signatures of one pack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pack {
    /// What it is for, in one line.
    pub title: String,
    /// Requests that write.
    pub write: Vec<WriteSignature>,
    /// Requests that do not, although a write signature names them.
    pub allow: Vec<WriteSignature>,
    /// Requests that are neither sent nor held against the run.
    pub drop: Vec<WriteSignature>,
}

/// The names of all packs, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    PACKS.iter().map(|(name, _)| *name)
}

/// The pack called `name`, as YAML.
pub fn text(name: &str) -> Option<&'static str> {
    PACKS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

impl Pack {
    /// Reads a pack from the document of its file. Its examples are for others to read.
    ///
    /// # Errors
    /// Every fault, each with a place such as `write_signatures[0].url`.
    pub fn parse(document: &Value) -> Result<Self, Vec<Fault>> {
        let Some(object) = document.as_object() else {
            return Err(vec![Fault::new("the pack", "must be a mapping")]);
        };
        let mut faults = Vec::new();
        for key in object.keys().filter(|key| !KEYS.contains(&key.as_str())) {
            faults.push(Fault::new(key, format!("unknown key; known are {}", KEYS.join(", "))));
        }
        let title = object.get("title").and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if title.is_empty() || title.contains('\n') {
            faults.push(Fault::new("title", "must be one line of text that says what the pack is for"));
        }
        let pack = Self {
            title: title.to_owned(),
            write: list(object, "write_signatures", &mut faults),
            allow: list(object, "allow_signatures", &mut faults),
            drop: list(object, "drop_signatures", &mut faults),
        };
        if faults.is_empty() { Ok(pack) } else { Err(faults) }
    }
}

/// The pack called `name`; the fault at `path` says which there are.
pub(super) fn find(name: &Value, path: &str, faults: &mut Vec<Fault>) -> Option<(&'static str, Pack)> {
    let Some((name, text)) = PACKS.iter().find(|(known, _)| name.as_str() == Some(known)) else {
        let known: Vec<&str> = names().collect();
        faults.push(Fault::new(
            path,
            format!("no signature pack is named {name}; there are {}", known.join(", ")),
        ));
        return None;
    };
    let file = format!("proxy-rules/{name}.yaml");
    let parsed = match yaml::parse(Path::new(&file), text) {
        Ok(document) => Pack::parse(&document),
        Err(error) => Err(vec![Fault::new(path, error.to_string())]),
    };
    match parsed {
        Ok(pack) => Some((name, pack)),
        Err(found) => {
            faults.extend(found.into_iter().map(|fault| Fault::new(path, format!("{file}: {fault}"))));
            None
        }
    }
}

fn list(object: &Map<String, Value>, key: &str, faults: &mut Vec<Fault>) -> Vec<WriteSignature> {
    super::config::signatures(object, key, key, faults)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::MutationConfig;
    use serde_json::json;

    #[test]
    fn their_signatures_count_as_the_hosts_own() {
        let block = json!({ "packs": ["nextjs"], "write_signatures": [{ "method": "POST", "url": "/a" }] });
        let config = MutationConfig::parse(&block).unwrap();
        let own = MutationConfig::parse(&json!({ "write_signatures": [{ "method": "POST", "url": "/a" }] }))
            .unwrap();
        assert!(config.write_signatures.len() > 1);
        assert_ne!(config.signatures_sha256(), own.signatures_sha256());
        assert_eq!(config.place("write_signatures", 0), "mutation.write_signatures[0]");
        assert_eq!(config.place("write_signatures", 1), "pack nextjs: write_signatures[0]");
    }

    #[test]
    fn faults_name_their_place() {
        let faults = |value: Value| {
            Pack::parse(&value).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(faults(json!([])), ["the pack: must be a mapping"]);
        let found =
            faults(json!({ "signatures": [], "allow_signatures": [{ "method": "GET", "url": "(" }] }));
        assert!(found[0].starts_with("signatures: unknown key; known are title,"), "{found:?}");
        assert!(found[1].starts_with("title: must be one line"), "{found:?}");
        assert!(found[2].starts_with("allow_signatures[0].url: does not compile"), "{found:?}");
    }
}
