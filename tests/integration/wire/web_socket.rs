//! WebSockets: relayed with the origin's own answer, raw or, where a signature speaks about messages, judged one by one.

use super::client::{Client, read_head, secured, tunnel};
use super::guard::{Start, events};
use super::origin::Origin;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

fn handshake(host: &str, path: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: chat\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\
         Cookie: a=1\r\nOrigin: http://{host}\r\n\r\n"
    )
}

async fn relayed(mut stream: impl AsyncRead + AsyncWrite + Unpin, host: &str) {
    stream.write_all(handshake(host, "/ws").as_bytes()).await.unwrap();
    let head = read_head(&mut stream).await.to_lowercase();
    assert!(head.starts_with("http/1.1 101 "), "{head}");
    assert!(head.contains("sec-websocket-protocol: chat") && head.contains("upgrade: websocket"), "{head}");
    // Bytes that look like a request are none any more.
    for message in ["GET /x HTTP/1.1\r\n\r\n", "POST bytes", "\0\x01\x02"] {
        stream.write_all(message.as_bytes()).await.unwrap();
        let mut back = vec![0; message.len()];
        stream.read_exact(&mut back).await.unwrap();
        assert_eq!(back, message.as_bytes());
    }
}

#[tokio::test]
async fn where_no_signature_matches_it_is_relayed() {
    let (clear, tls) = (Origin::clear().await, Origin::tls().await);
    let signatures = json!([{ "method": "POST", "url": "/ws" }, { "method": "*", "url": "/other" }]);
    let guard = Start::policy("read-only").signatures(signatures).trusting(&tls.ca()).run();
    let attempt = guard.begin("t1").await;
    relayed(tunnel(&attempt.proxy, &clear.authority()).await, &clear.authority()).await;
    let ca = guard.run_dir().join("ca.pem");
    relayed(secured(&attempt.proxy, &tls.authority(), &ca, &["http/1.1"]).await, &tls.authority()).await;
    for origin in [&clear, &tls] {
        let seen = origin.seen();
        assert_eq!(seen.len(), 1);
        assert_eq!(
            (&seen[0].headers["cookie"], &seen[0].headers["sec-websocket-version"]),
            (&"a=1".parse().unwrap(), &"13".parse().unwrap())
        );
        assert_eq!(
            seen[0].headers["sec-websocket-extensions"], "permessage-deflate",
            "nothing is judged here"
        );
    }
    let record = guard.record_of(&attempt).await;
    assert_eq!((&record["routed_requests"], &record["blocked"]), (&json!(2), &json!(0)));
}

#[tokio::test]
async fn a_handshake_that_the_origin_refuses_is_refused_and_the_connection_lives_on() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let mut stream = tunnel(&attempt.proxy, &host).await;
    stream.write_all(handshake(&host, "/ws?no").as_bytes()).await.unwrap();
    let head = read_head(&mut stream).await;
    assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
    stream.write_all(format!("GET /x HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_handshake_is_judged_as_a_get() {
    let origin = Origin::clear().await;
    let host = origin.authority();
    let guard = Start::policy("unrestricted").signatures(json!([{ "method": "GET", "url": "^ws://" }])).run();
    let attempt = guard.begin("t1").await;
    relayed(tunnel(&attempt.proxy, &host).await, &host).await;
    assert_eq!(events(&guard.record_of(&attempt).await), [format!("observe GET ws://{host}/ws")]);
}

#[tokio::test]
async fn another_upgrade_is_an_ordinary_request() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    let headers =
        [("upgrade", "h2c"), ("connection", "Upgrade, HTTP2-Settings"), ("http2-settings", "AAMAAABk")];
    assert_eq!(client.send("GET", "/x", &headers, b"").await.status, 200);
    let seen = origin.seen();
    assert!(!seen[0].headers.contains_key("upgrade") && !seen[0].headers.contains_key("http2-settings"));
    assert_eq!(client.send("GET", "/y", &[], b"").await.status, 200);
}
