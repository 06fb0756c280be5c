//! One client connection once its bytes are HTTP: where it leads, and serving it by the protocol that was agreed on.

use super::Proxy;
use super::attempts::{Ledger, Port, Visit, secret};
use super::body::ResponseBody;
use super::config::OnBlock;
use super::cork::Cork;
use super::head::{Gate, HeadStream, WatchResets, framing};
use super::judge::{Closed, handle};
use super::names::Origin;
use super::note::{note, note_fault};
use super::respond;
use super::spoil::{Mark, Spoil};
use super::task::Spawner;
use super::upstream::Upstream;
use http::{Method, Request, Response, header};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

/// Windows of uploads: at 1 MiB a large one loses a fifth of its speed.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 8 << 20;

/// The header list that HTTP/2 is read with. The service refuses one beyond [`framing::MAX_HEAD`] itself, and records it; what
/// is refused here nobody hears of.
const MAX_HEADER_LIST: u32 = 1 << 20;

/// A client connection.
pub(super) struct Conn {
    proxy: Rc<Proxy>,
    visit: Visit,
    place: Place,
    gate: Option<Arc<Gate>>,
    /// Spoils answers on HTTP/1.
    mark: Option<Arc<Mark>>,
    upstream: OnceCell<Rc<Upstream>>,
}

/// A blocked request gets no answer: its stream is reset with the reason of the source.
#[derive(Debug, thiserror::Error)]
#[error("blocked")]
struct Reset(#[source] h2::Error);

/// What a connection is about.
pub(super) enum Place {
    /// Absolute-form requests to any origin.
    Open,
    /// One origin, named by CONNECT.
    Tunnel {
        /// That origin.
        origin: Origin,
        /// The TLS server name, when it is not the origin's.
        other_name: Option<String>,
    },
}

impl Conn {
    pub(super) fn proxy(&self) -> &Rc<Proxy> {
        &self.proxy
    }

    pub(super) fn port(&self) -> &Rc<Port> {
        self.visit.port()
    }

    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    pub(super) fn gate(&self) -> Option<&Gate> {
        self.gate.as_deref()
    }

    /// Whether the client may use the port: in a tunnel that was found out when it was opened.
    pub(super) fn may_ask(&self, request: &Request<Incoming>) -> bool {
        match (&self.proxy.credentials, &self.place) {
            (Some(credentials), Place::Open) => {
                let given = request.headers().get(header::PROXY_AUTHORIZATION);
                credentials.are(given.map(header::HeaderValue::as_bytes))
            }
            _ => true,
        }
    }

    /// Where a request that arrives now is recorded.
    pub(super) fn ledger(&self) -> Rc<Ledger> {
        self.port().ledger()
    }

    pub(super) fn spawner(&self) -> &Spawner {
        &self.proxy.spawner
    }

    /// Ends when the port closes.
    pub(super) async fn closed(&self) {
        self.port().closed().cancelled().await;
    }

    /// The origin's connections, looked up once in a tunnel.
    pub(super) fn upstream(&self, origin: &Origin) -> Rc<Upstream> {
        match self.place {
            Place::Tunnel { .. } => self.upstream.get_or_init(|| self.proxy.pool.upstream(origin)).clone(),
            Place::Open => self.proxy.pool.upstream(origin),
        }
    }
}

/// Answers one request as the protocol and the user want it.
async fn serve(conn: Rc<Conn>, request: Request<Incoming>) -> Result<Response<ResponseBody>, Reset> {
    let is_head = request.method() == Method::HEAD;
    let mut response = match handle(conn.clone(), request).await {
        Ok(response) => response,
        Err(Closed) => respond::no_proxy_request(),
    };
    if is_head && let ResponseBody::Own(_) = response.body() {
        // On HTTP/2 it would be sent, and the client would take that for a broken stream.
        *response.body_mut() = ResponseBody::Empty;
    }
    if conn.proxy.on_block == OnBlock::Answer || !respond::is_block(&response) {
        return Ok(response);
    }
    match &conn.mark {
        None => Err(Reset(h2::Reason::CANCEL.into())),
        Some(mark) => match secret() {
            Ok(token) => {
                mark.arm(&token);
                Ok(respond::spoiled(&token))
            }
            // A plain block is the lesser evil.
            Err(_) => Ok(response),
        },
    }
}

/// Serves HTTP/1; `first` is what was read already.
pub(super) async fn serve_http1<S>(proxy: Rc<Proxy>, visit: Visit, place: Place, stream: S, first: Vec<u8>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (stream, mark) = Spoil::new(stream);
    let (stream, gate) = HeadStream::new(stream, first);
    let conn = Rc::new(Conn {
        proxy,
        visit,
        place,
        gate: Some(gate.clone()),
        mark: Some(mark),
        upstream: OnceCell::new(),
    });
    let served = conn.clone();
    let connection = http1::Builder::new()
        .max_headers(framing::MAX_FIELDS)
        .max_buf_size(2 * framing::MAX_HEAD)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service_fn(move |request| serve(served.clone(), request)))
        .with_upgrades();
    tokio::select! {
        // How it ends is told by the requests on it.
        _ = connection => {}
        () = conn.closed() => {}
    }
    if let Some(fault) = gate.take_unserved() {
        note_fault(&conn, &fault);
    }
}

/// Serves HTTP/2.
pub(super) async fn serve_http2<S>(proxy: Rc<Proxy>, visit: Visit, place: Place, stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let spawner = proxy.spawner.clone();
    let conn = Rc::new(Conn { proxy, visit, place, gate: None, mark: None, upstream: OnceCell::new() });
    let (served, noted) = (conn.clone(), conn.clone());
    let refused = move |code: &'static str| {
        let Place::Tunnel { origin, .. } = noted.place() else { return };
        note(&noted.ledger(), &format!("a malformed HTTP/2 request: {code}"), "?", &origin.to_string());
    };
    let connection = Cork::around(stream, move |stream| {
        let stream = WatchResets::new(stream, refused);
        http2::Builder::new(spawner)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(MAX_HEADER_LIST)
            .max_concurrent_streams(256)
            .auto_date_header(false)
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), service_fn(move |request| serve(served.clone(), request)))
    });
    tokio::select! {
        () = connection => {}
        () = conn.closed() => {}
    }
}
