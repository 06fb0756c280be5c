use super::*;
use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::prelude::*;
use serde_json::json;

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// The kinds that are found, in order, `?` when nobody can tell.
fn kinds(target: &str, content_type: &str, body: &str) -> String {
    let mut headers = HeaderMap::new();
    headers.insert(HeaderName::from_static("content-type"), HeaderValue::from_str(content_type).unwrap());
    told(&Operations::of_request(target, &Body::read(&headers, body.as_bytes(), 1 << 20)))
}

fn told(found: &Operations) -> String {
    let mut words: Vec<&str> = found.kinds.iter().map(|kind| kind.as_str()).collect();
    words.extend(found.doubt.is_some().then_some("?"));
    words.sort_unstable();
    words.join(" ")
}

#[test]
fn bodies() {
    let two = "query A { a } mutation B { b }";
    let hash = "6e7d8a3b"; // of no text here
    for (body, want) in [
        (json!({ "query": "{ a }" }), "query"),
        (json!({ "query": "mutation { a }" }), "mutation"),
        (
            json!({ "query": "subscription { a }", "variables": { "query": "mutation { a }" } }),
            "subscription",
        ),
        (json!({ "query": two }), "mutation query"),
        (json!({ "query": two, "operationName": "A" }), "query"),
        (json!({ "query": two, "operationName": "B" }), "mutation"),
        (json!({ "query": two, "operationName": "C" }), "mutation query"),
        (json!({ "query": two, "operationName": null }), "mutation query"),
        (json!({ "query": two, "operationName": ["A"] }), "?"),
        (json!({ "query": "query A { a } mutation A { b }", "operationName": "A" }), "mutation query"),
        (json!([{ "query": "{ a }" }, { "query": "mutation { b }" }]), "mutation query"),
        (json!([{ "query": "{ a }" }, 7]), "? query"),
        (json!([]), "?"),
        (json!({ "query": { "a": 1 } }), "?"),
        (json!({ "query": "" }), "unknown"),
        (json!({}), "unknown"),
        (json!({ "id": "7", "variables": {} }), "unknown"),
        (json!({ "documentId": "x", "query": "{ a }" }), "query unknown"),
        (json!({ "extensions": { "persistedQuery": { "version": 1, "sha256Hash": hash } } }), "unknown"),
        (
            json!({ "query": "{ a }", "extensions": { "persistedQuery": { "sha256Hash": hash } } }),
            "query unknown",
        ),
        (json!({ "query": "{ a }", "extensions": { "persistedQuery": true } }), "query unknown"),
        (json!({ "query": "{ a }", "extensions": "persisted" }), "query unknown"),
        (json!({ "query": "{ a }", "extensions": { "tracing": true } }), "query"),
        (
            json!({ "query": "{ a }", "extensions": { "persistedQuery": { "sha256Hash": crate::model::Digest::of(b"{ a }").to_string() } } }),
            "query",
        ),
        (json!("mutation { a }"), "?"),
    ] {
        assert_eq!(kinds("/graphql", JSON, &body.to_string()), want, "{body}");
    }
    for (content_type, body, want) in [
        (JSON, r#"{"query":"{ a }","query":"mutation { b }"}"#, "mutation query"),
        (JSON, r#"{"query":"{ a }","QUERY":"mutation { b }"}"#, "mutation query"),
        (
            JSON,
            r#"{"query":"query A { a } mutation B { b }","operationName":"A","operationName":"B"}"#,
            "mutation query",
        ),
        (JSON, r#"{"query":"\u006dutation { a }"}"#, "mutation"),
        (JSON, r##"{"query":"# mutation\n{ a }"}"##, "query"),
        (JSON, r#"{"query":"{ a }"} {"query":"mutation { a }"}"#, "?"),
        (JSON, r#"{"query":"mutation { a }"#, "?"),
        ("text/plain", r#"{"query":"mutation { a }"}"#, "mutation"),
        (FORM, r#"{"query":"mutation { a }"}"#, "mutation"),
        ("application/graphql", "query A { a } mutation B { b }", "mutation query"),
        ("application/graphql+json", r#"{"query":"{ a }"}"#, "query"),
        ("text/plain", "mutation { a }", "mutation"),
        ("text/plain", "some text", "?"),
        (FORM, "query=%7B+a+%7D", "query"),
        (FORM, "query=%7B+a+%7D&query=mutation+%7B+a+%7D", "mutation query"),
        (FORM, "query=query+A+%7Ba%7D+mutation+B+%7Bb%7D&operationName=A", "query"),
        (FORM, "hash=7", "unknown"),
    ] {
        assert_eq!(kinds("/graphql", content_type, body), want, "{content_type} {body}");
    }
}

#[test]
fn uploads() {
    let upload = |fields: &[(&str, &str)]| {
        let parts = fields.iter().map(|(name, value)| {
            format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        });
        let body: String = parts.chain(["--x--\r\n".to_owned()]).collect();
        kinds("/graphql", "multipart/form-data; boundary=x", &body)
    };
    let operations = r#"{"query":"mutation ($f: Upload!) { put(f: $f) }","variables":{"f":null}}"#;
    assert_eq!(
        upload(&[("operations", operations), ("map", r#"{"0":["variables.f"]}"#), ("0", "bytes")]),
        "mutation"
    );
    assert_eq!(upload(&[("operations", r#"[{"query":"{ a }"}]"#), ("map", "{}")]), "query");
    assert_eq!(upload(&[("operations", "{"), ("map", "{}")]), "?");
    assert_eq!(
        upload(&[("query", "{ a }"), ("operations", r#"{"query":"mutation { a }"}"#)]),
        "mutation query"
    );
    assert_eq!(upload(&[("file", "bytes")]), "unknown");
}

#[test]
fn urls() {
    for (target, want) in [
        ("/graphql", ""),
        ("/graphql?", ""),
        ("/graphql?query=%7Ba%7D", "query"),
        ("/graphql?query=mutation%7Ba%7D", "mutation"),
        ("/graphql?query=mutation%257Ba%257D", "? mutation"),
        ("/graphql?qu%65ry=mutation%7Ba%7D", "mutation"),
        ("/graphql?x=1;query=mutation%7Ba%7D", "mutation"),
        ("/graphql?query=%7Ba%7D&query=mutation%7Ba%7D", "mutation query"),
        ("/graphql?query=query+A%7Ba%7Dmutation+B%7Bb%7D&operationName=A", "query"),
        ("/graphql?query=query+A%7Ba%7Dmutation+B%7Bb%7D&operationName=A&operationName=B", "mutation query"),
        ("/graphql?extensions=%7B%22persistedQuery%22%3A%7B%22sha256Hash%22%3A%22ab%22%7D%7D", "unknown"),
        ("/graphql?query=%7Ba%7D&extensions=%7B", "query unknown"),
        ("/graphql?hash=ab", "unknown"),
    ] {
        assert_eq!(told(&Operations::of_request(target, &Body::Absent)), want, "{target}");
    }
    // A text in the URL counts beside the body, and a name in it chooses in the body.
    let body = r#"{"query":"query A { a } mutation B { b }"}"#;
    assert_eq!(kinds("/graphql?op=A", JSON, body), "mutation query");
    assert_eq!(kinds("/graphql?operationName=A", JSON, body), "query");
    assert_eq!(
        kinds("/graphql?query=subscription%7Ba%7D&operationName=A", JSON, body),
        "mutation query subscription"
    );
    assert_eq!(kinds("/graphql?documentId=1", JSON, r#"{"query":"{ a }"}"#), "query unknown");
    assert_eq!(
        kinds("/graphql?operationName=A", "application/graphql", "query A { a } mutation B { b }"),
        "query"
    );
}

proptest! {
    #[test]
    fn a_mutation_is_found_wherever_it_stands(before in 0..3usize, after in 0..3usize, noise in "[a-z ,\n\t]{0,5}", batch in any::<bool>()) {
        let noise: String = noise.chars().filter(|char| !char.is_ascii_alphabetic()).collect();
        let read = |index: usize| format!("query R{index} {{ a(b: \"mutation\") }}{noise}");
        let mut parts: Vec<String> = (0..before).map(read).collect();
        parts.push(format!("mutation{noise}W {{ a }}").replacen("mutationW", "mutation W", 1));
        parts.extend((0..after).map(|index| read(index + 10)));
        let body = if batch {
            json!(parts.iter().map(|part| json!({ "query": part })).collect::<Vec<_>>())
        } else {
            json!({ "query": parts.join("\n") })
        };
        let found = kinds("/graphql", JSON, &body.to_string());
        prop_assert!(found.starts_with("mutation"), "{} {}", found, body);
    }

    #[test]
    fn nothing_panics(target in ".{0,30}", body in "(\\{|\\}|\\[|\"query\":|\"|mutation|,|operations|=|&|%7B|.){0,30}", kind in 0..4usize) {
        let _ = kinds(&format!("/{target}"), [JSON, FORM, "multipart/form-data; boundary=-", "application/graphql"][kind], &body);
    }
}
