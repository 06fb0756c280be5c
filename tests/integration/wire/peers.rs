//! What users of such proxies report, where no other page holds it: framing between the protocols, informational answers, names
//! and protocols in handshakes, connections that went stale, limits.

use super::client::{Client, collect, connect, exchange, read_head, secured, tunnel};
use super::guard::{Start, events};
use super::origin::Origin;
use super::pki::Pki;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::server::Acceptor;
use serde_json::json;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::LazyConfigAcceptor;

/// An origin in clear text that answers each connection with `answer` to every head, and then does what `after` says.
async fn raw(answer: &'static str, closes: bool) -> (String, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("localhost:{}", listener.local_addr().unwrap().port());
    let serving = tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                while !read_head(&mut socket).await.is_empty() {
                    socket.write_all(answer.as_bytes()).await.unwrap();
                    if closes {
                        break;
                    }
                }
            });
        }
    });
    (host, serving)
}

/// A body that does not say how long it is.
struct Unsized(Option<Bytes>);

impl Body for Unsized {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[tokio::test]
async fn a_length_is_kept_and_none_becomes_chunks() {
    let origin = Origin::tls().await;
    let guard = Start::policy("read-only").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let host = origin.authority();
    for mut client in
        [Client::tls(&attempt.proxy, &host, &ca).await, Client::two(&attempt.proxy, &host, &ca).await]
    {
        assert_eq!(client.send("POST", &format!("https://{host}/sink"), &[], b"abc").await.text(), "3");
    }
    for seen in origin.seen() {
        assert_eq!(seen.headers["content-length"], "3");
        assert!(!seen.headers.contains_key("transfer-encoding"), "{seen:?}");
    }
    let stream = secured(&attempt.proxy, &host, &ca, &["h2"]).await;
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request =
        http::Request::post(format!("https://{host}/sink")).body(Unsized(Some("abcd".into()))).unwrap();
    assert_eq!(collect(sender.send_request(request).await.unwrap()).await.text(), "4");
    let last = origin.seen().pop().unwrap();
    assert_eq!(
        (last.headers.get("content-length"), &last.headers["transfer-encoding"]),
        (None, &"chunked".parse().unwrap())
    );
}

#[tokio::test]
async fn informational_answers_are_never_taken_for_the_answer() {
    let (host, _serving) = raw(
        "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n\
         HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole",
        false,
    )
    .await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &host).await;
    for _ in 0..2 {
        let answer = client.send("GET", "/x", &[], b"").await;
        assert_eq!((answer.status, answer.text().as_str()), (200, "whole"));
        assert!(!answer.headers.contains_key("link"));
    }
}

#[tokio::test]
async fn trailers_behind_an_empty_body_arrive() {
    let (host, _serving) = raw(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: grpc-status\r\n\r\n0\r\ngrpc-status: 7\r\n\r\n",
        false,
    )
    .await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let answer =
        Client::clear(&attempt.proxy, &host).await.send("GET", "/x", &[("te", "trailers")], b"").await;
    assert_eq!((answer.body.len(), &answer.trailers.unwrap()["grpc-status"]), (0, &"7".parse().unwrap()));
}

#[tokio::test]
async fn a_connection_that_the_origin_closed_is_no_fault_of_the_next_request() {
    let (host, _serving) = raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true).await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &host).await;
    for _ in 0..20 {
        assert_eq!(client.send("POST", "/x", &[], b"abc").await.status, 200);
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn many_and_long_fields_pass_both_ways() {
    let fields: String = (0..150).map(|n| format!("x-{n}: {}\r\n", "v".repeat(400))).collect();
    let answer = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 0\r\n\r\n");
    let (host, _serving) = raw(Box::leak(answer.into_boxed_str()), false).await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let request = format!("GET /x HTTP/1.1\r\nHost: {host}\r\n{fields}Connection: close\r\n\r\n");
    let answer = exchange(tunnel(&attempt.proxy, &host).await, request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("x-149: v"), "{}", &answer[..200]);
    let origin = Origin::tls().await;
    let guard = Start::policy("read-only").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let mut client = Client::two(&attempt.proxy, &host, &guard.run_dir().join("ca.pem")).await;
    let long = "v".repeat(100_000);
    let answer = client.send("GET", &format!("https://{host}/x"), &[("x-long", &long)], b"").await;
    assert_eq!((answer.status, origin.seen()[0].headers["x-long"].len()), (200, 100_000));
}

/// What the ClientHello of the guard to an origin says.
async fn hello(
    target: &str,
    host: &str,
    guard: &super::guard::Guard,
    proxy: &str,
    listener: &TcpListener,
) -> (Option<String>, Vec<String>) {
    let ca = guard.run_dir().join("ca.pem");
    let accept = async {
        let (socket, _): (TcpStream, _) = listener.accept().await.unwrap();
        let start = LazyConfigAcceptor::new(Acceptor::default(), socket).await.unwrap();
        let hello = start.client_hello();
        let protocols =
            hello.alpn().map(|names| names.map(|name| String::from_utf8_lossy(name).into_owned()).collect());
        (hello.server_name().map(str::to_owned), protocols.unwrap_or_default())
    };
    let ask = async {
        let mut client = Client::tls(proxy, target, &ca).await;
        client.send("GET", "/x", &[("host", host)], b"").await.status
    };
    let (hello, status) = tokio::join!(accept, ask);
    assert_eq!(status, 502);
    hello
}

#[tokio::test]
async fn handshakes_name_hosts_by_a_labels_and_never_an_address() {
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for (host, name) in [
        ("xn--bcher-kva.localhost", Some("xn--bcher-kva.localhost")),
        ("UPPER.localhost", Some("upper.localhost")),
        ("127.0.0.1", None),
    ] {
        let target = format!("{host}:{port}");
        let (sent, protocols) = hello(&target, &target, &guard, &attempt.proxy, &listener).await;
        assert_eq!((sent.as_deref(), protocols), (name, vec!["http/1.1".to_owned()]), "{host}");
    }
}

#[tokio::test]
async fn an_origin_of_old_ciphers_is_told_as_such() {
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = format!("localhost:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            // A fatal alert, handshake_failure (RFC 5246, section 7.2): no cipher in common.
            socket.write_all(&[0x15, 3, 3, 0, 2, 2, 40]).await.unwrap();
            let _ = socket.read(&mut [0; 1024]).await;
        }
    });
    let mut client = Client::tls(&attempt.proxy, &target, &guard.run_dir().join("ca.pem")).await;
    let answer = client.send("GET", "/x", &[], b"").await;
    assert_eq!((answer.status, &answer.headers["x-qa-pilot-error"]), (502, &"tls".parse().unwrap()));
    assert!(answer.text().contains("TLS 1.2 with ECDHE"), "{}", answer.text());
}

#[tokio::test]
async fn tls_to_the_guard_itself_is_refused_and_recorded() {
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let config = super::client::trusting(&guard.run_dir().join("ca.pem"), &[]);
    let name = rustls::pki_types::ServerName::try_from("127.0.0.1").unwrap();
    let socket = connect(&attempt.proxy).await;
    assert!(tokio_rustls::TlsConnector::from(config).connect(name, socket).await.is_err());
    let record = guard.record_of(&attempt).await;
    assert_eq!(events(&record), ["block ? ?"], "{record}");
}

#[tokio::test]
async fn an_early_answer_over_http2_reaches_a_client_that_still_uploads() {
    let origin = Origin::tls().await;
    let guard = Start::policy("read-only").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let mut client = Client::two(&attempt.proxy, &host, &guard.run_dir().join("ca.pem")).await;
    // The origin closes as well, which resets the upload; that does not spoil the connection for others.
    for _ in 0..5 {
        let answer = client.begin("POST", &format!("https://{host}/early"), &[], &vec![b'x'; 32 << 20]).await;
        assert_eq!(answer.status(), 413);
        drop(answer);
        assert_eq!(client.send("POST", &format!("https://{host}/sink"), &[], b"abc").await.text(), "3");
    }
}

#[tokio::test]
async fn origins_of_tls_1_2_alone_work() {
    let pki = Pki::new();
    let origin =
        Origin::with(pki.server(&["localhost"], &["http/1.1"], &[&rustls::version::TLS12], false)).await;
    let guard = Start::policy("read-only").trusting(&pki.root()).run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::tls(&attempt.proxy, &origin.authority(), &guard.run_dir().join("ca.pem")).await;
    assert_eq!(client.send("GET", "/x", &[], b"").await.status, 200);
}

#[tokio::test]
async fn no_two_guards_show_certificates_that_a_browser_could_mix_up() {
    let mut serials = std::collections::BTreeSet::new();
    for _ in 0..3 {
        let guard = Start::policy("read-only").run();
        let attempt = guard.begin("t1").await;
        let ca = guard.run_dir().join("ca.pem");
        let stream = secured(&attempt.proxy, "shop.test:443", &ca, &[]).await;
        for certificate in stream.get_ref().1.peer_certificates().unwrap() {
            // Two tags and lengths, the version, then the serial number (RFC 5280, section 4.1): all are of one length here.
            serials.insert(certificate[8 + 5..8 + 5 + 18].to_vec());
        }
    }
    assert_eq!(serials.len(), 6);
}

#[tokio::test]
async fn set_cookie_is_never_folded_and_a_field_that_comes_twice_stays_two() {
    let (host, _serving) = raw(
        "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT\r\nSet-Cookie: b=2\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 0\r\n\r\n",
        false,
    )
    .await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let answer = Client::clear(&attempt.proxy, &host).await.send("GET", "/x", &[], b"").await;
    assert_eq!(answer.headers.get_all("set-cookie").iter().count(), 2);
    assert_eq!(answer.headers.get_all("x-a").iter().collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(guard.record_of(&attempt).await["routed_requests"], json!(1));
}

#[tokio::test]
async fn web_sockets_over_http2_are_not_offered() {
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let mut stream = secured(&attempt.proxy, "shop.test:443", &guard.run_dir().join("ca.pem"), &["h2"]).await;
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let mut head = [0; 9];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(head[3], 4, "the first frame is SETTINGS");
    let mut settings = vec![0; usize::from(head[2])];
    stream.read_exact(&mut settings).await.unwrap();
    // ENABLE_CONNECT_PROTOCOL (RFC 8441, section 3): without it a browser opens an HTTP/1 connection for its WebSockets.
    assert!(settings.chunks(6).all(|setting| setting[..2] != [0, 8]), "{settings:?}");
}

#[tokio::test]
async fn connect_over_http2_is_refused_and_recorded() {
    let origin = Origin::tls().await;
    let guard = Start::policy("read-only").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let stream = secured(&attempt.proxy, &host, &guard.run_dir().join("ca.pem"), &["h2"]).await;
    let (mut sender, connection) = hyper::client::conn::http2::handshake::<_, _, Full<Bytes>>(
        TokioExecutor::new(),
        TokioIo::new(stream),
    )
    .await
    .unwrap();
    tokio::spawn(connection);
    let request = http::Request::connect(&host).body(Full::default()).unwrap();
    let answer = sender.send_request(request).await;
    assert!(answer.is_err() || answer.unwrap().status() == 400);
    assert!(origin.lines().is_empty());
    assert_eq!(guard.record_of(&attempt).await["blocked"], 1);
}
