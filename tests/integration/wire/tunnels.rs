//! Tunnels: what is opened, what is in them, and what nobody can read.

use super::client::{connect, exchange, read_all, read_head, secured, trusting, tunnel};
use super::guard::{Start, events};
use super::origin::Origin;
use rustls::pki_types::ServerName;
use serde_json::json;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

#[tokio::test]
async fn malformed_connects_are_refused_and_recorded() {
    let guard = Start::policy("unrestricted").run();
    let attempt = guard.begin("t1").await;
    for head in [
        "CONNECT a.test HTTP/1.1\r\n\r\n",
        "CONNECT :443 HTTP/1.1\r\n\r\n",
        "CONNECT u:p@a.test:443 HTTP/1.1\r\n\r\n",
        "CONNECT a.test:0 HTTP/1.1\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd",
        "CONNECT a.test:443\r\n\r\n",
        "CONNECT http://a.test/ HTTP/1.1\r\n\r\n",
    ] {
        let answer = exchange(connect(&attempt.proxy).await, head.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{head:?}: {answer}");
    }
    let record = guard.record_of(&attempt).await;
    let events = events(&record);
    assert_eq!(events.len(), 7);
    assert_eq!(events[0], "block CONNECT a.test");
    assert_eq!(events[2], "block CONNECT a.test:443", "without user and password");
}

#[tokio::test]
async fn bytes_that_nobody_can_read_are_closed_or_observed() {
    let echo = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = format!("localhost:{}", echo.local_addr().unwrap().port());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = echo.accept().await {
            tokio::spawn(async move {
                let mut chunk = [0; 100];
                while let Ok(length @ 1..) = socket.read(&mut chunk).await {
                    socket.write_all(&chunk[..length]).await.unwrap();
                }
            });
        }
    });
    for (policy, action) in [("read-only", "block"), ("scoped-write", "block"), ("unrestricted", "observe")] {
        let guard = Start::policy(policy).run();
        let attempt = guard.begin("t1").await;
        let mut stream = tunnel(&attempt.proxy, &target).await;
        stream.write_all(b"SSH-2.0-client\r\n").await.unwrap();
        if action == "observe" {
            let mut back = [0; 16];
            stream.read_exact(&mut back).await.unwrap();
            assert_eq!(&back, b"SSH-2.0-client\r\n");
            drop(stream);
        } else {
            assert_eq!(read_all(&mut stream).await, "");
        }
        let record = guard.record_of(&attempt).await;
        assert_eq!(events(&record), [format!("{action} CONNECT {target}")]);
        assert_eq!((&record["opaque"], &record["routed_requests"]), (&json!(1), &json!(0)));
    }
}

#[tokio::test]
async fn what_only_begins_like_tls_is_closed_and_recorded() {
    let guard = Start::policy("unrestricted").run();
    let attempt = guard.begin("t1").await;
    let mut stream = tunnel(&attempt.proxy, "a.test:443").await;
    stream.write_all(b"\x16\x03\x01\x00\x05hello").await.unwrap();
    read_all(&mut stream).await;
    let record = guard.record_of(&attempt).await;
    assert_eq!(events(&record), ["block CONNECT a.test:443"]);
    assert_eq!(record["opaque"], 1);
}

#[tokio::test]
async fn a_silent_tunnel_is_closed_and_counts_for_nothing() {
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let mut stream = tunnel(&attempt.proxy, "a.test:443").await;
    let began = Instant::now();
    assert_eq!(read_all(&mut stream).await, "");
    assert!((8..15).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    assert_eq!(guard.finish(&attempt).await.0, 204);
}

#[tokio::test]
async fn however_the_hello_is_cut_it_is_intercepted() {
    let origin = Origin::tls().await;
    let guard = Start::policy("read-only").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let target = origin.authority();
    let request = format!("GET /x HTTP/1.1\r\nHost: {target}\r\nConnection: close\r\n\r\n");
    let name = || ServerName::try_from("localhost").unwrap();
    // One byte at a time.
    let drip = Drip(tunnel(&attempt.proxy, &target).await);
    let stream = TlsConnector::from(trusting(&ca, &["http/1.1"])).connect(name(), drip).await.unwrap();
    assert!(exchange(stream, request.as_bytes()).await.starts_with("HTTP/1.1 200 "));
    // CONNECT and the hello in one segment.
    let joined = Joined {
        inner: connect(&attempt.proxy).await,
        head: Some(format!("CONNECT {target} HTTP/1.1\r\n\r\n")),
        answered: false,
    };
    let stream = TlsConnector::from(trusting(&ca, &["http/1.1"])).connect(name(), joined).await.unwrap();
    assert!(exchange(stream, request.as_bytes()).await.starts_with("HTTP/1.1 200 "));
    assert_eq!(origin.lines(), ["GET /x", "GET /x"]);
}

#[tokio::test]
async fn sessions_to_the_guard_resume() {
    let origin = Origin::tls().await;
    let guard = Start::policy("read-only").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let config = trusting(&ca, &["http/1.1"]);
    let mut kinds = Vec::new();
    for _ in 0..2 {
        let socket = tunnel(&attempt.proxy, &origin.authority()).await;
        let mut stream = TlsConnector::from(config.clone())
            .connect(ServerName::try_from("localhost").unwrap(), socket)
            .await
            .unwrap();
        let request = format!("GET /x HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", origin.authority());
        stream.write_all(request.as_bytes()).await.unwrap();
        read_all(&mut stream).await;
        kinds.push(stream.get_ref().1.handshake_kind().unwrap());
    }
    assert_eq!(kinds, [rustls::HandshakeKind::Full, rustls::HandshakeKind::Resumed]);
}

#[tokio::test]
async fn a_tunnel_within_a_tunnel_is_refused() {
    let origin = Origin::tls().await;
    let guard = Start::policy("unrestricted").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let mut stream =
        secured(&attempt.proxy, &origin.authority(), &guard.run_dir().join("ca.pem"), &["http/1.1"]).await;
    stream.write_all(b"CONNECT b.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n").await.unwrap();
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 400 "));
    assert_eq!(guard.record_of(&attempt).await["blocked"], 1);
}

/// Writes one byte at a time.
struct Drip(TcpStream);

impl AsyncRead for Drip {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Drip {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        std::thread::sleep(Duration::from_micros(200));
        Pin::new(&mut self.0).poll_write(cx, &buf[..buf.len().min(1)])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Sends `head` in front of the first bytes and skips the answer to it.
struct Joined {
    inner: TcpStream,
    head: Option<String>,
    answered: bool,
}

impl AsyncRead for Joined {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let mut skipped = Vec::new();
        while !self.answered {
            let mut byte = [0];
            let mut one = ReadBuf::new(&mut byte);
            std::task::ready!(Pin::new(&mut self.inner).poll_read(cx, &mut one))?;
            assert_eq!(one.filled().len(), 1, "closed");
            skipped.push(byte[0]);
            self.answered = skipped.ends_with(b"\r\n\r\n");
        }
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl AsyncWrite for Joined {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        match self.head.take() {
            Some(head) => {
                let joined = [head.as_bytes(), buf].concat();
                let written = std::task::ready!(Pin::new(&mut self.inner).poll_write(cx, &joined))?;
                assert_eq!(written, joined.len());
                Poll::Ready(Ok(buf.len()))
            }
            None => Pin::new(&mut self.inner).poll_write(cx, buf),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
