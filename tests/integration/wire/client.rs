//! Clients: hyper over a direct connection, in clear text or TLS inside CONNECT, over HTTP/1 and HTTP/2; and bare sockets.

use super::guard::PATIENCE;
use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub(super) type Sender = http1::SendRequest<Full<Bytes>>;

pub(super) struct Client {
    wire: Wire,
    /// The `host` of requests in origin form.
    host: String,
}

enum Wire {
    One(Sender),
    Two(http2::SendRequest<Full<Bytes>>),
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) trailers: Option<HeaderMap>,
    pub(super) body: Bytes,
}

impl Answer {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{}: {error}", self.text()))
    }
}

impl Client {
    /// HTTP/1 in clear text: to the control API, or absolute-form requests to a port.
    pub(super) async fn direct(address: &str) -> Self {
        Self { wire: Wire::One(one(connect(address).await).await), host: address.into() }
    }

    /// HTTP/1 in clear text inside CONNECT.
    pub(super) async fn clear(proxy: &str, target: &str) -> Self {
        Self { wire: Wire::One(one(tunnel(proxy, target).await).await), host: target.into() }
    }

    /// HTTP/1 over TLS inside CONNECT.
    pub(super) async fn tls(proxy: &str, target: &str, ca: &Path) -> Self {
        Self {
            wire: Wire::One(one(secured(proxy, target, ca, &["http/1.1"]).await).await),
            host: target.into(),
        }
    }

    /// HTTP/2 over TLS inside CONNECT.
    pub(super) async fn two(proxy: &str, target: &str, ca: &Path) -> Self {
        let stream = secured(proxy, target, ca, &["h2", "http/1.1"]).await;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let (sender, connection) =
            http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Self { wire: Wire::Two(sender), host: target.into() }
    }

    /// Sends a request; a `host` header is added to HTTP/1 when there is none.
    pub(super) async fn send(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let answer = self.begin(method, target, headers, body).await;
        collect(answer).await
    }

    /// Sends a request and gives the head of the answer.
    pub(super) async fn begin(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Response<Incoming> {
        let mut request = Request::builder().method(method).uri(target);
        let uri: http::Uri = target.parse().unwrap();
        if matches!(self.wire, Wire::One(_)) && !headers.iter().any(|(name, _)| *name == "host") {
            request = request
                .header("host", uri.authority().map_or(self.host.as_str(), |authority| authority.as_str()));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body))).unwrap();
        let sent = async {
            match &mut self.wire {
                Wire::One(sender) => {
                    sender.ready().await.unwrap();
                    sender.send_request(request).await
                }
                Wire::Two(sender) => {
                    sender.ready().await.unwrap();
                    sender.send_request(request).await
                }
            }
        };
        timeout(PATIENCE, sent)
            .await
            .expect("no answer")
            .unwrap_or_else(|error| panic!("{method} {target}: {error}"))
    }
}

pub(super) async fn collect(answer: Response<Incoming>) -> Answer {
    let (head, body) = answer.into_parts();
    let body = timeout(PATIENCE, body.collect()).await.expect("no end").expect("a whole body");
    Answer {
        status: head.status.as_u16(),
        headers: head.headers,
        trailers: body.trailers().cloned(),
        body: body.to_bytes(),
    }
}

pub(super) async fn one<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S) -> Sender {
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection.with_upgrades());
    sender
}

pub(super) async fn connect(address: &str) -> TcpStream {
    let socket = TcpStream::connect(address).await.unwrap();
    socket.set_nodelay(true).unwrap();
    socket
}

/// A tunnel that is established.
pub(super) async fn tunnel(proxy: &str, target: &str) -> TcpStream {
    let mut socket = connect(proxy).await;
    socket
        .write_all(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let head = read_head(&mut socket).await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    socket
}

/// TLS inside a tunnel; the name in the handshake is that of `target`.
pub(super) async fn secured(
    proxy: &str,
    target: &str,
    ca: &Path,
    protocols: &[&str],
) -> TlsStream<TcpStream> {
    let host = target.rsplit_once(':').unwrap().0.trim_matches(['[', ']']);
    secured_as(proxy, target, host, ca, protocols).await.unwrap()
}

pub(super) async fn secured_as(
    proxy: &str,
    target: &str,
    name: &str,
    ca: &Path,
    protocols: &[&str],
) -> std::io::Result<TlsStream<TcpStream>> {
    let socket = tunnel(proxy, target).await;
    let config = trusting(ca, protocols);
    let name = ServerName::try_from(name.to_owned()).unwrap();
    TlsConnector::from(config).connect(name, socket).await
}

pub(super) fn trusting(ca: &Path, protocols: &[&str]) -> Arc<rustls::ClientConfig> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(ca).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    Arc::new(config)
}

/// Up to the empty line.
pub(super) async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match timeout(PATIENCE, stream.read(&mut byte)).await.expect("no head") {
            Ok(1) => head.push(byte[0]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// Everything until the other side closes.
pub(super) async fn read_all(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut all = Vec::new();
    let mut chunk = [0; 4096];
    // A reset is an end as well.
    while let Ok(length @ 1..) = timeout(PATIENCE, stream.read(&mut chunk)).await.expect("it stays open") {
        all.extend_from_slice(&chunk[..length]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// Sends bytes to a port as they are and reads until it closes.
pub(super) async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin, bytes: &[u8]) -> String {
    stream.write_all(bytes).await.unwrap();
    stream.flush().await.unwrap();
    read_all(&mut stream).await
}
