use super::*;
use crate::model::Policy;
use crate::policy::MutationConfig;
use crate::policy::body::Body;
use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::prelude::*;
use serde_json::{Value, json};

fn rules(policy: &str, config: Value) -> Rules {
    let policy = match policy {
        "scoped-write" => Policy::from_env_json(Some(r#"{"policy":"scoped-write","prefix":"QA_TEST_"}"#)),
        kind => Policy::from_env_json(Some(&format!(r#"{{"policy":"{kind}"}}"#))),
    };
    Rules::new(policy.unwrap(), MutationConfig::parse(&config).unwrap())
}

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap()))
        .collect()
}

const OPEN: Situation<'static> = Situation { standing: Standing::Open, scopes: &[], page: None };

/// Judges as the proxy does: the body is read only when it is asked for.
fn judge_in(
    rules: &Rules,
    method: &str,
    target: &str,
    pairs: &[(&str, &str)],
    body: &str,
    situation: &Situation<'_>,
) -> (Decision, bool) {
    let headers = headers(pairs);
    let request = Request::new(method, "https://a.test", target, &headers, !body.is_empty());
    let unread = if body.is_empty() { Body::Absent } else { Body::Unread };
    let mut examination = rules.examine(request, &headers, unread);
    let held = examination.needs_body(situation);
    if held {
        examination.give_body(Body::read(&headers, body.as_bytes(), 1 << 20));
    }
    (examination.decide(situation), held)
}

fn judge(rules: &Rules, method: &str, target: &str, pairs: &[(&str, &str)], body: &str) -> (Decision, bool) {
    judge_in(rules, method, target, pairs, body, &OPEN)
}

fn word(decision: &Decision) -> &'static str {
    match decision {
        Decision::Permit(permit) if permit.observed().is_some() => "observe",
        Decision::Permit(permit) if permit.is_unclassified() => "unclassified",
        Decision::Permit(_) => "pass",
        Decision::Refuse(_) => "block",
        Decision::Drop => "drop",
    }
}

fn orders() -> Value {
    json!({
        "write_signatures": [
            {"method": "POST", "url": "/orders"},
            {"method": "DELETE", "url": "/orders/\\d+(\\?|$)", "note": "delete an order"},
            {"method": "POST", "url": "/graphql$", "body": "\"query\"\\s*:\\s*\"\\s*mutation"},
            {"method": "*", "url": "^https://a\\.test/admin/"},
        ],
        "allow_signatures": [{"method": "POST", "url": "^https://a\\.test/orders/_search$"}],
    })
}

#[test]
fn policies() {
    for (policy, want) in [("read-only", "block"), ("scoped-write", "observe"), ("unrestricted", "observe")] {
        let rules = rules(policy, orders());
        for (method, target, body, want) in [
            ("GET", "/orders", "", "pass"),
            ("POST", "/orders", "", want),
            ("POST", "/orders", "{}", want),
            ("DELETE", "/orders/7", "", want),
            ("DELETE", "/orders/x", "", "unclassified"),
            ("POST", "/orders/_search", "{}", "pass"),
            ("POST", "/orders/_searchx", "{}", want),
            ("POST", "/orders/_search/../_bulk", "{}", want),
            ("POST", "/orders/_search/%2e%2e/_bulk", "{}", want),
            ("POST", "/orders/_search?x", "{}", want),
            ("POST", "/orders%2F_search", "{}", want),
            ("POST", "/%6frders", "{}", want),
            ("POST", "/graphql", r#"{"query":"mutation { a }"}"#, want),
            ("POST", "/graphql", r#"{"query":"\u006dutation { a }"}"#, want),
            ("POST", "/graphql", r#"{"query":"query { a }"}"#, "unclassified"),
            ("POST", "/graphql", "", "unclassified"),
            ("GET", "/admin/x", "", want),
            ("GET", "/x/..;/admin/x", "", want),
        ] {
            assert_eq!(
                word(&judge(&rules, method, target, &[], body).0),
                want,
                "{policy} {method} {target} {body}"
            );
        }
    }
}

#[test]
fn the_body_is_held_only_when_it_decides() {
    let rules = rules("read-only", orders());
    let form = [("content-type", "application/x-www-form-urlencoded")];
    for (method, target, pairs, held) in [
        ("POST", "/upload", &[][..], false),
        ("POST", "/orders", &[], false),
        ("GET", "/graphql", &[], false),
        ("POST", "/graphql", &[], true),
        ("POST", "/upload", &form, false),
        ("POST", "/orders/7", &form, false),
        ("PUT", "/orders/7", &form, true),
    ] {
        assert_eq!(judge(&rules, method, target, pairs, "a=b").1, held, "{method} {target}");
    }
}

#[test]
fn claimed_methods_are_judged() {
    let rules = rules("read-only", orders());
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let multipart = [("content-type", "multipart/form-data; boundary=b")];
    let part = "--b\r\nContent-Disposition: form-data; name=\"_method\"\r\n\r\ndelete\r\n--b--\r\n";
    for (method, target, pairs, body) in [
        ("PUT", "/orders/7", &[("x-http-method-override", "delete")][..], ""),
        ("GET", "/orders/7", &[("x-http-method", "DELETE")], ""),
        ("GET", "/orders/7?_method=DELETE", &[], ""),
        ("PUT", "/orders/7", &form, "a=b&_method=delete"),
        ("PUT", "/orders/7", &multipart, part),
        ("POST", "/orders/_search", &form, "_method=delete"),
        ("PUT", "/orders/7", &multipart, "no multipart"),
        ("PUT", "/orders/7", &[form[0], ("content-encoding", "br")], "plain"),
    ] {
        let (decision, _) = judge(&rules, method, target, pairs, body);
        assert_eq!(word(&decision), "block", "{method} {target} {body}");
    }
    let (Decision::Refuse(refusal), _) = judge(&rules, "PUT", "/orders/7?_method=DELETE", &[], "") else {
        panic!()
    };
    assert_eq!(refusal.effective_method.as_deref(), Some("DELETE"));
    assert_eq!(refusal.reason, "write signature 1: DELETE /orders/\\d+(\\?|$) (delete an order)");
    // An override does not turn a write into a read either.
    assert_eq!(word(&judge(&rules, "POST", "/orders", &[("x-http-method", "GET")], "").0), "block");
    assert_eq!(word(&judge(&rules, "POST", "/orders/_search", &[("x-http-method", "PUT")], "").0), "block");
}

#[test]
fn what_cannot_be_read_is_taken_for_a_write() {
    let rules = rules(
        "read-only",
        json!({"write_signatures": [
            {"method": "POST", "url": "/body", "body": "x"}, {"method": "POST", "url": "/gql", "graphql": ["mutation"]},
        ]}),
    );
    let gzip = [("content-encoding", "gzip")];
    assert_eq!(word(&judge(&rules, "POST", "/body", &gzip, "y").0), "block");
    assert_eq!(word(&judge(&rules, "POST", "/body", &[], "y").0), "unclassified");
    assert_eq!(word(&judge(&rules, "GET", "/body", &gzip, "y").0), "pass");
    assert_eq!(word(&judge(&rules, "POST", "/gql", &[], "{}").0), "unclassified");
    assert_eq!(word(&judge(&rules, "POST", "/gql", &[], "{").0), "block");
    assert_eq!(word(&judge(&rules, "POST", "/gql", &gzip, "{}").0), "block");
    let (Decision::Refuse(refusal), _) = judge(&rules, "POST", "/body", &gzip, "y") else { panic!() };
    assert!(
        refusal.reason.contains("the body cannot be judged: its content encoding gzip cannot be undone: "),
        "{}",
        refusal.reason
    );
}

#[test]
fn extensions() {
    let deny = rules(
        "read-only",
        json!({
            "unsafe_methods": "deny",
            "write_signatures": [{"method": "POST", "url": "/both"}, {"method": "GET", "url": "/h", "headers": {"X-Op": "^w"}}],
            "allow_signatures": [{"method": "POST", "url": "/search$"}, {"method": "GET", "url": "/h", "headers": {"x-ok": "^1$"}}],
            "drop_signatures": [{"method": "POST", "url": "/track"}, {"method": "POST", "url": "/both"}],
        }),
    );
    for (method, target, pairs, want) in [
        ("PUT", "/any", &[][..], "block"),
        ("POST", "/search", &[], "pass"),
        ("POST", "/track", &[], "drop"),
        ("POST", "/track/%2e%2e/x", &[], "block"),
        ("POST", "/both", &[], "block"),
        ("GET", "/h", &[("x-op", "read")], "pass"),
        ("GET", "/h", &[("x-op", "read"), ("x-op", "write")], "block"),
        ("GET", "/h", &[("x-op", "write"), ("x-ok", "1")], "pass"),
        ("GET", "/h", &[("x-op", "write"), ("x-ok", "1"), ("x-ok", "0")], "block"),
        ("OPTIONS", "/any?_method=PUT", &[], "block"),
        (
            "OPTIONS",
            "/any",
            &[("origin", "https://b.test"), ("access-control-request-method", "PUT")],
            "pass",
        ),
    ] {
        assert_eq!(word(&judge(&deny, method, target, pairs, "").0), want, "{method} {target} {pairs:?}");
    }
}

#[test]
fn scopes() {
    let observe = rules("scoped-write", orders());
    let enforce = |mut config: Value| {
        config["scope_requests"] = json!("enforce");
        rules("scoped-write", config)
    };
    let enforce = enforce(orders());
    let scopes = [Pattern::new("/edit/").unwrap()];
    let scope = |rules: &Rules, target: &str, body: &str, page| {
        let situation = Situation { standing: Standing::Open, scopes: &scopes, page };
        match judge_in(rules, "POST", target, &[], body, &situation).0 {
            Decision::Permit(permit) => permit.observed().and_then(|observed| observed.scope),
            _ => None,
        }
    };
    for rules in [&observe, &enforce] {
        assert_eq!(scope(rules, "/orders", "", Some("https://a.test/edit/1")), Some(Scope::Url));
        assert_eq!(scope(rules, "/orders?name=QA_TEST_1", "", None), Some(Scope::Prefix));
        assert_eq!(scope(rules, "/orders?name=QA%5FTEST_1", "", None), Some(Scope::Prefix));
    }
    assert_eq!(
        scope(&observe, "/orders", "QA_TEST_1", Some("https://a.test/")),
        Some(Scope::Unproven),
        "it streams"
    );
    assert_eq!(scope(&enforce, "/orders", "QA_TEST_1", None), Some(Scope::Prefix), "it is held");
    assert_eq!(scope(&enforce, "/orders", "other", None), None, "it is blocked");
}

#[test]
fn late_and_full_records() {
    let rules = rules("unrestricted", orders());
    let within = |standing, method: &str| {
        word(
            &judge_in(&rules, method, "/orders", &[], "", &Situation { standing, scopes: &[], page: None }).0,
        )
    };
    assert_eq!(within(Standing::Late, "POST"), "block");
    assert_eq!(within(Standing::Late, "GET"), "pass");
    assert_eq!(within(Standing::Full, "GET"), "block");
}

#[test]
fn web_sockets() {
    let rules = rules(
        "unrestricted",
        json!({
            "write_signatures": [
                {"method": "*", "url": "^https://a\\.test/live", "body": "save"}, {"method": "WS", "url": "^wss://a\\.test/ws$"},
                {"method": "POST", "url": "/posted"}, {"method": "GET", "url": "/got"}, {"method": "*", "url": "/any"},
            ],
            "allow_signatures": [{"method": "*", "url": "^wss://a\\.test/live/ok$"}, {"method": "GET", "url": "/live/get$"}],
        }),
    );
    for (target, want) in [
        ("/live", "pass"),
        ("/x/../live", "pass"),
        ("/ws", "pass"),
        ("/any", "observe"),
        ("/posted", "pass"),
        ("/got", "observe"),
        ("/live/ok", "pass"),
        ("/live/get", "pass"),
        ("/free", "pass"),
    ] {
        let headers = HeaderMap::new();
        let request = Request::web_socket("https://a.test", target, &headers);
        let decision = rules.examine(request, &headers, Body::Absent).decide(&OPEN);
        assert_eq!(word(&decision), want, "{target}");
    }
}

/// The rule in its shortest words, for requests in one spelling: some write signature matches, and no allow signature.
fn oracle(config: &MutationConfig, method: &str, target: &str, body: &str) -> bool {
    let matches = |signature: &WriteSignature| {
        let method_matches = match signature.method {
            SignatureMethod::Any => true,
            SignatureMethod::Http(name) => name == method,
            SignatureMethod::WebSocket => false,
        };
        let body_matches =
            signature.body.as_ref().is_none_or(|pattern| !body.is_empty() && pattern.is_match(body));
        method_matches && signature.url.is_match(&format!("https://a.test{target}")) && body_matches
    };
    config.write_signatures.iter().any(matches) && !config.allow_signatures.iter().any(matches)
}

fn signatures() -> impl Strategy<Value = Vec<Value>> {
    let method = prop::sample::select(vec!["GET", "POST", "PUT", "*", "WS"]);
    let url = prop::sample::select(vec![
        "/a",
        "/a$",
        "^https://a\\.test/b",
        "/(a|b)/\\d",
        "(?!x)a",
        "b\\?q=1",
        ".",
    ]);
    let body = prop::option::of(prop::sample::select(vec!["x", "^y", "z$", "."]));
    let signature = (method, url, body)
        .prop_map(|(method, url, body)| json!({"method": method, "url": url, "body": body}));
    proptest::collection::vec(signature, 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn agrees_with_the_oracle(
        write in signatures(), allow in signatures(),
        method in prop::sample::select(vec!["GET", "POST", "PUT", "HEAD"]),
        target in "/(a|b|a/1|b/2|c)?(\\?q=[12])?", body in "[xyz]{0,3}",
    ) {
        let rules = rules("read-only", json!({"write_signatures": write, "allow_signatures": allow}));
        let (decision, _) = judge(&rules, method, &target, &[], &body);
        prop_assert_eq!(word(&decision) == "block", oracle(rules.config(), method, &target, &body));
    }

    #[test]
    fn another_spelling_never_clears(
        write in signatures(), allow in signatures(), method in prop::sample::select(vec!["GET", "POST"]),
        target in "/(a|b|a/1|c)", noise in prop::sample::select(vec!["%61", "%62", "x/../", "x/%2e%2e/", "/", "./", ";p"]),
    ) {
        let rules = rules("read-only", json!({"write_signatures": write, "allow_signatures": allow}));
        let disguised = match noise {
            "%61" => target.replace('a', noise),
            "%62" => target.replace('b', noise),
            ";p" => format!("{target}{noise}"),
            _ => target.replacen('/', &format!("/{noise}"), 1),
        };
        if word(&judge(&rules, method, &target, &[], "").0) == "block" {
            prop_assert_eq!(word(&judge(&rules, method, &disguised, &[], "").0), "block", "{}", disguised);
        }
    }
}
