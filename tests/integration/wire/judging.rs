//! Which requests are blocked, observed or let through, over every way in.

use super::client::Client;
use super::guard::{Start, events};
use super::origin::Origin;
use serde_json::json;

fn orders() -> serde_json::Value {
    json!([
        { "method": "POST", "url": "/orders(\\?|$)" },
        { "method": "DELETE", "url": "/orders/\\d+$" },
        { "method": "POST", "url": "/graphql$", "body": "\"query\"\\s*:\\s*\"\\s*mutation" },
        { "method": "GET", "url": "/logout$" },
    ])
}

#[tokio::test]
async fn the_same_verdict_by_every_way_in() {
    let (clear, tls) = (Origin::clear().await, Origin::tls().await);
    let guard = Start::policy("read-only").signatures(orders()).trusting(&tls.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let absolute = format!("http://{}", clear.authority());
    let mut ways = [
        (Client::direct(&attempt.proxy).await, absolute.clone(), absolute),
        (
            Client::clear(&attempt.proxy, &clear.authority()).await,
            String::new(),
            format!("http://{}", clear.authority()),
        ),
        (
            Client::tls(&attempt.proxy, &tls.authority(), &ca).await,
            String::new(),
            format!("https://{}", tls.authority()),
        ),
        (
            Client::two(&attempt.proxy, &tls.authority(), &ca).await,
            format!("https://{}", tls.authority()),
            format!("https://{}", tls.authority()),
        ),
    ];
    let mut want = Vec::new();
    for (client, prefix, url) in &mut ways {
        let host = url.split("//").nth(1).unwrap().to_owned();
        let headers: &[(&str, &str)] = if prefix.starts_with("https") { &[] } else { &[("host", &host)] };
        let passed = client.send("GET", &format!("{prefix}/orders?x=1"), headers, b"").await;
        assert_eq!((passed.status, passed.json()["line"].as_str()), (200, Some("GET /orders?x=1")));
        let query =
            client.send("POST", &format!("{prefix}/graphql"), headers, br#"{"query":"query { a }"}"#).await;
        assert_eq!(query.json()["body"], r#"{"query":"query { a }"}"#, "a held body arrives whole");
        let blocked = client.send("POST", &format!("{prefix}/orders"), headers, b"{}").await;
        assert_eq!(blocked.status, 403);
        assert_eq!(blocked.headers["x-qa-pilot-blocked"], "write signature 0: POST /orders(\\?|$)");
        assert!(!blocked.headers.contains_key("access-control-allow-origin"));
        assert_eq!(
            blocked.json(),
            json!({ "blocked": { "reason": "write signature 0: POST /orders(\\?|$)", "method": "POST", "url": format!("{url}/orders") } })
        );
        let mutation = client
            .send("POST", &format!("{prefix}/graphql"), headers, br#"{"query":"mutation { a }"}"#)
            .await;
        assert_eq!(mutation.status, 403);
        let prefetch = [headers, &[("sec-purpose", "prefetch")]].concat();
        assert_eq!(client.send("GET", &format!("{prefix}/api/logout"), &prefetch, b"").await.status, 403);
        want.extend(["/orders", "/graphql"].map(|path| format!("block POST {url}{path}")));
        want.push(format!("block GET {url}/api/logout"));
    }
    let record = guard.record_of(&attempt).await;
    assert_eq!(events(&record), want);
    assert_eq!(record["routed_requests"], 20);
    assert_eq!(record["write_signatures"], 4);
    assert_eq!(record["unclassified"], 4, "the GraphQL query is a POST that no signature names");
    for origin in [&clear, &tls] {
        let lines = origin.lines();
        assert_eq!(lines, ["GET /orders?x=1", "POST /graphql", "GET /orders?x=1", "POST /graphql"]);
    }
}

#[tokio::test]
async fn observed_writes_pass_and_say_what_is_known_of_their_scope() {
    let origin = Origin::clear().await;
    let guard = Start::policy("scoped-write").signatures(orders()).run();
    let attempt = guard.begin("t1").await;
    let (status, _) =
        guard.call("POST", &format!("/attempts/{}/scope", attempt.id), json!({ "url": "/edit/\\d+" })).await;
    assert_eq!(status, 204);
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    let big = format!("{}QA_TEST_1", "x".repeat(300_000));
    for (target, headers, body) in [
        ("/orders", &[("referer", "https://a.test/edit/1")][..], ""),
        ("/orders?name=QA_TEST_1", &[], ""),
        ("/orders", &[], big.as_str()),
        ("/orders", &[], "other"),
    ] {
        assert_eq!(client.send("POST", target, headers, body.as_bytes()).await.status, 200);
    }
    let record = guard.record_of(&attempt).await;
    let scopes: Vec<_> =
        record["events"].as_array().unwrap().iter().map(|event| event["in_scope"].clone()).collect();
    assert_eq!(scopes, ["url", "prefix", "prefix", "unproven"]);
    assert_eq!((&record["blocked"], &record["observed"]), (&json!(0), &json!(4)));
    assert_eq!((&record["prefix"], &record["scope_urls"]), (&json!("QA_TEST_"), &json!(["/edit/\\d+"])));
    assert_eq!(origin.lines().len(), 4);
}

#[tokio::test]
async fn unproven_writes_are_blocked_where_the_host_says_so() {
    let origin = Origin::clear().await;
    let mut start = Start::policy("scoped-write");
    start.config = Some(json!({ "write_signatures": orders(), "scope_requests": "enforce" }));
    let guard = start.run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    assert_eq!(client.send("POST", "/orders", &[], b"name=QA_TEST_1").await.status, 200);
    assert_eq!(client.send("POST", "/orders", &[], b"name=other").await.status, 403);
    assert_eq!(origin.lines(), ["POST /orders"]);
}

#[tokio::test]
async fn allow_drop_and_unsafe_methods() {
    let origin = Origin::clear().await;
    let mut start = Start::policy("read-only");
    start.config = Some(json!({
        "unsafe_methods": "deny", "write_signatures": [{ "method": "POST", "url": "/orders/" }],
        "allow_signatures": [{ "method": "POST", "url": "/orders/_search$" }], "drop_signatures": [{ "method": "POST", "url": "/track$" }],
    }));
    let guard = start.run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    for (method, target, headers, status) in [
        ("POST", "/orders/_search", &[][..], 200),
        ("POST", "/orders/_search/../_bulk", &[], 403),
        ("POST", "/orders/_search/%2e%2e/_bulk", &[], 403),
        ("POST", "/orders/_search", &[("x-http-method-override", "DELETE")], 403),
        ("PUT", "/any", &[], 403),
        ("POST", "/track", &[], 204),
        ("OPTIONS", "/any", &[("origin", "https://b.test"), ("access-control-request-method", "PUT")], 200),
        (
            "OPTIONS",
            "/any?_method=PUT",
            &[("origin", "https://b.test"), ("access-control-request-method", "PUT")],
            403,
        ),
    ] {
        assert_eq!(
            client.send(method, target, headers, b"").await.status,
            status,
            "{method} {target} {headers:?}"
        );
    }
    let record = guard.record_of(&attempt).await;
    assert_eq!(
        (&record["dropped"], &record["blocked"], &record["routed_requests"]),
        (&json!(1), &json!(5), &json!(8))
    );
    assert_eq!(record["events"][2]["reason"], "write signature 0: POST /orders/");
    assert_eq!(origin.lines(), ["POST /orders/_search", "OPTIONS /any"]);
}

#[tokio::test]
async fn a_method_may_be_claimed_by_a_form_field() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").signatures(orders()).run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    let form = [("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(client.send("POST", "/orders/7", &form, b"a=1").await.status, 200);
    assert_eq!(client.send("POST", "/orders/7", &form, b"a=1&_method=delete").await.status, 403);
    let record = guard.record_of(&attempt).await;
    assert_eq!(record["events"][0]["effective_method"], "DELETE");
    assert_eq!(record["events"][0]["method"], "POST");
    assert_eq!(origin.lines(), ["POST /orders/7"]);
}

#[tokio::test]
async fn what_cannot_be_read_and_could_be_a_write_is_blocked() {
    let origin = Origin::clear().await;
    let mut start = Start::policy("read-only").signatures(orders());
    start.arguments.extend(["--max-body".into(), "1000".into()]);
    let guard = start.run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    let query = format!(r#"{{"query":"query {{ {} }}"}}"#, "a ".repeat(600));
    assert_eq!(
        client.send("POST", "/graphql", &[], query.as_bytes()).await.status,
        403,
        "longer than the cap"
    );
    assert_eq!(client.send("POST", "/graphql", &[("content-encoding", "gzip")], b"query").await.status, 403);
    assert_eq!(
        client.send("POST", "/other", &[], query.as_bytes()).await.status,
        200,
        "no rule needs this one"
    );
    let record = guard.record_of(&attempt).await;
    for event in record["events"].as_array().unwrap() {
        assert!(event["reason"].as_str().unwrap().contains("cannot be judged"), "{event}");
    }
    assert_eq!(origin.lines(), ["POST /other"]);
}
