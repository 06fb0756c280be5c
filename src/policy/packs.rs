//! Signature packs: `proxy-rules/*.yaml`, one stack a file, embedded in the binary.
//!
//! A pack has a title, signature lists of the same shape as a profile's `mutation` block, and examples that a test holds:
//! `{request: METHOD URL, headers, body, expect: write | read | drop}`.

use super::WriteSignature;
use crate::model::Fault;
use crate::yaml;
use serde_json::{Map, Value};
use std::path::Path;

/// Name and text of every pack, by name.
const PACKS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/packs.rs"));

/// The signatures of one pack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pack {
    pub(super) write: Vec<WriteSignature>,
    pub(super) allow: Vec<WriteSignature>,
    pub(super) drop: Vec<WriteSignature>,
}

/// The names of all packs, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    PACKS.iter().map(|(name, _)| *name)
}

/// The pack called `name`; the fault at `path` says which there are.
pub(super) fn find(name: &Value, path: &str, faults: &mut Vec<Fault>) -> Option<Pack> {
    let text = name.as_str().and_then(|name| PACKS.iter().find(|(known, _)| *known == name));
    let Some((name, text)) = text else {
        let known: Vec<&str> = names().collect();
        faults.push(Fault::new(
            path,
            format!("no signature pack is named {name}; there are {}", known.join(", ")),
        ));
        return None;
    };
    let file = format!("proxy-rules/{name}.yaml");
    let object = match yaml::parse(Path::new(&file), text) {
        Ok(Value::Object(object)) => object,
        Ok(_) => {
            faults.push(Fault::new(file, "must be a mapping"));
            return None;
        }
        Err(error) => {
            faults.push(Fault::new(path, error.to_string()));
            return None;
        }
    };
    for key in object.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        faults.push(Fault::new(
            format!("{file}: {key}"),
            format!("unknown key; known are {}", KEYS.join(", ")),
        ));
    }
    Some(Pack {
        write: list(&object, "write_signatures", &file, faults),
        allow: list(&object, "allow_signatures", &file, faults),
        drop: list(&object, "drop_signatures", &file, faults),
    })
}

const KEYS: [&str; 5] = ["title", "write_signatures", "allow_signatures", "drop_signatures", "examples"];

fn list(object: &Map<String, Value>, key: &str, file: &str, faults: &mut Vec<Fault>) -> Vec<WriteSignature> {
    super::config::signatures(object, key, &format!("{file}: {key}"), faults)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Policy;
    use crate::policy::{Body, Decision, MutationConfig, Request, Rules, Situation, Standing};
    use http::{HeaderMap, HeaderName, HeaderValue};
    use serde_json::json;

    fn decided(rules: &Rules, example: &Value) -> &'static str {
        let (method, url) = example["request"].as_str().unwrap().split_once(' ').unwrap();
        let path = url.match_indices('/').nth(2).map_or(url.len(), |(at, _)| at);
        let (origin, target) = url.split_at(path);
        let mut headers = HeaderMap::new();
        for (name, value) in example["headers"].as_object().into_iter().flatten() {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            headers.insert(name, HeaderValue::from_str(&value.to_string().replace('"', "")).unwrap());
        }
        let body = example["body"].as_str();
        let request = Request::new(method, origin, target, &headers, body.is_some());
        let unread = if body.is_some() { Body::Unread } else { Body::Absent };
        let mut examination = rules.examine(request, &headers, unread);
        let situation = Situation { standing: Standing::Open, scopes: &[], page: None };
        if let Some(body) = body.filter(|_| examination.needs_body(&situation)) {
            examination.give_body(Body::read(&headers, body.as_bytes(), 1 << 20));
        }
        match examination.decide(&situation) {
            Decision::Permit(permit) if permit.observed().is_none() => "read",
            Decision::Permit(_) | Decision::Refuse(_) => "write",
            Decision::Drop => "drop",
        }
    }

    #[test]
    fn every_pack_does_what_its_examples_say() {
        let mut seen = 0;
        for (name, text) in PACKS {
            let document = yaml::parse(Path::new(name), text).unwrap();
            let config = MutationConfig::parse(&json!({ "packs": [name] })).unwrap();
            assert!(document["title"].is_string(), "{name} has a title");
            let rules = Rules::new(Policy::read_only(), config);
            let examples = document["examples"].as_array().unwrap();
            for list in
                ["write_signatures", "drop_signatures"].into_iter().filter(|list| document[*list].is_array())
            {
                let want = if list == "write_signatures" { "write" } else { "drop" };
                assert!(examples.iter().any(|example| example["expect"] == want), "{name} shows a {want}");
            }
            assert!(
                examples.iter().any(|example| example["expect"] == "read"),
                "{name} shows what it leaves alone"
            );
            for example in examples {
                assert_eq!(example["expect"], decided(&rules, example), "{name}: {example}");
                seen += 1;
            }
        }
        assert!(seen > 50, "the packs are there");
    }

    #[test]
    fn their_signatures_count_as_the_hosts_own() {
        let block = json!({ "packs": ["nextjs"], "write_signatures": [{ "method": "POST", "url": "/a" }] });
        let config = MutationConfig::parse(&block).unwrap();
        assert_eq!(config.write_signatures.len(), 2);
        let own = MutationConfig::parse(&json!({ "write_signatures": [{ "method": "POST", "url": "/a" }] }))
            .unwrap();
        assert_ne!(config.signatures_sha256(), own.signatures_sha256());
    }
}
