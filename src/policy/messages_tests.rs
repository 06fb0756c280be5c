use super::*;
use crate::pattern::Pattern;
use crate::policy::{MutationConfig, Request};
use http::HeaderMap;
use serde_json::{Value, json};

const OPEN: Situation<'static> = Situation { standing: Standing::Open, scopes: &[], page: None };

fn messages(policy: &str, config: Value, target: &str) -> Option<Messages> {
    let policy = match policy {
        "scoped-write" => r#"{"policy":"scoped-write","prefix":"QA_"}"#.to_owned(),
        kind => format!(r#"{{"policy":"{kind}"}}"#),
    };
    let rules =
        Rules::new(Policy::from_env_json(Some(&policy)).unwrap(), MutationConfig::parse(&config).unwrap());
    let headers = HeaderMap::new();
    rules.examine(Request::web_socket("https://a.test", target, &headers), &headers, Body::Absent).messages()
}

fn word(decision: &Decision) -> &'static str {
    match decision {
        Decision::Permit(permit) if permit.observed().is_some() => "observe",
        Decision::Permit(_) => "pass",
        Decision::Refuse(_) => "block",
        Decision::Drop => "drop",
    }
}

fn text(messages: &Messages, text: &str) -> &'static str {
    word(&messages.decide(&Message::Text(text.as_bytes()), &OPEN))
}

fn config() -> Value {
    json!({
        "write_signatures": [
            { "method": "*", "url": "^wss://a\\.test/live$", "body": "\"op\":\"save\"" }, { "method": "WS", "url": "^https://a\\.test/all$" },
            { "method": "GET", "url": "/got" }, { "method": "WS", "url": "/gql", "graphql": ["mutation", "unknown"] },
        ],
        "allow_signatures": [
            { "method": "WS", "url": "^wss://a\\.test/all$", "body": "^ping$" }, { "method": "*", "url": "/clear" },
            { "method": "GET", "url": "/live" },
        ],
        "drop_signatures": [{ "method": "WS", "url": "/live$", "body": "^track" }],
    })
}

#[test]
fn which_sockets_are_judged() {
    for (target, judged) in [
        ("/live", true),
        ("/x/../live", true),
        ("/all", true),
        ("/got", false),
        ("/free", false),
        ("/gql", true),
    ] {
        assert_eq!(messages("read-only", config(), target).is_some(), judged, "{target}");
    }
    let mut cleared = config();
    cleared["allow_signatures"][1]["url"] = json!("/live$");
    assert!(messages("read-only", cleared, "/live").is_none(), "all messages are cleared");
}

#[test]
fn messages_are_decided_one_by_one() {
    let live = messages("read-only", config(), "/live").unwrap();
    for (message, want) in [
        (r#"{"op":"save"}"#, "block"),
        (r#"{"op":"sav\u0065"}"#, "block"),
        (r#"{"op":"load"}"#, "pass"),
        ("", "pass"),
        ("track x", "drop"),
        (r#"track "op":"save""#, "block"),
    ] {
        assert_eq!(text(&live, message), want, "{message}");
    }
    let wide: Vec<u8> = r#"{"op":"save"}"#.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(word(&live.decide(&Message::Binary(&wide), &OPEN)), "block");
    assert_eq!(word(&live.decide(&Message::Binary(b"\x01\x00\"op\":\"save\"\xff"), &OPEN)), "block");
    assert_eq!(word(&live.decide(&Message::Binary(b"\xff\x00"), &OPEN)), "pass");
    for unjudgeable in [Message::Text(b"\xff"), Message::Unjudgeable("why")] {
        let Decision::Refuse(refusal) = live.decide(&unjudgeable, &OPEN) else { panic!() };
        assert!(refusal.reason.starts_with("a websocket message cannot be judged: "), "{}", refusal.reason);
    }
    let all = messages("read-only", config(), "/all").unwrap();
    assert_eq!((text(&all, "ping"), text(&all, "ping "), text(&all, "")), ("pass", "block", "block"));
}

#[test]
fn graphql_over_a_socket() {
    let gql = messages("read-only", config(), "/gql").unwrap();
    for (message, want) in [
        (r#"{"type":"connection_init","payload":{"token":"x"}}"#, "pass"),
        (r#"{"id":"1","type":"subscribe","payload":{"query":"subscription { a }"}}"#, "pass"),
        (r#"{"id":"1","type":"subscribe","payload":{"query":"mutation { a }"}}"#, "block"),
        (r#"{"id":"1","type":"start","payload":{"query":"mutation { a }"}}"#, "block"),
        (r#"{"id":"1","type":"ping","type":"subscribe","payload":{"query":"mutation { a }"}}"#, "block"),
        (r#"{"id":"1","type":"subscribe","payload":{"extensions":{}}}"#, "block"),
        (r#"{"id":"1","type":"complete"}"#, "pass"),
        (r#"{"query":"mutation { a }"}"#, "block"),
        ("no json", "block"),
    ] {
        assert_eq!(text(&gql, message), want, "{message}");
    }
}

#[test]
fn policies_scopes_and_standings() {
    let save = Message::Text(br#"{"op":"save"}"#);
    let ours = Message::Text(br#"{"op":"save","name":"QA_1"}"#);
    let unrestricted = messages("unrestricted", config(), "/live").unwrap();
    assert_eq!(word(&unrestricted.decide(&save, &OPEN)), "observe");
    let scopes = [Pattern::new("/edit").unwrap()];
    let page = Situation { scopes: &scopes, page: Some("https://a.test/edit"), ..OPEN };
    let scope = |messages: &Messages, message: &Message<'_>, situation: &Situation<'_>| match messages
        .decide(message, situation)
    {
        Decision::Permit(permit) => permit.observed().and_then(|observed| observed.scope),
        _ => None,
    };
    let observe = messages("scoped-write", config(), "/live").unwrap();
    assert_eq!(scope(&observe, &save, &OPEN), Some(Scope::Unproven));
    assert_eq!(scope(&observe, &ours, &OPEN), Some(Scope::Prefix));
    assert_eq!(scope(&observe, &save, &page), Some(Scope::Url));
    let mut enforced = config();
    enforced["scope_requests"] = json!("enforce");
    let enforce = messages("scoped-write", enforced, "/live").unwrap();
    assert_eq!(
        (word(&enforce.decide(&save, &OPEN)), word(&enforce.decide(&ours, &OPEN))),
        ("block", "observe")
    );
    let late = Situation { standing: Standing::Late, ..OPEN };
    assert_eq!(word(&unrestricted.decide(&save, &late)), "block");
    assert_eq!(word(&unrestricted.decide(&Message::Text(b"x"), &late)), "pass");
    let full = Situation { standing: Standing::Full, ..OPEN };
    assert_eq!(word(&unrestricted.decide(&Message::Text(b"x"), &full)), "block");
}
