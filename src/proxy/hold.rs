//! Holding a body that decides, up to a limit.

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;

/// A body that was held.
pub(super) enum Held {
    /// All of it, with its trailers.
    Whole(Bytes, Option<HeaderMap>),
    /// It is longer than the limit: what was read, and the rest.
    Over(Bytes, Incoming),
}

/// Reads up to `limit` bytes.
///
/// # Errors
/// When the body breaks off.
pub(super) async fn hold(mut body: Incoming, limit: usize) -> Result<Held, hyper::Error> {
    if body.size_hint().lower() > limit as u64 {
        return Ok(Held::Over(Bytes::new(), body));
    }
    let mut held = BytesMut::new();
    let mut trailers = None;
    while let Some(frame) = body.frame().await {
        match frame?.into_data() {
            Ok(data) => held.extend_from_slice(&data),
            Err(frame) => trailers = frame.into_trailers().ok(),
        }
        if held.len() > limit {
            return Ok(Held::Over(held.freeze(), body));
        }
    }
    Ok(Held::Whole(held.freeze(), trailers))
}
