//! Open connections, kept by origin. Idle ones are dropped before a Node origin would close them (5 seconds), and nothing
//! is ever sent twice: only a request of which not a byte went out is tried on a fresh connection.

use super::dial::{Dialer, Stream};
use super::{Trouble, UpstreamError};
use crate::proxy::body::RequestBody;
use crate::proxy::names::Origin;
use crate::proxy::task::Spawner;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use std::cell::RefCell;
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
    dialer: Rc<Dialer>,
    spawner: Spawner,
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

    /// Sends a request and gives the response's head.
    ///
    /// # Errors
    /// Names what failed between here and the origin.
    pub async fn send(
        self: &Rc<Self>,
        mut request: Request<RequestBody>,
    ) -> Result<(Response<Incoming>, Lease), UpstreamError> {
        // An idle connection may be gone by now; what it hands back unsent is tried on the next one.
        while let Some(sender) = self.take() {
            let mut lease = Lease { sender, home: self.clone() };
            match lease.sender.try_send_request(request).await {
                Ok(response) => return Ok((response, lease)),
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(self.protocol(&error.into_error())),
                },
            }
        }
        let mut lease = Lease { sender: self.connect().await?, home: self.clone() };
        match lease.sender.send_request(request).await {
            Ok(response) => Ok((response, lease)),
            Err(error) => Err(self.protocol(&error)),
        }
    }

    /// Sends a request over a connection of its own, which may change its protocol.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_upgrade(
        &self,
        request: Request<RequestBody>,
    ) -> Result<Response<Incoming>, UpstreamError> {
        let mut sender = self.connect().await?;
        sender.send_request(request).await.map_err(|error| self.protocol(&error))
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

    async fn connect(&self) -> Result<SendRequest<RequestBody>, UpstreamError> {
        let stream = self.dialer.dial(&self.origin).await?;
        let (sender, connection) = handshake(stream).await.map_err(|error| self.protocol(&error))?;
        self.spawner.spawn(async move {
            // How it ends is told by the requests on it.
            let _ = connection.with_upgrades().await;
        });
        Ok(sender)
    }

    fn protocol(&self, error: &hyper::Error) -> UpstreamError {
        let mut message = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        UpstreamError::new(Trouble::Protocol, &self.text, message)
    }
}

async fn handshake(
    stream: Stream,
) -> hyper::Result<(SendRequest<RequestBody>, http1::Connection<TokioIo<Stream>, RequestBody>)> {
    http1::Builder::new().max_headers(MAX_FIELDS).max_buf_size(MAX_HEAD).handshake(TokioIo::new(stream)).await
}

impl Lease {
    /// Back to the pool: the response has ended.
    pub fn give_back(self) {
        if !self.sender.is_closed() {
            self.home.idle.borrow_mut().push((self.sender, Instant::now()));
        }
    }
}
