//! Origins that speak HTTP/2: where they speak nothing else it is spoken to them, elsewhere HTTP/1.1.

use super::client::{Client, read_head, secured};
use super::guard::{Guard, Start};
use super::origin::Origin;
use super::pki::Pki;
use rustls::version::TLS13;
use serde_json::json;
use std::time::Duration;
use tokio::io::AsyncWriteExt;

async fn guard(pki: &Pki) -> Guard {
    Start::policy("read-only")
        .signatures(json!([{ "method": "POST", "url": "/orders" }]))
        .trusting(&pki.root())
        .run()
}

#[tokio::test]
async fn an_origin_of_http2_alone_is_spoken_to_over_one_connection() {
    let pki = Pki::new();
    let origin = Origin::with(pki.server(&["localhost"], &["h2"], &[&TLS13], false)).await;
    let guard = guard(&pki).await;
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let host = origin.authority();
    let one = Client::tls(&attempt.proxy, &host, &ca).await;
    let two = Client::two(&attempt.proxy, &host, &ca).await;
    for mut client in [one, two] {
        let at = |path: &str| format!("https://{host}{path}");
        let answer = client.send("POST", &at("/x?q=1"), &[("te", "trailers")], b"abc").await;
        assert_eq!((answer.status, &answer.json()["body"]), (200, &json!("abc")));
        let answer = client.send("GET", &at("/trailers"), &[("te", "trailers")], b"").await;
        assert_eq!(
            (answer.text().as_str(), &answer.trailers.unwrap()["x-sum"]),
            ("body", &"7".parse().unwrap())
        );
        assert!(client.send("HEAD", &at("/x"), &[], b"").await.body.is_empty());
        assert_eq!(client.send("GET", &at("/204"), &[], b"").await.status, 204);
        let large = client.send("POST", &at("/sink"), &[], &vec![b'x'; 3 << 20]).await;
        assert_eq!(large.text(), (3 << 20).to_string());
        assert_eq!(client.send("POST", &at("/orders"), &[], b"abc").await.status, 403);
    }
    let seen = origin.seen();
    assert!(seen.iter().all(|seen| !seen.headers.contains_key("connection")), "{seen:?}");
    assert_eq!(seen[0].line, format!("POST https://{host}/x?q=1"));
    assert_eq!(origin.lines().iter().filter(|line| line.contains("/orders")).count(), 0);
    // The first connection found out what is spoken; all that followed shares the second.
    assert_eq!(origin.connections(), 2);
}

#[tokio::test]
async fn an_origin_that_speaks_both_gets_http1() {
    let pki = Pki::new();
    let origin = Origin::with(pki.server(&["localhost"], &["h2", "http/1.1"], &[&TLS13], false)).await;
    let guard = guard(&pki).await;
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let host = origin.authority();
    let mut client = Client::two(&attempt.proxy, &host, &ca).await;
    for _ in 0..3 {
        assert_eq!(client.send("GET", &format!("https://{host}/x"), &[], b"").await.status, 200);
    }
    assert_eq!(origin.lines()[0], "GET /x", "in origin form");
    assert_eq!(origin.connections(), 1);
}

#[tokio::test]
async fn a_client_that_leaves_ends_a_stream_of_http2() {
    let pki = Pki::new();
    let origin = Origin::with(pki.server(&["localhost"], &["h2"], &[&TLS13], false)).await;
    let guard = guard(&pki).await;
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let host = origin.authority();
    let mut client = Client::two(&attempt.proxy, &host, &ca).await;
    let events = client.begin("GET", &format!("https://{host}/events"), &[], b"").await;
    drop((events, client));
    let began = std::time::Instant::now();
    while origin.gone() == 0 {
        assert!(began.elapsed() < super::guard::PATIENCE, "the origin's stream goes on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_web_socket_to_an_origin_of_http2_alone_is_refused_with_the_reason() {
    let pki = Pki::new();
    let origin = Origin::with(pki.server(&["localhost"], &["h2"], &[&TLS13], false)).await;
    let guard = guard(&pki).await;
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let mut stream = secured(&attempt.proxy, &host, &guard.run_dir().join("ca.pem"), &["http/1.1"]).await;
    let head = format!(
        "GET /ws HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = read_head(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 502 ") && answer.contains("x-qa-pilot-error: protocol"), "{answer}");
    assert!(origin.lines().is_empty());
}
