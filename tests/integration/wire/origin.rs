//! An origin in the test process: HTTP/1, in clear text or with a certificate of an authority of its own. It remembers what
//! reached it.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

/// One request as it arrived.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) line: String,
    pub(super) headers: HeaderMap,
}

pub(super) struct Origin {
    pub(super) port: u16,
    ca: Option<tempfile::NamedTempFile>,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<Mutex<usize>>,
    gone: Arc<Mutex<usize>>,
}

impl Origin {
    pub(super) async fn clear() -> Self {
        Self::start(None).await
    }

    /// With a certificate for localhost, 127.0.0.1 and ::1.
    pub(super) async fn tls() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        let leaf_key = KeyPair::generate().unwrap();
        let names = ["localhost", "app.localhost", "127.0.0.1", "::1"].map(String::from).to_vec();
        let leaf = CertificateParams::new(names).unwrap().signed_by(&leaf_key, &issuer).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], PrivateKeyDer::Pkcs8(leaf_key.serialize_der().into()))
            .unwrap();
        let mut ca = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut ca, root.pem().as_bytes()).unwrap();
        let mut origin = Self::start(Some(Arc::new(config))).await;
        origin.ca = Some(ca);
        origin
    }

    /// With a certificate that a test made; HTTP/2 is spoken where it is agreed on.
    pub(super) async fn with(tls: Arc<rustls::ServerConfig>) -> Self {
        Self::start(Some(tls)).await
    }

    async fn start(tls: Option<Arc<rustls::ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (seen, connections, gone) =
            <(Arc<Mutex<Vec<Seen>>>, Arc<Mutex<usize>>, Arc<Mutex<usize>>)>::default();
        let (seeing, counting, going) = (seen.clone(), connections.clone(), gone.clone());
        tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                socket.set_nodelay(true).unwrap();
                *counting.lock().unwrap() += 1;
                let (seen, tls, gone) = (seeing.clone(), tls.clone(), going.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(socket, seen, gone).await,
                        Some(config) => {
                            let accepted = tokio_rustls::TlsAcceptor::from(config).accept(socket).await;
                            let Ok(stream) = accepted else { return };
                            match stream.get_ref().1.alpn_protocol() {
                                Some(b"h2") => serve_two(stream, seen, gone).await,
                                _ => serve(stream, seen, gone).await,
                            }
                        }
                    }
                });
            }
        });
        Self { port, ca: None, seen, connections, gone }
    }

    pub(super) fn authority(&self) -> String {
        format!("localhost:{}", self.port)
    }

    pub(super) fn ca(&self) -> PathBuf {
        self.ca.as_ref().map(|file| Path::to_path_buf(file.path())).unwrap()
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Method and target of every request.
    pub(super) fn lines(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.line).collect()
    }

    pub(super) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }

    /// How many endless answers were broken off by the other side.
    pub(super) fn gone(&self) -> usize {
        *self.gone.lock().unwrap()
    }
}

type Body = BoxBody<Bytes, Infallible>;

async fn serve<S>(stream: S, seen: Arc<Mutex<Vec<Seen>>>, gone: Arc<Mutex<usize>>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request| {
        let (seen, gone) = (seen.clone(), gone.clone());
        async move { answer(request, seen, gone).await }
    });
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades().await;
}

async fn serve_two<S>(stream: S, seen: Arc<Mutex<Vec<Seen>>>, gone: Arc<Mutex<usize>>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request| {
        let (seen, gone) = (seen.clone(), gone.clone());
        async move {
            let is_head = request.method() == http::Method::HEAD;
            let mut response = answer(request, seen, gone).await?;
            if is_head {
                // hyper sends it on HTTP/2 all the same.
                *response.body_mut() = full("");
            }
            Ok::<_, hyper::Error>(response)
        }
    });
    let _ = http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
}

fn full(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).boxed()
}

/// Pieces that come one after another, endlessly when `pieces` is `None`.
struct Pieces {
    left: Option<u64>,
    piece: Bytes,
    pause: Duration,
    timer: Pin<Box<tokio::time::Sleep>>,
    gone: Arc<Mutex<usize>>,
}

impl Pieces {
    fn body(left: Option<u64>, piece: Bytes, pause: Duration, gone: Arc<Mutex<usize>>) -> Body {
        let timer = Box::pin(tokio::time::sleep(Duration::ZERO));
        Self { left, piece, pause, timer, gone }.boxed()
    }
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if !self.pause.is_zero() {
            std::task::ready!(self.timer.as_mut().poll(cx));
            let next = tokio::time::Instant::now() + self.pause;
            self.timer.as_mut().reset(next);
        }
        match &mut self.left {
            Some(0) => return Poll::Ready(None),
            Some(left) => *left -= 1,
            None => {}
        }
        Poll::Ready(Some(Ok(Frame::data(self.piece.clone()))))
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        if self.left.is_none() {
            *self.gone.lock().unwrap() += 1;
        }
    }
}

async fn answer(
    request: Request<Incoming>,
    seen: Arc<Mutex<Vec<Seen>>>,
    gone: Arc<Mutex<usize>>,
) -> Result<Response<Body>, hyper::Error> {
    let (head, body) = request.into_parts();
    let line = format!("{} {}", head.method, head.uri);
    let note = || seen.lock().unwrap().push(Seen { line: line.clone(), headers: head.headers.clone() });
    let path = head.uri.path().to_owned();
    match path.as_str() {
        "/early" => {
            note();
            let mut response = Response::new(full("too large"));
            *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
            return Ok(response);
        }
        "/ws" => {
            note();
            return Ok(web_socket(Request::from_parts(head, body)));
        }
        "/sink" => {
            let mut length = 0;
            let mut body = body;
            while let Some(frame) = body.frame().await {
                length += frame?.data_ref().map_or(0, Bytes::len);
            }
            note();
            return Ok(Response::new(full(length.to_string())));
        }
        _ => {}
    }
    let body = body.collect().await?;
    let trailers = body.trailers().cloned();
    let body = body.to_bytes();
    note();
    let mut response = Response::new(full(
        json!({ "line": line, "body": String::from_utf8_lossy(&body), "trailers": trailers.map(|t| format!("{t:?}")) }).to_string(),
    ));
    match path.as_str() {
        "/big" => {
            *response.body_mut() = Pieces::body(Some(1024), vec![b'x'; 64 << 10].into(), Duration::ZERO, gone)
        }
        "/events" => {
            response
                .headers_mut()
                .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            *response.body_mut() = Pieces::body(None, "data: x\n\n".into(), Duration::from_millis(50), gone);
        }
        "/cookies" => {
            response.headers_mut().append(header::SET_COOKIE, HeaderValue::from_static("a=1"));
            response.headers_mut().append(header::SET_COOKIE, HeaderValue::from_static("b=2"));
            response.headers_mut().insert(header::ALT_SVC, HeaderValue::from_static("h3=\":443\""));
        }
        "/trailers" => {
            let mut trailers = HeaderMap::new();
            trailers.insert("x-sum", HeaderValue::from_static("7"));
            response.headers_mut().insert(header::TRAILER, HeaderValue::from_static("x-sum"));
            let body = Pieces::body(Some(1), "body".into(), Duration::ZERO, gone);
            *response.body_mut() = body.with_trailers(async move { Some(Ok(trailers)) }).boxed();
        }
        "/204" => (*response.status_mut(), *response.body_mut()) = (StatusCode::NO_CONTENT, full("")),
        "/304" => (*response.status_mut(), *response.body_mut()) = (StatusCode::NOT_MODIFIED, full("")),
        "/302" => {
            *response.status_mut() = StatusCode::FOUND;
            response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/orders"));
        }
        _ => {}
    }
    Ok(response)
}

/// Accepts and echoes bytes, unless the query says no.
fn web_socket(mut request: Request<Incoming>) -> Response<Body> {
    let mut response = Response::new(full(""));
    if request.uri().query() == Some("no") {
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    }
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    response.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    if let Some(protocol) = request.headers().get(header::SEC_WEBSOCKET_PROTOCOL) {
        response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, protocol.clone());
    }
    tokio::spawn(async move {
        let mut stream = TokioIo::new(hyper::upgrade::on(&mut request).await.unwrap());
        let mut chunk = [0; 1024];
        while let Ok(length @ 1..) = stream.read(&mut chunk).await {
            if stream.write_all(&chunk[..length]).await.is_err() {
                break;
            }
        }
    });
    response
}
