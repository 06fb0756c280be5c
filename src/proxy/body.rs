//! Bodies as they pass: enums instead of boxes, so that what streams through is polled without a detour.

use super::upstream::Lease;
use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The body of a request on its way to the origin.
pub(super) enum RequestBody {
    /// None.
    Empty,
    /// Held while it was judged.
    Held(Option<Bytes>, Option<HeaderMap>),
    /// The held beginning of a body that was too long to be held whole, then the rest.
    Begun(Option<Bytes>, Incoming),
    /// Not held at all.
    Streamed(Incoming),
    /// Not held, and searched for the prefix as it passes.
    Searched(Incoming, Search),
}

/// Looks for a text in a stream of chunks.
pub(super) struct Search {
    wanted: Vec<u8>,
    tail: Vec<u8>,
    found: Option<Box<dyn FnOnce()>>,
}

/// The body of a response on its way to the client.
pub(super) enum ResponseBody {
    /// None.
    Empty,
    /// Our own answer.
    Own(Option<Bytes>),
    /// The origin's; when it ends, the connection goes back to the pool.
    Origin(Incoming, Option<Lease>),
}

impl Search {
    /// Calls `found` once when `wanted`, which is not empty, passes.
    pub(super) fn new(wanted: &str, found: impl FnOnce() + 'static) -> Self {
        Self { wanted: wanted.as_bytes().to_vec(), tail: Vec::new(), found: Some(Box::new(found)) }
    }

    fn look(&mut self, chunk: &[u8]) {
        let keep = self.wanted.len().saturating_sub(1);
        if self.found.is_none() || self.wanted.is_empty() {
            return;
        }
        // What was cut between two chunks is seen in the join of both ends.
        let mut join = std::mem::take(&mut self.tail);
        join.extend_from_slice(chunk.get(..keep.min(chunk.len())).unwrap_or_default());
        if contains(&join, &self.wanted) || contains(chunk, &self.wanted) {
            if let Some(found) = self.found.take() {
                found();
            }
            return;
        }
        let end = if chunk.len() >= keep { chunk } else { join.as_slice() };
        self.tail = end.get(end.len().saturating_sub(keep)..).unwrap_or_default().to_vec();
    }
}

fn contains(text: &[u8], wanted: &[u8]) -> bool {
    text.windows(wanted.len()).any(|window| window == wanted)
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Empty => Poll::Ready(None),
            Self::Held(bytes, trailers) => {
                let data = bytes.take().map(Frame::data);
                Poll::Ready(data.or_else(|| trailers.take().map(Frame::trailers)).map(Ok))
            }
            Self::Begun(begin, rest) => match begin.take() {
                Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
                None => Pin::new(rest).poll_frame(cx),
            },
            Self::Streamed(body) => Pin::new(body).poll_frame(cx),
            Self::Searched(body, search) => {
                let frame = ready!(Pin::new(body).poll_frame(cx));
                if let Some(data) =
                    frame.as_ref().and_then(|frame| frame.as_ref().ok()).and_then(Frame::data_ref)
                {
                    search.look(data);
                }
                Poll::Ready(frame)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Held(bytes, trailers) => bytes.is_none() && trailers.is_none(),
            Self::Begun(begin, rest) => begin.is_none() && rest.is_end_stream(),
            Self::Streamed(body) | Self::Searched(body, _) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Empty => SizeHint::with_exact(0),
            // Trailers need the chunked coding.
            Self::Held(_, Some(_)) => SizeHint::default(),
            Self::Held(bytes, None) => SizeHint::with_exact(length(bytes.as_ref())),
            Self::Begun(begin, rest) => {
                let rest = rest.size_hint();
                rest.exact().map_or_else(SizeHint::default, |rest| {
                    SizeHint::with_exact(rest + length(begin.as_ref()))
                })
            }
            Self::Streamed(body) | Self::Searched(body, _) => body.size_hint(),
        }
    }
}

fn length(bytes: Option<&Bytes>) -> u64 {
    bytes.map_or(0, |bytes| bytes.len() as u64)
}

impl ResponseBody {
    /// The origin's body; a connection whose response has none is free again at once.
    pub(super) fn from_origin(body: Incoming, lease: Option<Lease>) -> Self {
        if body.is_end_stream() {
            if let Some(lease) = lease {
                lease.give_back();
            }
            return Self::Empty;
        }
        Self::Origin(body, lease)
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Empty => Poll::Ready(None),
            Self::Own(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Origin(body, lease) => {
                let frame = ready!(Pin::new(&mut *body).poll_frame(cx));
                if (frame.is_none() || body.is_end_stream())
                    && let Some(lease) = lease.take()
                {
                    lease.give_back();
                }
                Poll::Ready(frame)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Own(bytes) => bytes.is_none(),
            Self::Origin(body, _) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Empty => SizeHint::with_exact(0),
            Self::Own(bytes) => SizeHint::with_exact(length(bytes.as_ref())),
            Self::Origin(body, _) => body.size_hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::rc::Rc;

    proptest! {
        #[test]
        fn a_search_sees_across_chunks(text in "[QA_x]{0,30}", cuts in proptest::collection::vec(1..5usize, 1..40)) {
            let found = Rc::new(Cell::new(false));
            let seen = found.clone();
            let mut search = Search::new("QA_Q", move || seen.set(true));
            let mut rest = text.as_bytes();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break }
                let (chunk, later) = rest.split_at((*cut).min(rest.len()));
                search.look(chunk);
                rest = later;
            }
            prop_assert_eq!(found.get(), text.contains("QA_Q"));
        }
    }
}
