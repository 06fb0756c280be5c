//! HTTP/2 requests that the implementation refuses before any service sees them: malformed pseudo-header fields, fields that
//! belong to one connection, broken compression. It tells its client alone, by a frame, so that frame is where we hear of it
//! (RFC 9113, sections 4.1, 6.4, 6.8 and 8.1.1).

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const RST_STREAM: u8 = 3;
const GOAWAY: u8 = 7;

/// Follows the frames that are written, whatever pieces they come in.
#[derive(Debug, Default)]
pub(super) struct Resets {
    /// The header of the frame, and of a frame that tells an error the bytes up to its code.
    begun: Vec<u8>,
    /// Bytes of the frame that are passed over.
    left: usize,
}

impl Resets {
    /// Walks over bytes, and gives the name of the first error that a client caused.
    pub(super) fn walk(&mut self, mut bytes: &[u8]) -> Option<&'static str> {
        let mut found = None;
        while !bytes.is_empty() {
            let step = self.left.min(bytes.len());
            self.left -= step;
            bytes = bytes.get(step..).unwrap_or_default();
            let Some((byte, rest)) = bytes.split_first() else { break };
            self.begun.push(*byte);
            bytes = rest;
            let [a, b, c, kind, _, _, _, _, _, payload @ ..] = self.begun.as_slice() else { continue };
            let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
            let code_at = match *kind {
                RST_STREAM => 0,
                GOAWAY => 4,
                _ => {
                    self.left = length;
                    self.begun.clear();
                    continue;
                }
            };
            if let Some(code) = payload.get(code_at..code_at + 4) {
                found = found.or(fault(code));
                self.left = length.saturating_sub(payload.len());
                self.begun.clear();
            }
        }
        found
    }
}

/// Codes that say that a request was malformed. Others are answers of ours, or end what a client itself gave up.
fn fault(code: &[u8]) -> Option<&'static str> {
    match code {
        [0, 0, 0, 1] => Some("PROTOCOL_ERROR"),
        [0, 0, 0, 3] => Some("FLOW_CONTROL_ERROR"),
        [0, 0, 0, 6] => Some("FRAME_SIZE_ERROR"),
        [0, 0, 0, 9] => Some("COMPRESSION_ERROR"),
        _ => None,
    }
}

/// A stream that calls `refused` with the name of each such error.
pub struct WatchResets<S, F> {
    inner: S,
    resets: Resets,
    refused: F,
}

impl<S, F: Fn(&'static str)> WatchResets<S, F> {
    /// Watches what is written to `inner`.
    pub fn new(inner: S, refused: F) -> Self {
        Self { inner, resets: Resets::default(), refused }
    }

    fn look(&mut self, bytes: &[u8]) {
        if let Some(name) = self.resets.walk(bytes) {
            (self.refused)(name);
        }
    }
}

impl<S: AsyncRead + Unpin, F: Unpin> AsyncRead for WatchResets<S, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin, F: Fn(&'static str) + Unpin> AsyncWrite for WatchResets<S, F> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.inner).poll_write(cx, buf);
        if let Poll::Ready(Ok(length)) = &written {
            this.look(buf.get(..*length).unwrap_or_default());
        }
        written
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.inner).poll_write_vectored(cx, bufs);
        if let Poll::Ready(Ok(length)) = &written {
            let mut left = *length;
            for buf in bufs {
                let piece = buf.get(..left.min(buf.len())).unwrap_or_default();
                left -= piece.len();
                this.look(piece);
            }
        }
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).unwrap();
        [&[0, 0, length, kind, 0, 0, 0, 0, 1], payload].concat()
    }

    #[test]
    fn errors_that_a_client_caused_are_told() {
        for (bytes, want) in [
            (frame(3, &[0, 0, 0, 1]), Some("PROTOCOL_ERROR")),
            (frame(3, &[0, 0, 0, 8]), None),
            (frame(3, &[0, 0, 0, 0]), None),
            (frame(7, &[0, 0, 0, 9, 0, 0, 0, 9, b'x']), Some("COMPRESSION_ERROR")),
            (frame(7, &[0, 0, 0, 1, 0, 0, 0, 0]), None),
            (frame(0, &frame(3, &[0, 0, 0, 1])), None),
        ] {
            assert_eq!(Resets::default().walk(&bytes), want, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn they_are_found_however_the_frames_are_cut(kinds in proptest::collection::vec((0..9u8, 8..40usize), 0..8), cut in 1..50usize) {
            let mut bytes: Vec<u8> = kinds.iter().filter(|(kind, _)| ![3, 7].contains(kind)).flat_map(|(kind, size)| frame(*kind, &vec![1; *size])).collect();
            bytes.extend(frame(7, &[0, 0, 0, 9, 0, 0, 0, 6, b'w', b'h', b'y']));
            bytes.extend(frame(1, b"after"));
            let mut resets = Resets::default();
            let found: Vec<_> = bytes.chunks(cut).filter_map(|piece| resets.walk(piece)).collect();
            prop_assert_eq!(found, ["FRAME_SIZE_ERROR"]);
            prop_assert!(resets.begun.is_empty() && resets.left == 0);
        }
    }
}
