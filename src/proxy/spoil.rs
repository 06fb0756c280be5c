//! An answer on HTTP/1 that no client takes for one: a head with NUL bytes in a field (RFC 9110, section 5.5), then the end of the
//! connection. Where the connection just closed instead, a browser would send the request again.
//!
//! hyper writes no malformed head, so it writes a well-formed one with a token that nobody can foresee, and the stream below it
//! puts NULs in the token's place. Whatever stands before it in hyper's buffer passes untouched.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What service and stream of one connection share. Both run on one thread; hyper wants a stream that could move.
#[derive(Debug, Default)]
pub(super) struct Mark {
    armed: AtomicBool,
    token: Mutex<String>,
}

/// The stream below hyper.
pub(super) struct Spoil<S> {
    inner: S,
    mark: Arc<Mark>,
    /// NULs that are still to be written in place of the token's bytes.
    left: usize,
}

impl Mark {
    /// From now on `token` is spoiled where it is written.
    pub(super) fn arm(&self, token: &str) {
        token.clone_into(&mut self.token.lock().unwrap_or_else(PoisonError::into_inner));
        self.armed.store(true, Ordering::Relaxed);
    }

    /// Where the token begins in `bytes`, and its length.
    fn find(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        if !self.armed.load(Ordering::Relaxed) {
            return None;
        }
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        let at = bytes.windows(token.len().max(1)).position(|window| window == token.as_bytes())?;
        Some((at, token.len()))
    }
}

impl<S> Spoil<S> {
    pub(super) fn new(inner: S) -> (Self, Arc<Mark>) {
        let mark = Arc::new(Mark::default());
        (Self { inner, mark: mark.clone(), left: 0 }, mark)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Spoil<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Spoil<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.left == 0 {
            match self.mark.find(buf) {
                None => return Pin::new(&mut self.inner).poll_write(cx, buf),
                Some((0, length)) => self.left = length,
                Some((before, _)) => {
                    let before = buf.get(..before).unwrap_or_default();
                    return Pin::new(&mut self.inner).poll_write(cx, before);
                }
            }
        }
        const NULS: [u8; 64] = [0; 64];
        let nuls = NULS.get(..self.left.min(buf.len())).unwrap_or(&NULS);
        let written = ready!(Pin::new(&mut self.inner).poll_write(cx, nuls))?;
        self.left -= written;
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.left == 0 && !self.mark.armed.load(Ordering::Relaxed) {
            return Pin::new(&mut self.inner).poll_write_vectored(cx, bufs);
        }
        let first = bufs.iter().find(|buf| !buf.is_empty()).map_or(&[][..], |buf| &**buf);
        self.poll_write(cx, first)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[test]
    fn only_the_token_is_spoiled_however_the_writes_are_cut() {
        let runtime = tokio::runtime::Builder::new_current_thread().build_local(Default::default()).unwrap();
        for room in [1, 3, 7, 16, 1000] {
            let (near, mut far) = tokio::io::duplex(room);
            let read = runtime.block_on(async {
                let (mut stream, mark) = Spoil::new(near);
                let write = async {
                    stream.write_all(b"before TOKEN ").await.unwrap();
                    mark.arm("TOKEN");
                    stream.write_all(b"the rest of it\r\nx: TOKEN\r\n\r\n").await.unwrap();
                    drop(stream);
                };
                let mut read = Vec::new();
                let (_, length) = tokio::join!(write, far.read_to_end(&mut read));
                length.unwrap();
                read
            });
            assert_eq!(read, b"before TOKEN the rest of it\r\nx: \0\0\0\0\0\r\n\r\n", "{room}");
        }
    }
}
