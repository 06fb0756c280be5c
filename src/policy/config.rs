//! The `mutation` block of a host profile, which reaches the guard as `QA_PILOT_MUTATION_CONFIG`.
//!
//! The gate reads the same block from the profile, so both halves count and digest the same signatures.

use super::packs::{self, Pack};
use super::signature::{self, WriteSignature};
use crate::model::{Digest, Fault};
use serde_json::{Map, Value, json};

/// What the host says about writes. The default is empty: the built-in words and icons, and no signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MutationConfig {
    /// Requests that write: the host's own, then those of the packs it names.
    pub write_signatures: Vec<WriteSignature>,
    /// Requests that do not, although a write signature names them.
    pub allow_signatures: Vec<WriteSignature>,
    /// Requests that are neither sent nor held against the run: analytics, error reporting.
    pub drop_signatures: Vec<WriteSignature>,
    /// Controls that write, beside the built-in ones.
    pub deny_controls: DenyControls,
    /// What a method that usually writes means where no signature speaks.
    pub unsafe_methods: UnsafeMethods,
    /// What happens to a write whose scope is not proven, under scoped-write.
    pub scope_requests: ScopeRequests,
    /// The packs whose signatures follow the host's own, in this order.
    packs: Vec<Taken>,
}

/// A pack that the host took, and how many entries it added to each list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Taken {
    name: &'static str,
    write: usize,
    allow: usize,
    drop: usize,
}

/// Words and icons of controls, all as the host wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DenyControls {
    /// ECMAScript patterns for names of controls that write, case-insensitive.
    pub text: Vec<String>,
    /// Class prefixes of icons that write.
    pub icons: Vec<String>,
    /// ECMAScript patterns, for the whole name, of controls that only sound like writes.
    pub allow: Vec<String>,
}

/// `unsafe_methods`: whether POST, PUT, PATCH and DELETE are writes where no signature speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnsafeMethods {
    /// Only signatures decide.
    #[default]
    Ignore,
    /// They are writes, unless an allow signature clears them.
    Deny,
}

/// `scope_requests`: what scoped-write does to a write that neither URL nor prefix proves to be in scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopeRequests {
    /// Lets it through and records it as unproven.
    #[default]
    Observe,
    /// Blocks it.
    Enforce,
}

impl MutationConfig {
    /// Reads the block; `value` is the mapping itself.
    ///
    /// # Errors
    /// Every fault, each with a place such as `mutation.write_signatures[0].url`.
    pub fn parse(value: &Value) -> Result<Self, Vec<Fault>> {
        let Some(object) = value.as_object() else {
            return Err(vec![Fault::new("mutation", "must be a mapping")]);
        };
        let mut faults = Vec::new();
        for key in object.keys() {
            if !KEYS.contains(&key.as_str()) {
                faults.push(Fault::new(
                    format!("mutation.{key}"),
                    format!("unknown key; known are {}", KEYS.join(", ")),
                ));
            }
        }
        let mut config = Self {
            deny_controls: deny_controls(object, &mut faults),
            write_signatures: signatures(
                object,
                "write_signatures",
                "mutation.write_signatures",
                &mut faults,
            ),
            allow_signatures: signatures(
                object,
                "allow_signatures",
                "mutation.allow_signatures",
                &mut faults,
            ),
            drop_signatures: signatures(object, "drop_signatures", "mutation.drop_signatures", &mut faults),
            unsafe_methods: choice(
                object,
                "unsafe_methods",
                &[("ignore", UnsafeMethods::Ignore), ("deny", UnsafeMethods::Deny)],
                &mut faults,
            ),
            scope_requests: choice(
                object,
                "scope_requests",
                &[("observe", ScopeRequests::Observe), ("enforce", ScopeRequests::Enforce)],
                &mut faults,
            ),
            packs: Vec::new(),
        };
        add_packs(&mut config, object, &mut faults);
        if faults.is_empty() { Ok(config) } else { Err(faults) }
    }

    /// Reads the value of `QA_PILOT_MUTATION_CONFIG`; unset or blank means no signatures.
    ///
    /// # Errors
    /// As [`Self::parse`], or one fault when the text is no JSON.
    pub fn from_env_json(text: Option<&str>) -> Result<Self, Vec<Fault>> {
        match text.filter(|text| !text.trim().is_empty()) {
            None => Ok(Self::default()),
            Some(text) => match serde_json::from_str(text) {
                Ok(value) => Self::parse(&value),
                Err(error) => Err(vec![Fault::new("mutation", format!("is not JSON: {error}"))]),
            },
        }
    }

    /// The signatures of one pack and nothing else.
    pub fn of_pack(pack: Pack) -> Self {
        Self {
            write_signatures: pack.write,
            allow_signatures: pack.allow,
            drop_signatures: pack.drop,
            ..Self::default()
        }
    }

    /// Where the entry at `index` of the list `key` was written: in the host's own list, or in a pack.
    pub fn place(&self, key: &str, index: usize) -> String {
        let added = |taken: &Taken| match key {
            "write_signatures" => taken.write,
            "allow_signatures" => taken.allow,
            _ => taken.drop,
        };
        let all = match key {
            "write_signatures" => self.write_signatures.len(),
            "allow_signatures" => self.allow_signatures.len(),
            _ => self.drop_signatures.len(),
        };
        let mut first = all.saturating_sub(self.packs.iter().map(added).sum());
        if index < first {
            return format!("mutation.{key}[{index}]");
        }
        for taken in &self.packs {
            if index < first + added(taken) {
                return format!("pack {}: {key}[{}]", taken.name, index - first);
            }
            first += added(taken);
        }
        format!("{key}[{index}]")
    }

    /// A digest over everything that decides about requests, in the order of the file. Records carry it, so that the
    /// gate can tell the profile's signatures from as many others.
    pub fn signatures_sha256(&self) -> Digest {
        let list = |list: &[WriteSignature]| list.iter().map(WriteSignature::canonical).collect::<Vec<_>>();
        let text = json!({
            "write": list(&self.write_signatures),
            "allow": list(&self.allow_signatures),
            "drop": list(&self.drop_signatures),
            "unsafe_methods": self.unsafe_methods == UnsafeMethods::Deny,
            "scope_requests": self.scope_requests == ScopeRequests::Enforce,
        })
        .to_string();
        Digest::of(text.as_bytes())
    }
}

const KEYS: [&str; 7] = [
    "deny_controls",
    "write_signatures",
    "allow_signatures",
    "drop_signatures",
    "unsafe_methods",
    "scope_requests",
    "packs",
];

/// A list that may be absent or null; anything else but a list is a fault.
fn list<'a>(object: &'a Map<String, Value>, key: &str, path: &str, faults: &mut Vec<Fault>) -> &'a [Value] {
    match object.get(key) {
        None | Some(Value::Null) => &[],
        Some(Value::Array(items)) => items,
        Some(_) => {
            faults.push(Fault::new(path, "must be a list"));
            &[]
        }
    }
}

/// Reads the list `key` of `object`, whose faults are told at `path`.
pub(super) fn signatures(
    object: &Map<String, Value>,
    key: &str,
    path: &str,
    faults: &mut Vec<Fault>,
) -> Vec<WriteSignature> {
    list(object, key, path, faults)
        .iter()
        .enumerate()
        .filter_map(|(index, item)| WriteSignature::parse(item, &format!("{path}[{index}]"), faults))
        .collect()
}

fn choice<T: Copy + Default>(
    object: &Map<String, Value>,
    key: &str,
    choices: &[(&str, T)],
    faults: &mut Vec<Fault>,
) -> T {
    let chosen = match object.get(key) {
        None | Some(Value::Null) => return T::default(),
        Some(value) => choices.iter().find(|(name, _)| value.as_str() == Some(name)),
    };
    chosen.map_or_else(
        || {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            faults.push(Fault::new(format!("mutation.{key}"), format!("must be {}", names.join(" or "))));
            T::default()
        },
        |(_, value)| *value,
    )
}

/// Adds the signatures of the packs that the host names, behind its own.
fn add_packs(config: &mut MutationConfig, object: &Map<String, Value>, faults: &mut Vec<Fault>) {
    for (index, name) in list(object, "packs", "mutation.packs", faults).iter().enumerate() {
        if let Some((name, pack)) = packs::find(name, &format!("mutation.packs[{index}]"), faults) {
            let Pack { write, allow, drop, .. } = &pack;
            config.packs.push(Taken { name, write: write.len(), allow: allow.len(), drop: drop.len() });
            config.write_signatures.extend(pack.write);
            config.allow_signatures.extend(pack.allow);
            config.drop_signatures.extend(pack.drop);
        }
    }
}

fn deny_controls(object: &Map<String, Value>, faults: &mut Vec<Fault>) -> DenyControls {
    let object = match object.get("deny_controls") {
        None | Some(Value::Null) => return DenyControls::default(),
        Some(Value::Object(object)) => object,
        Some(_) => {
            faults.push(Fault::new("mutation.deny_controls", "must be a mapping"));
            return DenyControls::default();
        }
    };
    for key in object.keys() {
        if !matches!(key.as_str(), "text" | "icons" | "allow") {
            faults.push(Fault::new(
                format!("mutation.deny_controls.{key}"),
                "unknown key; known are text, icons and allow",
            ));
        }
    }
    let mut texts = |key: &str, patterns: bool| -> Vec<String> {
        let path = format!("mutation.deny_controls.{key}");
        let items = list(object, key, &path, faults);
        let mut out = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = format!("{path}[{index}]");
            match item.as_str() {
                Some(text) if patterns => {
                    if !text.is_empty() && signature::pattern(text, &path, faults).is_some() {
                        out.push(text.to_owned());
                    } else if text.is_empty() {
                        faults.push(Fault::new(path, "must not be empty"));
                    }
                }
                Some(text) if !text.trim().is_empty() => out.push(text.to_owned()),
                _ => faults.push(Fault::new(path, "must be text that is not empty")),
            }
        }
        out
    };
    DenyControls { text: texts("text", true), icons: texts("icons", false), allow: texts("allow", true) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::SignatureMethod;

    fn faults(value: Value) -> Vec<String> {
        MutationConfig::parse(&value).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn reads_the_block() {
        let config = MutationConfig::parse(&json!({
            "deny_controls": { "text": ["wipe"], "icons": ["x-del"], "allow": ["Reset filters"] },
            "write_signatures": [{ "method": "POST", "url": "/orders", "body": "a", "headers": { "Next-Action": "." }, "graphql": ["mutation"], "note": "n" }],
            "allow_signatures": null,
            "drop_signatures": [{ "method": "*", "url": "/collect" }],
            "unsafe_methods": "deny",
            "scope_requests": "enforce",
        }))
        .unwrap();
        assert_eq!(config.write_signatures.len(), 1);
        assert_eq!(config.write_signatures[0].headers[0].0, "next-action");
        assert!(config.write_signatures[0].needs_body());
        assert_eq!(config.drop_signatures[0].method, SignatureMethod::Any);
        assert_eq!(config.unsafe_methods, UnsafeMethods::Deny);
        assert_eq!(config.scope_requests, ScopeRequests::Enforce);
        assert_eq!(config.deny_controls.allow, ["Reset filters"]);
        assert_eq!(MutationConfig::from_env_json(Some(" ")).unwrap(), MutationConfig::default());
    }

    #[test]
    fn faults_name_their_place() {
        assert_eq!(faults(json!([])), ["mutation: must be a mapping"]);
        let found = faults(json!({
            "write_signatures": [{ "method": "post", "url": "(" }, 7, { "method": "GET", "url": "", "x": 1 }],
            "allow_signatures": {},
            "drop_signatures": [{ "method": "GET", "url": "a", "body": "", "headers": [], "graphql": ["read"], "note": 1 }],
            "deny_controls": { "text": ["("], "icons": [" "], "words": [] },
            "unsafe_methods": true,
            "packs": ["grapql"],
            "extra": 1,
        }));
        for want in [
            "mutation.extra: unknown key",
            "mutation.write_signatures[0].method: must be one of",
            "mutation.write_signatures[0].url: does not compile",
            "mutation.write_signatures[1]: must be a mapping",
            "mutation.write_signatures[2].x: unknown key",
            "mutation.write_signatures[2].url: must be a regular",
            "mutation.allow_signatures: must be a list",
            "mutation.drop_signatures[0].body: must be",
            "mutation.drop_signatures[0].headers: must be",
            "mutation.drop_signatures[0].graphql: must be",
            "mutation.drop_signatures[0].note: must be",
            "mutation.deny_controls.text[0]: does not compile",
            "mutation.deny_controls.icons[0]: must be",
            "mutation.deny_controls.words: unknown key",
            "mutation.unsafe_methods: must be ignore or deny",
            "mutation.packs[0]: no signature pack is named \"grapql\"; there are analytics, ",
        ] {
            assert!(found.iter().any(|fault| fault.starts_with(want)), "{want}: {found:#?}");
        }
        assert_eq!(found.len(), 16, "{found:#?}");
    }

    #[test]
    fn the_digest_sees_what_decides() {
        let digest = |value: Value| MutationConfig::parse(&value).unwrap().signatures_sha256();
        let one = json!({ "write_signatures": [{ "method": "POST", "url": "a", "note": "x" }] });
        assert_eq!(
            digest(one.clone()),
            digest(json!({ "write_signatures": [{ "method": "POST", "url": "a" }] }))
        );
        for other in [
            json!({ "write_signatures": [{ "method": "POST", "url": "b" }] }),
            json!({ "write_signatures": [{ "method": "PUT", "url": "a" }] }),
            json!({ "allow_signatures": [{ "method": "POST", "url": "a" }] }),
            json!({ "write_signatures": [{ "method": "POST", "url": "a" }], "unsafe_methods": "deny" }),
        ] {
            assert_ne!(digest(one.clone()), digest(other));
        }
    }
}
