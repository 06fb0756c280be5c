//! Bodies stream both ways, whatever their size.

use super::client::{Client, connect, exchange, read_head, tunnel};
use super::guard::{Guard, PATIENCE, Start};
use super::origin::Origin;
use http_body_util::BodyExt;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const LARGE: usize = 64 << 20;

/// Peak resident memory in MiB.
fn peak(guard: &Guard) -> u64 {
    guard.memory("VmHWM:") / 1024
}

#[tokio::test]
async fn memory_stays_flat_while_64_mib_pass_both_ways() {
    let origin = Origin::tls().await;
    let signatures = json!([{ "method": "POST", "url": "/orders", "body": "x" }]);
    let guard = Start::policy("scoped-write").signatures(signatures).trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let host = origin.authority();
    let at = |path: &str| format!("https://{host}{path}");
    for mut client in
        [Client::tls(&attempt.proxy, &host, &ca).await, Client::two(&attempt.proxy, &host, &ca).await]
    {
        let answer = client.send("POST", &at("/sink"), &[], &vec![b'x'; LARGE]).await;
        assert_eq!(answer.text(), LARGE.to_string());
        let mut body = client.begin("GET", &at("/big"), &[], b"").await.into_body();
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            length += frame.unwrap().data_ref().map_or(0, |data| data.len());
        }
        assert_eq!(length, LARGE);
    }
    println!("peak memory: {} MiB", peak(&guard));
    assert!(peak(&guard) < 40, "{} MiB", peak(&guard));
}

#[tokio::test]
async fn an_early_answer_reaches_a_client_that_still_uploads() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let mut stream = tunnel(&attempt.proxy, &origin.authority()).await;
    let head = format!(
        "POST /early HTTP/1.1\r\nHost: {}\r\nContent-Length: 1000000\r\n\r\nbegin",
        origin.authority()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 413 "));
}

#[tokio::test]
async fn a_blocked_upload_is_answered_and_read_to_its_end() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").signatures(json!([{ "method": "POST", "url": "/orders" }])).run();
    let attempt = guard.begin("t1").await;
    // A bare socket: hyper's client does not always go on after an answer that overtakes its upload.
    let host = origin.authority();
    let mut socket = tunnel(&attempt.proxy, &host).await;
    let length = 16 << 20;
    let head = format!("POST /orders HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n");
    socket.write_all(head.as_bytes()).await.unwrap();
    let upload = tokio::time::timeout(PATIENCE, socket.write_all(&vec![b'x'; length])).await;
    upload.expect("the upload is not read on").unwrap();
    let answer = read_head(&mut socket).await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    let next = format!("GET /x HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let rest = exchange(socket, next.as_bytes()).await;
    assert!(rest.contains("HTTP/1.1 200 "), "the connection lives on: {rest}");
    assert_eq!(origin.lines(), ["GET /x"]);
}

#[tokio::test]
async fn events_arrive_as_they_are_sent_and_a_client_that_leaves_ends_them() {
    let origin = Origin::tls().await;
    let guard = Start::policy("read-only").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let host = origin.authority();
    for (round, mut client) in
        [Client::tls(&attempt.proxy, &host, &ca).await, Client::two(&attempt.proxy, &host, &ca).await]
            .into_iter()
            .enumerate()
    {
        let mut body = client.begin("GET", &format!("https://{host}/events"), &[], b"").await.into_body();
        for _ in 0..3 {
            let frame =
                tokio::time::timeout(Duration::from_secs(2), body.frame()).await.expect("it is held back");
            assert_eq!(frame.unwrap().unwrap().into_data().unwrap(), "data: x\n\n");
        }
        drop((body, client));
        let began = Instant::now();
        while origin.gone() <= round {
            assert!(began.elapsed() < PATIENCE, "the origin's stream goes on");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test]
async fn a_finish_does_not_wait_for_streams_that_are_answered() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    let _open = client.begin("GET", "/events", &[], b"").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let began = Instant::now();
    assert_eq!(guard.finish(&attempt).await.0, 200);
    assert!(began.elapsed() < Duration::from_millis(400), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_finish_waits_for_a_body_that_decides() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only")
        .signatures(json!([{ "method": "POST", "url": "/orders", "body": "x" }]))
        .run();
    let attempt = guard.begin("t1").await;
    let mut stream = tunnel(&attempt.proxy, &origin.authority()).await;
    let head = format!("POST /orders HTTP/1.1\r\nHost: {}\r\nContent-Length: 1\r\n\r\n", origin.authority());
    stream.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let sending = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        stream.write_all(b"x").await.unwrap();
        assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 403 "));
    };
    let ((status, answer), ()) = tokio::join!(guard.finish(&attempt), sending);
    assert_eq!((status, &answer["record"]["blocked"]), (200, &json!(1)));
}

#[tokio::test]
async fn a_body_that_ends_early_is_recorded() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only")
        .signatures(json!([{ "method": "POST", "url": "/orders", "body": "x" }]))
        .run();
    let attempt = guard.begin("t1").await;
    let mut stream = tunnel(&attempt.proxy, &origin.authority()).await;
    let head =
        format!("POST /orders HTTP/1.1\r\nHost: {}\r\nContent-Length: 9\r\n\r\nshort", origin.authority());
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let _ = stream.read(&mut [0; 100]).await;
    drop(stream);
    assert_eq!(guard.record_of(&attempt).await["blocked"], 1);
    assert!(origin.lines().is_empty());
}

#[tokio::test]
async fn small_answers_are_not_held_back() {
    let origin = Origin::tls().await;
    let guard = Start::policy("read-only").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    drop(connect(&attempt.proxy).await);
    let mut times = Vec::new();
    for _ in 0..20 {
        let began = Instant::now();
        Client::tls(&attempt.proxy, &origin.authority(), &ca).await.send("GET", "/x", &[], b"").await;
        times.push(began.elapsed());
    }
    times.sort();
    // Held back, each would take 40 ms at least; a busy machine may slow some down.
    assert!(times[2] < Duration::from_millis(35), "{times:?}");
}
