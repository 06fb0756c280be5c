//! The page script for a guard: what it blocks follows from the same policy and signatures as the wire.

use crate::model::Policy;
use crate::playwright::fixture;
use crate::policy::{MutationConfig, SignatureMethod, WriteSignature};
use serde_json::{Value, json};

/// The script for `policy` and the host's `mutation` block.
pub fn page_script(policy: &Policy, mutation: &MutationConfig) -> String {
    fixture::page_guard(&json!({
        "policy": policy.kind(),
        "prefix": policy.prefix(),
        "words": mutation.deny_controls.text,
        "icons": mutation.deny_controls.icons,
        "allow": mutation.deny_controls.allow,
        "write_signatures": by_url(&mutation.write_signatures),
        "allow_signatures": by_url(&mutation.allow_signatures),
    }))
}

/// The signatures that method and URL alone decide; the wire judges the others.
fn by_url(signatures: &[WriteSignature]) -> Vec<Value> {
    signatures
        .iter()
        .filter(|signature| {
            !signature.needs_body()
                && signature.headers.is_empty()
                && signature.method != SignatureMethod::WebSocket
        })
        .map(|signature| json!({ "method": signature.method.as_str(), "url": signature.url.source() }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_form_can_tell() {
        let mutation = MutationConfig::parse(&json!({ "write_signatures": [
            { "method": "POST", "url": "/orders" }, { "method": "WS", "url": "/live" },
            { "method": "POST", "url": "/graphql", "body": "mutation" },
        ], "deny_controls": { "text": ["wipe"] } }))
        .unwrap();
        let script = page_script(&Policy::read_only(), &mutation);
        assert!(script.contains("/orders") && script.contains("wipe"));
        assert!(!script.contains("/live") && !script.contains("/graphql"));
    }
}
