//! GraphQL operations: nothing hides a mutation that stands beside it, and no text panics or is taken for a mutation that it is not.
#![no_main]

use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use qa_pilot::model::Policy;
use qa_pilot::policy::{Body, Decision, MutationConfig, Request, Rules, Situation, Standing};
use serde_json::json;
use std::sync::LazyLock;

static RULES: LazyLock<MutationConfig> = LazyLock::new(|| {
    let signature = json!({ "method": "POST", "url": "/graphql", "graphql": ["mutation"] });
    MutationConfig::parse(&json!({ "write_signatures": [signature] })).unwrap()
});

/// Why it is refused, if it is.
fn refusal(rules: &Rules, content_type: &'static str, target: &str, body: &str) -> Option<String> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    let request = Request::new("POST", "https://a.test", target, &headers, true);
    let mut examination = rules.examine(request, &headers, Body::Unread);
    examination.give_body(Body::read(&headers, body.as_bytes(), 1 << 16));
    match examination.decide(&Situation { standing: Standing::Open, scopes: &[], page: None }) {
        Decision::Refuse(refusal) => Some(refusal.reason),
        _ => None,
    }
}

fuzz_target!(|input: (&str, &str)| {
    let (text, other) = input;
    let rules = Rules::new(Policy::read_only(), RULES.clone());
    let json = "application/json";
    let in_body = |text: String| refusal(&rules, json, "/graphql", &json!({ "query": text }).to_string());
    assert!(in_body(format!("mutation W {{ w }}\n{text}")).is_some());
    assert!(in_body(format!("{text}\nmutation W {{ w }}")).is_some());
    if let Some(reason) = in_body(text.to_owned()) {
        assert!(text.contains("mutation") || reason.contains("cannot be judged"), "{reason}");
    }
    let batch = json!([{ "query": text }, { "query": "mutation { w }" }, { "query": other }]).to_string();
    assert!(refusal(&rules, json, "/graphql", &batch).is_some());
    for content_type in
        [json, "application/graphql", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
    {
        refusal(&rules, content_type, &format!("/graphql?{other}"), text);
    }
});
