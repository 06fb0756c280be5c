//! What a client sees of a blocked write with `--on-block reset`: a connection that fails, never one that just closes, since a
//! browser would send the write again.

use super::client::{Client, connect, exchange, read_all, secured, tunnel};
use super::guard::{Guard, PATIENCE, Start, events};
use super::origin::Origin;
use http_body_util::Full;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use tokio::io::AsyncWriteExt;

async fn guard(origin: &Origin) -> Guard {
    let signatures = json!([{ "method": "*", "url": "/orders" }]);
    let start = Start::policy("read-only").signatures(signatures).with(&["--on-block", "reset"]);
    start.trusting(&origin.ca()).run()
}

/// A head that no client takes for an answer, and nothing behind it.
fn assert_spoiled(answer: &str) {
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer:?}");
    assert!(answer.contains("x-qa-pilot-blocked: \0\0\0\0") && answer.ends_with("\r\n\r\n"), "{answer:?}");
}

#[tokio::test]
async fn on_http1_the_answer_is_none_and_the_connection_ends() {
    let origin = Origin::tls().await;
    let clear = Origin::clear().await;
    let guard = guard(&origin).await;
    let attempt = guard.begin("t1").await;
    let host = clear.authority();
    // By every way in, behind an answer that passes, and with a body that is still on its way.
    let large = vec![b'x'; 2 << 20];
    let head = format!("POST /orders HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n", large.len());
    let mut stream = tunnel(&attempt.proxy, &host).await;
    let upload = [head.as_bytes(), &large].concat();
    tokio::time::timeout(PATIENCE, stream.write_all(&upload)).await.expect("it is not read on").unwrap();
    assert_spoiled(&read_all(&mut stream).await);
    let pipelined = format!(
        "GET /x HTTP/1.1\r\nHost: {host}\r\n\r\nDELETE /orders/1 HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n"
    );
    let answers = exchange(tunnel(&attempt.proxy, &host).await, pipelined.as_bytes()).await;
    let second = answers.rfind("HTTP/1.1 ").unwrap();
    assert!(answers.starts_with("HTTP/1.1 200 ") && answers[..second].ends_with('}'), "{answers:?}");
    assert_spoiled(&answers[second..]);
    let absolute = format!("POST http://{host}/orders HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n");
    assert_spoiled(&exchange(connect(&attempt.proxy).await, absolute.as_bytes()).await);
    let host = origin.authority();
    let stream = secured(&attempt.proxy, &host, &guard.run_dir().join("ca.pem"), &["http/1.1"]).await;
    let request = format!("POST /orders HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n");
    assert_spoiled(&exchange(stream, request.as_bytes()).await);
    assert_eq!(events(&guard.record_of(&attempt).await).len(), 4);
    assert_eq!((clear.lines(), origin.lines()), (vec!["GET /x".to_owned()], Vec::new()));
}

#[tokio::test]
async fn on_http2_the_stream_is_cancelled_and_the_others_live_on() {
    let origin = Origin::tls().await;
    let guard = guard(&origin).await;
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let stream = secured(&attempt.proxy, &host, &guard.run_dir().join("ca.pem"), &["h2"]).await;
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    for (path, body, passes) in
        [("/x", 0, true), ("/orders", 0, false), ("/orders", 1 << 20, false), ("/x", 0, true)]
    {
        let request = http::Request::post(format!("https://{host}{path}"));
        let body = Full::new(bytes::Bytes::from(vec![b'x'; body]));
        sender.ready().await.unwrap();
        match sender.send_request(request.body(body).unwrap()).await {
            Ok(answer) => assert_eq!((answer.status().as_u16(), passes), (200, true)),
            Err(error) => {
                let source = std::error::Error::source(&error).unwrap();
                let reason = source.downcast_ref::<h2::Error>().unwrap().reason();
                assert_eq!((reason, passes), (Some(h2::Reason::CANCEL), false));
            }
        }
    }
    assert_eq!(events(&guard.record_of(&attempt).await).len(), 2);
}

#[tokio::test]
async fn what_is_refused_for_another_reason_is_answered_as_ever() {
    let origin = Origin::tls().await;
    let guard = guard(&origin).await;
    let attempt = guard.begin("t1").await;
    let mut client = Client::tls(&attempt.proxy, &origin.authority(), &guard.run_dir().join("ca.pem")).await;
    assert_eq!(client.send("GET", "/x", &[("host", "other.test")], b"").await.status, 421);
}

#[tokio::test]
async fn a_blocked_head_request_has_no_body_on_either_protocol() {
    let origin = Origin::tls().await;
    let signatures = json!([{ "method": "*", "url": "/orders" }]);
    let guard = Start::policy("read-only").signatures(signatures).trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let host = origin.authority();
    for mut client in
        [Client::tls(&attempt.proxy, &host, &ca).await, Client::two(&attempt.proxy, &host, &ca).await]
    {
        let answer = client.send("HEAD", &format!("https://{host}/orders"), &[], b"").await;
        assert_eq!((answer.status, answer.body.len()), (403, 0));
        assert_eq!(client.send("GET", &format!("https://{host}/x"), &[], b"").await.status, 200);
    }
}
