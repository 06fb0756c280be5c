//! One GET with the proxy's own dialling and trust, for what the wrapper reads itself: no redirect is followed, nothing is
//! tried twice.

use super::{Dialer, UpstreamError, Way};
use crate::proxy::names::{Authority, NameError, Origin, Scheme};
use crate::proxy::network::Network;
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::{BodyExt, Empty, Limited};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use url::Url;

/// What came back.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The status, whatever it is.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

/// Why nothing was read.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// Not an http or https URL.
    #[error("{0:?} is no http or https URL: {1}")]
    Url(String, String),
    /// Between here and the origin.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// The origin answered badly.
    #[error("{url}: {message}")]
    Answer {
        /// What was asked for.
        url: String,
        /// What happened.
        message: String,
    },
    /// It took too long.
    #[error("{0}: no whole answer in {1:?}")]
    Timeout(String, Duration),
}

/// Reads `url` within `limit`; a body of more than `cap` bytes is an error. Must run within a tokio runtime.
///
/// # Errors
/// Names the URL and what failed; a status other than 200 is none.
pub async fn fetch(url: &str, way: Way, limit: Duration, cap: usize) -> Result<Fetched, FetchError> {
    let bad = |message: String| FetchError::Url(url.into(), message);
    let parsed = Url::parse(url).map_err(|error| bad(error.to_string()))?;
    let scheme = match parsed.scheme() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => return Err(bad(format!("its scheme is {other}"))),
    };
    let authority = parsed
        .host_str()
        .ok_or(NameError::NoHost(url.into()))
        .and_then(|host| Authority::parse(host, Some(parsed.port().unwrap_or(scheme.default_port()))))
        .map_err(|error| bad(error.to_string()))?;
    let origin = Origin { scheme, authority };
    let target =
        parsed.query().map_or(parsed.path().to_owned(), |query| format!("{}?{query}", parsed.path()));
    match tokio::time::timeout(limit, get(&origin, &target, way, cap)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(FetchError::Timeout(url.into(), limit)),
    }
}

async fn get(origin: &Origin, target: &str, way: Way, cap: usize) -> Result<Fetched, FetchError> {
    let fail = |message: String| FetchError::Answer { url: format!("{origin}{target}"), message };
    let dialer = Dialer::new(way, Network::default(), |_| false);
    let proxy = dialer.forwarding(origin);
    let stream = match proxy {
        Some(_) => dialer.dial_for_requests(origin, None).await?.0,
        None => dialer.dial(origin).await?,
    };
    let mut request = Request::get(target)
        .header(header::HOST, origin.host_header())
        .header(header::USER_AGENT, concat!("qa-pilot/", env!("CARGO_PKG_VERSION")))
        .header(header::ACCEPT, "application/json, text/plain, */*")
        .header(header::CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|error| fail(error.to_string()))?;
    if let Some(proxy) = proxy {
        proxy.take(&mut request, origin);
    }
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| fail(error.to_string()))?;
    let exchange = async {
        let response = sender.send_request(request).await.map_err(|error| fail(error.to_string()))?;
        let (head, body) = response.into_parts();
        if let Some(proxy) = proxy {
            proxy.accepted(origin, head.status)?;
        }
        let body = Limited::new(body, cap).collect().await.map_err(|error| fail(error.to_string()))?;
        Ok(Fetched { status: head.status, headers: head.headers, body: body.to_bytes() })
    };
    let mut connection = std::pin::pin!(connection);
    let mut exchange = std::pin::pin!(exchange);
    tokio::select! {
        outcome = &mut exchange => outcome,
        ended = &mut connection => match ended {
            // The connection may end in the moment in which the answer is whole.
            Ok(()) => exchange.await,
            Err(error) => Err(fail(error.to_string())),
        },
    }
}
