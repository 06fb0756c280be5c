//! A stream on which a failed write does not hide what the other side said before: an origin that answers an upload early and
//! closes resets the connection under it (RFC 9112, section 9.6), and its answer is still there to be read.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Reads go on after the other side has stopped to listen; writes then go nowhere, and the end of the reads tells.
pub struct LastWords<S> {
    inner: S,
    unheard: bool,
}

impl<S> LastWords<S> {
    pub fn new(inner: S) -> Self {
        Self { inner, unheard: false }
    }

    /// What a write of `length` bytes came to.
    fn heard(&mut self, written: Poll<io::Result<usize>>, length: usize) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Err(error)) if is_reset(&error) => {
                self.unheard = true;
                Poll::Ready(Ok(length))
            }
            written => written,
        }
    }
}

fn is_reset(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

impl<S: AsyncRead + Unpin> AsyncRead for LastWords<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LastWords<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.unheard {
            return Poll::Ready(Ok(buf.len()));
        }
        let written = Pin::new(&mut self.inner).poll_write(cx, buf);
        self.heard(written, buf.len())
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let length = || bufs.iter().map(|buf| buf.len()).sum();
        if self.unheard {
            return Poll::Ready(Ok(length()));
        }
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, bufs);
        self.heard(written, length())
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.unheard {
            return Poll::Ready(Ok(()));
        }
        let flushed = Pin::new(&mut self.inner).poll_flush(cx).map_ok(|()| 0);
        self.heard(flushed, 0).map_ok(|_| ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
