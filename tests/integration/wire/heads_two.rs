//! HTTP/2 heads that no browser sends, by bare frames: none is forwarded, and each is recorded.

use super::client::{Client, secured};
use super::guard::{PATIENCE, Start};
use super::origin::Origin;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, u8::from(kind != 4)], payload].concat()
}

/// Fields, each a literal that is not indexed (RFC 7541, section 6.2.2).
fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in fields {
        out.extend([0, u8::try_from(name.len()).unwrap()]);
        out.extend(name.as_bytes());
        if value.len() < 127 {
            out.push(u8::try_from(value.len()).unwrap());
        } else {
            // An integer with a prefix of seven bits (RFC 7541, section 5.1).
            out.push(127);
            let mut left = value.len() - 127;
            while left >= 128 {
                out.push(u8::try_from(left % 128).unwrap() | 128);
                left /= 128;
            }
            out.push(u8::try_from(left).unwrap());
        }
        out.extend(value.as_bytes());
    }
    out
}

#[tokio::test]
async fn none_is_forwarded_and_each_is_recorded() {
    let origin = Origin::tls().await;
    let host = origin.authority();
    let guard = Start::policy("read-only").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let (method, scheme, path) = ((":method", "GET"), (":scheme", "https"), (":path", "/x"));
    let authority = (":authority", host.as_str());
    let long = "x".repeat(300 << 10);
    let plain = [method, scheme, authority, path];
    let with = |field| [&plain[..], &[field]].concat();
    let cases = [
        (vec![method, scheme, authority], "PROTOCOL_ERROR"),
        (vec![method, scheme, authority, path, path], "PROTOCOL_ERROR"),
        (vec![method, scheme, authority, ("x", "y"), path], "PROTOCOL_ERROR"),
        (with((":unknown", "x")), "PROTOCOL_ERROR"),
        (with((":status", "200")), "PROTOCOL_ERROR"),
        (with(("connection", "close")), "PROTOCOL_ERROR"),
        (with(("transfer-encoding", "chunked")), "PROTOCOL_ERROR"),
        (with(("Upper", "case")), "PROTOCOL_ERROR"),
        (with(("te", "gzip")), "PROTOCOL_ERROR"),
        (with(("x", "a\r\nb: c")), "PROTOCOL_ERROR"),
        (with(("x", &long)), "longer than 262144 bytes"),
        (plain.to_vec(), ""),
    ];
    let mut whys = Vec::new();
    for (fields, why) in &cases {
        let mut stream = secured(&attempt.proxy, &host, &ca, &["h2"]).await;
        let block = block(fields);
        let mut bytes = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(4, 0, &[])].concat();
        let pieces: Vec<&[u8]> = block.chunks(16_000).collect();
        for (index, piece) in pieces.iter().enumerate() {
            let last = if index + 1 == pieces.len() { END_HEADERS } else { 0 };
            let (kind, flags) = if index == 0 { (HEADERS, END_STREAM) } else { (CONTINUATION, 0) };
            bytes.extend(frame(kind, flags | last, piece));
        }
        stream.write_all(&bytes).await.unwrap();
        stream.flush().await.unwrap();
        // Frames until the stream is answered or reset, or the connection ends.
        loop {
            let mut header = [0; 9];
            if timeout(PATIENCE, stream.read_exact(&mut header)).await.expect("no answer").is_err() {
                break;
            }
            let length = usize::from(header[1]) << 8 | usize::from(header[2]);
            stream.read_exact(&mut vec![0; length]).await.unwrap();
            if matches!(header[3], 1 | 3 | 7) {
                break;
            }
        }
        if !why.is_empty() {
            whys.push(*why);
        }
    }
    let mut client = Client::two(&attempt.proxy, &host, &ca).await;
    assert_eq!(client.send("GET", &format!("https://{host}/y"), &[], b"").await.status, 200);
    let record = guard.record_of(&attempt).await;
    let events = record["events"].as_array().unwrap();
    let reasons: Vec<&str> = events.iter().map(|event| event["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons.len(), whys.len(), "{reasons:?}");
    for (reason, why) in reasons.iter().zip(whys) {
        assert!(reason.contains(why), "{why}: {reason}");
    }
    assert_eq!((&events[0]["action"], &events[0]["method"]), (&json!("block"), &json!("?")));
    assert_eq!(events[0]["url"], format!("https://{host}"));
    assert_eq!(origin.lines(), ["GET /x", "GET /y"], "the two that are well formed");
}
