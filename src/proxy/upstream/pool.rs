//! Open connections, kept by origin. Idle ones are dropped before a Node origin would close them (5 seconds), and nothing
//! is ever sent twice: only a request of which not a byte went out is tried on a fresh connection.
//!
//! HTTP/1.1 is spoken wherever an origin has it, since it costs less here; an origin of HTTP/2 alone, such as a gRPC server,
//! gets one connection for all requests.

use super::dial::{Dialer, Stream};
use super::last_words::LastWords;
use super::tls::Protocol;
use super::{Trouble, UpstreamError};
use crate::proxy::body::RequestBody;
use crate::proxy::names::Origin;
use crate::proxy::task::Spawner;
use http::{Request, Response, Uri, Version, header};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// How long an idle connection is kept.
const IDLE: Duration = Duration::from_secs(4);

/// The most header fields that a response may have.
const MAX_FIELDS: usize = 200;

/// The longest response head in bytes.
const MAX_HEAD: usize = 512 * 1024;

/// The same for HTTP/2, where fields are counted as they are before compression.
const MAX_HEADER_LIST: u32 = 512 << 10;

/// Windows of downloads over HTTP/2.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 8 << 20;

/// How often a shared connection is asked whether it is still there, while requests wait on it.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// All origins that were asked for.
pub struct Pool {
    origins: RefCell<HashMap<Origin, Rc<Upstream>>>,
    dialer: Rc<Dialer>,
    spawner: Spawner,
}

/// One origin and its idle connections.
pub struct Upstream {
    origin: Origin,
    /// As URLs begin.
    text: String,
    idle: RefCell<Vec<(SendRequest<RequestBody>, Instant)>>,
    /// What the origin speaks, once that is known.
    protocol: Cell<Option<Protocol>>,
    /// The connection to an origin of HTTP/2 alone.
    shared: RefCell<Option<http2::SendRequest<RequestBody>>>,
    dialer: Rc<Dialer>,
    spawner: Spawner,
}

/// A fresh connection.
enum Fresh {
    One(SendRequest<RequestBody>),
    Two(http2::SendRequest<RequestBody>),
}

/// A connection in use.
pub struct Lease {
    sender: SendRequest<RequestBody>,
    home: Rc<Upstream>,
}

impl Pool {
    /// An empty pool.
    pub fn new(dialer: Dialer, spawner: Spawner) -> Self {
        Self { origins: RefCell::default(), dialer: Rc::new(dialer), spawner }
    }

    /// The origin's connections.
    pub fn upstream(&self, origin: &Origin) -> Rc<Upstream> {
        if let Some(found) = self.origins.borrow().get(origin) {
            return found.clone();
        }
        let upstream = Rc::new(Upstream {
            text: origin.to_string(),
            origin: origin.clone(),
            idle: RefCell::default(),
            protocol: Cell::default(),
            shared: RefCell::default(),
            dialer: self.dialer.clone(),
            spawner: self.spawner.clone(),
        });
        self.origins.borrow_mut().insert(origin.clone(), upstream.clone());
        upstream
    }

    /// What opens connections.
    pub fn dialer(&self) -> &Dialer {
        &self.dialer
    }

    /// Drops idle connections as they expire, for as long as it is polled.
    pub async fn sweep(&self) {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.origins.borrow_mut().retain(|_, upstream| {
                upstream
                    .idle
                    .borrow_mut()
                    .retain(|(sender, since)| !sender.is_closed() && since.elapsed() < IDLE);
                Rc::strong_count(upstream) > 1 || !upstream.idle.borrow().is_empty()
            });
        }
    }
}

impl Upstream {
    /// Where it is.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Scheme, host and port as URLs begin.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Sends a request in origin form and gives the response's head; the connection goes back to the pool by the lease, where
    /// it is not shared.
    ///
    /// # Errors
    /// Names what failed between here and the origin.
    pub async fn send(
        self: &Rc<Self>,
        mut request: Request<RequestBody>,
    ) -> Result<(Response<Incoming>, Option<Lease>), UpstreamError> {
        if self.protocol.get() == Some(Protocol::Two) {
            return Ok((self.send_shared(request).await?, None));
        }
        let proxy = self.dialer.forwarding(&self.origin);
        if let Some(proxy) = proxy {
            proxy.take(&mut request, &self.origin);
        }
        // An idle connection may be gone by now; what it hands back unsent is tried on the next one.
        while let Some(sender) = self.take() {
            let mut lease = Lease { sender, home: self.clone() };
            match lease.sender.try_send_request(request).await {
                Ok(response) => return self.answered(response, lease),
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(self.protocol_error(&error.into_error())),
                },
            }
        }
        match self.connect().await? {
            Fresh::One(sender) => {
                let mut lease = Lease { sender, home: self.clone() };
                match lease.sender.send_request(request).await {
                    Ok(response) => self.answered(response, lease),
                    Err(error) => Err(self.protocol_error(&error)),
                }
            }
            Fresh::Two(sender) => {
                *self.shared.borrow_mut() = Some(sender);
                Ok((self.send_shared(request).await?, None))
            }
        }
    }

    fn answered(
        &self,
        response: Response<Incoming>,
        lease: Lease,
    ) -> Result<(Response<Incoming>, Option<Lease>), UpstreamError> {
        if let Some(proxy) = self.dialer.forwarding(&self.origin) {
            proxy.accepted(&self.origin, response.status())?;
        }
        Ok((response, Some(lease)))
    }

    /// Sends a request on the one connection of HTTP/2.
    async fn send_shared(
        &self,
        mut request: Request<RequestBody>,
    ) -> Result<Response<Incoming>, UpstreamError> {
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        let uri: Uri = format!("{}{target}", self.text)
            .parse()
            .map_err(|_| UpstreamError::new(Trouble::Protocol, &self.text, "the target is no uri"))?;
        *request.uri_mut() = uri;
        *request.version_mut() = Version::HTTP_2;
        // `:authority` says it.
        request.headers_mut().remove(header::HOST);
        let open = self.shared.borrow().clone().filter(|sender| !sender.is_closed());
        if let Some(mut sender) = open
            && sender.ready().await.is_ok()
        {
            match sender.try_send_request(request).await {
                Ok(response) => return Ok(response),
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(self.protocol_error(&error.into_error())),
                },
            }
        }
        let mut sender = match self.dialer.dial_for_requests(&self.origin, Some(Protocol::Two)).await {
            Ok((stream, _)) => self.speak_http2(stream).await?,
            Err(error) => {
                // It may be another server by now; the next request finds out.
                self.protocol.set(None);
                return Err(error);
            }
        };
        *self.shared.borrow_mut() = Some(sender.clone());
        sender.send_request(request).await.map_err(|error| self.protocol_error(&error))
    }

    /// Sends a request over a connection of its own, which may change its protocol.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_upgrade(
        &self,
        request: Request<RequestBody>,
    ) -> Result<Response<Incoming>, UpstreamError> {
        let stream = self.dialer.dial(&self.origin).await?;
        let mut sender = self.speak_http1(stream).await?;
        sender.send_request(request).await.map_err(|error| self.protocol_error(&error))
    }

    fn take(&self) -> Option<SendRequest<RequestBody>> {
        let mut idle = self.idle.borrow_mut();
        // The youngest first, so that those that are not needed expire; what is older than one that expired has expired too.
        loop {
            let ready = idle.iter().rposition(|(sender, _)| sender.is_ready())?;
            let (sender, since) = idle.remove(ready);
            if sender.is_closed() {
                continue;
            }
            if since.elapsed() < IDLE {
                return Some(sender);
            }
            idle.drain(..ready);
        }
    }

    async fn connect(&self) -> Result<Fresh, UpstreamError> {
        let (stream, protocol) = self.dialer.dial_for_requests(&self.origin, self.protocol.get()).await?;
        self.protocol.set(Some(protocol));
        match protocol {
            Protocol::One => Ok(Fresh::One(self.speak_http1(stream).await?)),
            Protocol::Two => Ok(Fresh::Two(self.speak_http2(stream).await?)),
        }
    }

    async fn speak_http1(&self, stream: Stream) -> Result<SendRequest<RequestBody>, UpstreamError> {
        let (sender, connection) = http1::Builder::new()
            .max_headers(MAX_FIELDS)
            .max_buf_size(MAX_HEAD)
            .handshake(TokioIo::new(LastWords::new(stream)))
            .await
            .map_err(|error| self.protocol_error(&error))?;
        self.spawner.spawn(async move {
            // How it ends is told by the requests on it.
            let _ = connection.with_upgrades().await;
        });
        Ok(sender)
    }

    async fn speak_http2(&self, stream: Stream) -> Result<http2::SendRequest<RequestBody>, UpstreamError> {
        let (sender, connection) = http2::Builder::new(self.spawner.clone())
            .timer(TokioTimer::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(MAX_HEADER_LIST)
            .keep_alive_interval(KEEP_ALIVE)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| self.protocol_error(&error))?;
        self.spawner.spawn(async move {
            // As above.
            let _ = connection.await;
        });
        Ok(sender)
    }

    fn protocol_error(&self, error: &hyper::Error) -> UpstreamError {
        let mut message = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        UpstreamError::new(Trouble::Protocol, &self.text, message)
    }
}

impl Lease {
    /// Back to the pool: the response has ended.
    pub fn give_back(self) {
        if !self.sender.is_closed() {
            self.home.idle.borrow_mut().push((self.sender, Instant::now()));
        }
    }
}
