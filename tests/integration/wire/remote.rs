//! A guard that other machines reach: every port wants the token.

use super::client::{Client, connect, exchange};
use super::guard::Start;
use super::origin::Origin;
use base64::Engine;
use serde_json::json;

#[tokio::test]
async fn every_port_wants_the_token() {
    let origin = Origin::clear().await;
    let signatures = json!([{ "method": "POST", "url": "/orders" }]);
    let start = Start::policy("read-only").signatures(signatures);
    let guard = start.with(&["--listen", "0.0.0.0:0", "--allow-remote"]).run();
    let attempt = guard.begin("t1").await;
    let run_proxy = guard.text("run_proxy").replace("http://", "");
    assert!(attempt.proxy.starts_with("127.0.0.1:") && run_proxy.starts_with("127.0.0.1:"), "{run_proxy}");
    let host = origin.authority();
    let right = base64::engine::general_purpose::STANDARD.encode(format!("run:{}", guard.text("token")));
    let wrong = base64::engine::general_purpose::STANDARD.encode("run:0123456789abcdef0123456789abcdef");
    let inner = format!("GET /x HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    for port in [attempt.proxy.as_str(), run_proxy.as_str()] {
        for (credentials, known) in [(None, false), (Some(&wrong), false), (Some(&right), true)] {
            let field = credentials
                .map(|value| format!("Proxy-Authorization: Basic {value}\r\n"))
                .unwrap_or_default();
            let absolute =
                format!("GET http://{host}/x HTTP/1.1\r\nHost: {host}\r\n{field}Connection: close\r\n\r\n");
            let tunnelled = format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n{field}\r\n{inner}");
            for request in [absolute, tunnelled] {
                let answer = exchange(connect(port).await, request.as_bytes()).await;
                let first = if known { "HTTP/1.1 200 " } else { "HTTP/1.1 407 " };
                assert!(answer.starts_with(first), "{port} {credentials:?}: {answer}");
                assert_eq!(answer.contains("proxy-authenticate: Basic"), !known, "{answer}");
            }
        }
    }
    assert_eq!(origin.lines().len(), 4);
    assert!(origin.seen().iter().all(|seen| !seen.headers.contains_key("proxy-authorization")));
    let record = guard.record_of(&attempt).await;
    assert_eq!((&record["routed_requests"], &record["blocked"]), (&json!(2), &json!(0)));
}

#[tokio::test]
async fn another_loopback_address_serves_every_port() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").with(&["--listen", "127.0.0.2:0"]).run();
    let attempt = guard.begin("t1").await;
    assert!(
        attempt.proxy.starts_with("127.0.0.2:") && guard.text("run_proxy").starts_with("http://127.0.0.2:")
    );
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    assert_eq!(client.send("GET", "/x", &[], b"").await.status, 200);
}
