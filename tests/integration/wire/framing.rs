//! Heads with more than one reading: 400, closed, recorded, and nothing of them reaches the origin.

use super::client::{connect, exchange, secured, tunnel};
use super::guard::{Start, events};
use super::origin::Origin;
use tokio::io::AsyncWriteExt;

const AMBIGUOUS: [&str; 9] = [
    "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
    "Transfer-Encoding: chunked\t\r\n",
    "Transfer-Encoding : chunked\r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "Content-Length: 5\r\nContent-Length: 6\r\n",
    "Content-Length: +5\r\n",
    "X-A: b\r\n folded: c\r\n",
    "X-A: b\nContent-Length: 5\r\n",
];

#[tokio::test]
async fn ambiguous_heads_are_refused_by_every_way_in() {
    let (clear, tls) = (Origin::clear().await, Origin::tls().await);
    let guard = Start::policy("read-only").trusting(&tls.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let mut want = Vec::new();
    for fields in AMBIGUOUS {
        let body = "0\r\n\r\nDELETE /orders/7 HTTP/1.1\r\nHost: x\r\n\r\n";
        let host = clear.authority();
        let absolute = format!("POST http://{host}/x HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n{body}");
        let inner = |host: &str| format!("POST /x HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n{body}");
        let answers = [
            exchange(connect(&attempt.proxy).await, absolute.as_bytes()).await,
            exchange(tunnel(&attempt.proxy, &host).await, inner(&host).as_bytes()).await,
            exchange(
                secured(&attempt.proxy, &tls.authority(), &ca, &["http/1.1"]).await,
                inner(&tls.authority()).as_bytes(),
            )
            .await,
        ];
        for answer in answers {
            assert!(answer.starts_with("HTTP/1.1 400 "), "{fields:?}: {answer}");
            assert_eq!(answer.matches("HTTP/1.1").count(), 1, "one answer: {answer}");
        }
        want.extend([
            format!("block POST http://{host}/x"),
            format!("block POST http://{host}/x"),
            format!("block POST https://{}/x", tls.authority()),
        ]);
    }
    let record = guard.record_of(&attempt).await;
    assert_eq!(events(&record), want);
    assert_eq!(record["routed_requests"], 0);
    assert!(clear.lines().is_empty() && tls.lines().is_empty());
}

#[tokio::test]
async fn keep_alive_heads_are_checked_too_and_earlier_answers_arrive() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let good = format!("POST /sink HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n");
    let chunked = format!(
        "POST /sink HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    );
    let bad = format!(
        "DELETE /x HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    let answer = exchange(
        tunnel(&attempt.proxy, &host).await,
        format!("{good}{chunked}\r\n{good}{bad}{good}").as_bytes(),
    )
    .await;
    let statuses: Vec<_> =
        answer.match_indices("HTTP/1.1 ").map(|(at, _)| &answer[at + 9..at + 12]).collect();
    assert_eq!(statuses, ["200", "200", "200", "400"], "{answer}");
    assert_eq!(origin.lines(), ["POST /sink", "POST /sink", "POST /sink"]);
    assert_eq!(events(&guard.record_of(&attempt).await), [format!("block DELETE http://{host}/x")]);
}

#[tokio::test]
async fn a_request_hidden_behind_an_empty_body_is_judged_like_any_other() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only")
        .signatures(serde_json::json!([{ "method": "DELETE", "url": "/orders" }]))
        .run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let hidden = format!(
        "POST /a HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\nDELETE /orders/7 HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    );
    let answer = exchange(tunnel(&attempt.proxy, &host).await, hidden.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("HTTP/1.1 403 "), "{answer}");
    assert_eq!(origin.lines(), ["POST /a"]);
    assert_eq!(events(&guard.record_of(&attempt).await), [format!("block DELETE http://{host}/orders/7")]);
}

#[tokio::test]
async fn a_head_cut_into_single_bytes_is_one_head() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let mut stream = connect(&attempt.proxy).await;
    let bytes = format!("CONNECT {host} HTTP/1.1\r\n\r\n");
    for byte in bytes.bytes() {
        stream.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert!(super::client::read_head(&mut stream).await.starts_with("HTTP/1.1 200"));
    for byte in format!("GET /cut HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").bytes() {
        stream.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert!(super::client::read_all(&mut stream).await.contains("GET /cut"));
    assert_eq!(events(&guard.record_of(&attempt).await), [""; 0]);
}

#[tokio::test]
async fn what_breaks_off_or_breaks_its_chunks_is_recorded() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let mut cut = tunnel(&attempt.proxy, &host).await;
    cut.write_all(b"GET /half HTTP/1.1\r\nHost: ").await.unwrap();
    drop(cut);
    let broken = format!(
        "POST /sink HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n"
    );
    exchange(tunnel(&attempt.proxy, &host).await, broken.as_bytes()).await;
    let record = guard.record_of(&attempt).await;
    assert_eq!(record["blocked"], 2, "{record}");
    assert!(origin.lines().is_empty(), "{:?}", origin.lines());
}
