//! Client messages of WebSockets: judged where a signature speaks about them, and passed on as they were sent.

use super::client::{read_head, secured, tunnel};
use super::guard::{Attempt, Guard, PATIENCE, Start, events};
use super::origin::Origin;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const BLOCKED: &[u8] = b"\x88\x15\x03\xf0blocked by qa-pilot";

fn signatures() -> Value {
    json!([
        { "method": "*", "url": "^ws://[^/]*/ws$", "body": "\"op\":\"save\"" },
        { "method": "WS", "url": "^https://[^/]*/ws$", "body": "\"op\":\"save\"" },
        { "method": "WS", "url": "/ws\\?all$" },
        { "method": "WS", "url": "/ws\\?gql$", "graphql": ["mutation"] },
        { "method": "*", "url": "/ws\\?listed$" },
    ])
}

fn handshake(host: &str, path: &str, version: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: {version}\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
    )
}

/// A masked frame.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    match payload.len() {
        length @ 0..126 => out.push(0x80 | u8::try_from(length).unwrap()),
        length => {
            out.push(0x80 | 126);
            out.extend(u16::try_from(length).unwrap().to_be_bytes());
        }
    }
    let key = [1, 2, 3, 4];
    out.extend(key);
    out.extend(payload.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key));
    out
}

async fn open<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, host: &str, path: &str) -> S {
    stream.write_all(handshake(host, path, "13").as_bytes()).await.unwrap();
    let head = read_head(&mut stream).await;
    assert!(head.starts_with("HTTP/1.1 101 "), "{path}: {head}");
    stream
}

async fn socket(attempt: &Attempt, origin: &Origin, path: &str) -> TcpStream {
    let host = origin.authority();
    open(tunnel(&attempt.proxy, &host).await, &host, path).await
}

/// The origin echoes what reaches it.
async fn passes(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), bytes: &[u8]) {
    stream.write_all(bytes).await.unwrap();
    stream.flush().await.unwrap();
    let mut back = vec![0; bytes.len()];
    timeout(PATIENCE, stream.read_exact(&mut back)).await.expect("no echo").unwrap();
    assert_eq!(back, bytes, "it arrives as it was sent");
}

/// The socket is closed by a frame that says why, and nothing of it reached the origin.
async fn is_closed(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), bytes: &[u8]) {
    stream.write_all(bytes).await.unwrap();
    stream.flush().await.unwrap();
    let mut rest = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut rest)).await.expect("it stays open");
    assert_eq!(rest, BLOCKED, "{bytes:?}");
}

async fn guarded(policy: &str) -> (Origin, Guard, Attempt) {
    let origin = Origin::clear().await;
    let guard = Start::policy(policy).signatures(signatures()).run();
    let attempt = guard.begin("t1").await;
    (origin, guard, attempt)
}

#[tokio::test]
async fn what_no_signature_names_passes_and_what_one_names_closes_the_socket() {
    let (origin, guard, attempt) = guarded("read-only").await;
    let save = br#"{"op":"save"}"#;
    let load = br#"{"op":"load"}"#;
    let wide: Vec<u8> = r#"{"op":"save"}"#.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let (head, tail) = save.split_at(8);
    let writes = [
        frame(0x81, save),
        frame(0x82, save),
        frame(0x82, &wide),
        frame(0x81, br#"{"op":"\u0073ave"}"#),
        [frame(0x01, head), frame(0x89, b"ping"), frame(0x80, tail)].concat(),
        [frame(0x81, load), frame(0x81, save)].concat(),
    ];
    for (index, write) in writes.iter().enumerate() {
        let mut stream = socket(&attempt, &origin, "/ws").await;
        for read in [
            frame(0x81, load),
            frame(0x82, &[0xff; 300]),
            frame(0x81, b""),
            frame(0x89, b"ping"),
            frame(0x8a, b""),
            [frame(0x01, br#"{"op":"#), frame(0x80, br#""load"}"#)].concat(),
        ] {
            passes(&mut stream, &read).await;
        }
        if index < 4 {
            is_closed(&mut stream, write).await;
        } else {
            // What may pass before it does.
            stream.write_all(write).await.unwrap();
            let mut rest = Vec::new();
            let _ = timeout(PATIENCE, stream.read_to_end(&mut rest)).await.expect("it stays open");
            let passed = if index == 4 { frame(0x89, b"ping") } else { frame(0x81, load) };
            assert!(rest == [&passed[..], BLOCKED].concat() || rest == BLOCKED, "{rest:?}");
        }
    }
    let record = guard.record_of(&attempt).await;
    let url = format!("ws://{}/ws", origin.authority());
    assert_eq!(events(&record), vec![format!("block WS {url}"); writes.len()]);
    assert_eq!(record["routed_requests"], writes.len(), "messages are no requests");
    assert_eq!(record["events"][0]["source"], "websocket");
    assert_eq!(record["events"][0]["reason"], "write signature 0: * ^ws://[^/]*/ws$");
    assert!(origin.seen().iter().all(|seen| !seen.headers.contains_key("sec-websocket-extensions")));
}

#[tokio::test]
async fn over_tls_it_is_the_same() {
    let origin = Origin::tls().await;
    let guard = Start::policy("read-only").signatures(signatures()).trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let ca = guard.run_dir().join("ca.pem");
    let mut stream = open(secured(&attempt.proxy, &host, &ca, &["http/1.1"]).await, &host, "/ws").await;
    passes(&mut stream, &frame(0x81, b"load")).await;
    is_closed(&mut stream, &frame(0x81, br#"{"op":"save"}"#)).await;
    assert_eq!(events(&guard.record_of(&attempt).await), [format!("block WS wss://{host}/ws")]);
}

#[tokio::test]
async fn what_cannot_be_judged_closes_the_socket_under_every_policy() {
    let mut start = Start::policy("unrestricted").signatures(signatures());
    start.arguments.extend(["--max-body".into(), "500".into()]);
    let (origin, guard) = (Origin::clear().await, start.run());
    let attempt = guard.begin("t1").await;
    let cases: [(Vec<u8>, &str); 14] = [
        (frame(0xc1, b"x"), "reserved bits"),
        (frame(0x83, b"x"), "reserved opcode"),
        (vec![0x81, 1, b'x'], "without a mask"),
        (vec![0x81, 0xfe, 0, 1, 0, 0, 0, 0, b'x'], "the shortest way"),
        (frame(0x09, b"x"), "in fragments"),
        (frame(0x89, &[0; 126]), "too long"),
        (frame(0x80, b"x"), "without a message"),
        ([frame(0x01, b"x"), frame(0x81, b"y")].concat(), "within a message"),
        (frame(0x81, &[b'x'; 501]), "longer than 500 bytes"),
        (vec![0x82, 0xff, 0, 0, 0, 9, 0, 0, 0, 0], "longer than 500 bytes"),
        ([frame(0x01, &[b'x'; 300]), frame(0x80, &[b'x'; 300])].concat(), "longer than 500 bytes"),
        (frame(0x81, b"\xff"), "not UTF-8"),
        (frame(0x81, b"\xed\xa0\x80"), "not UTF-8"),
        (frame(0x88, b"x"), "half a code"),
    ];
    let mut whys: Vec<&str> = Vec::new();
    for (bytes, why) in &cases {
        let mut stream = socket(&attempt, &origin, "/ws").await;
        if bytes[1..].starts_with(&[0xff]) {
            // A header says enough when the whole of it is there.
            stream.write_all(bytes).await.unwrap();
            is_closed(&mut stream, &[0; 4]).await;
        } else {
            is_closed(&mut stream, bytes).await;
        }
        whys.push(why);
    }
    for cut in [frame(0x01, b"x"), frame(0x81, b"xyz")[..7].to_vec()] {
        let mut stream = socket(&attempt, &origin, "/ws").await;
        stream.write_all(&cut).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut rest = Vec::new();
        timeout(PATIENCE, stream.read_to_end(&mut rest)).await.expect("it stays open").unwrap();
        assert_eq!(rest, b"", "no part of a message reached the origin");
        whys.push("the connection ended within it");
    }
    let record = guard.record_of(&attempt).await;
    assert_eq!(record["blocked"], whys.len());
    for (event, why) in record["events"].as_array().unwrap().iter().zip(whys) {
        let reason = event["reason"].as_str().unwrap();
        assert!(
            reason.starts_with("a websocket message cannot be judged: ") && reason.contains(why),
            "{why}: {reason}"
        );
        assert_eq!(event["method"], "WS");
    }
}

#[tokio::test]
async fn observed_messages_pass_and_say_what_is_known_of_their_scope() {
    let (origin, guard, attempt) = guarded("scoped-write").await;
    let mut stream = socket(&attempt, &origin, "/ws").await;
    passes(&mut stream, &frame(0x81, br#"{"op":"save","name":"QA_TEST_1"}"#)).await;
    passes(&mut stream, &frame(0x81, br#"{"op":"save"}"#)).await;
    passes(&mut stream, &frame(0x81, br#"{"op":"load"}"#)).await;
    // An end without a close is an end.
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0);
    let record = guard.record_of(&attempt).await;
    let scopes: Vec<_> =
        record["events"].as_array().unwrap().iter().map(|event| &event["in_scope"]).collect();
    assert_eq!(scopes, ["prefix", "unproven"]);
    assert_eq!((&record["blocked"], &record["observed"]), (&json!(0), &json!(2)));
}

#[tokio::test]
async fn a_signature_without_a_body_names_every_message_and_an_asterisk_the_handshake_too() {
    let (origin, guard, attempt) = guarded("read-only").await;
    let host = origin.authority();
    let mut stream = socket(&attempt, &origin, "/ws?all").await;
    passes(&mut stream, &frame(0x89, b"")).await;
    is_closed(&mut stream, &frame(0x81, b"")).await;
    let mut gql = socket(&attempt, &origin, "/ws?gql").await;
    for read in [
        r#"{"type":"connection_init"}"#,
        r#"{"id":"1","type":"subscribe","payload":{"query":"subscription { a(b: \"mutation\") }"}}"#,
    ] {
        passes(&mut gql, &frame(0x81, read.as_bytes())).await;
    }
    is_closed(
        &mut gql,
        &frame(0x81, br#"{"id":"1","type":"subscribe","payload":{"query":"mutation { a }"}}"#),
    )
    .await;
    for (path, version) in [("/ws?listed", "13"), ("/ws?all", "8")] {
        let mut refused = tunnel(&attempt.proxy, &host).await;
        refused.write_all(handshake(&host, path, version).as_bytes()).await.unwrap();
        assert!(read_head(&mut refused).await.starts_with("HTTP/1.1 403 "), "{path}");
    }
    let record = guard.record_of(&attempt).await;
    let url = |path: &str| format!("ws://{host}/ws?{path}");
    assert_eq!(
        events(&record),
        [
            format!("block WS {}", url("all")),
            format!("block WS {}", url("gql")),
            format!("block GET {}", url("listed")),
            format!("block GET {}", url("all")),
        ]
    );
    assert!(record["events"][3]["reason"].as_str().unwrap().ends_with("the websocket version 8 is not 13"));
}

#[tokio::test]
async fn many_large_messages_pass_with_back_pressure() {
    let (origin, guard, attempt) = guarded("read-only").await;
    let stream = socket(&attempt, &origin, "/ws").await;
    let (mut from, mut to) = stream.into_split();
    let message = frame(0x82, &[0; 60_000]);
    let total = message.len() * 200;
    let sending = tokio::spawn(async move {
        for _ in 0..200 {
            to.write_all(&message).await.unwrap();
        }
        to
    });
    let mut chunk = vec![0; 64 << 10];
    let mut got = 0;
    while got < total {
        got += timeout(PATIENCE, from.read(&mut chunk)).await.expect("it stalls").unwrap();
    }
    assert_eq!(got, total);
    drop(sending.await.unwrap());
    assert_eq!(guard.record_of(&attempt).await["events"], json!([]));
}
