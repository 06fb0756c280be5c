//! A stream of which the beginning was read already.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

/// Gives `prefix` first, then what `inner` gives.
pub(super) struct Prefixed<S> {
    inner: S,
    prefix: Vec<u8>,
    at: usize,
}

impl<S> Prefixed<S> {
    pub(super) fn new(inner: S, prefix: Vec<u8>) -> Self {
        Self { inner, prefix, at: 0 }
    }

    /// What was read and not given yet.
    pub(super) fn unread(&self) -> &[u8] {
        self.prefix.get(self.at..).unwrap_or_default()
    }

    /// The stream and what was read of it.
    pub(super) fn into_parts(mut self) -> (S, Vec<u8>) {
        (self.inner, self.prefix.split_off(self.at.min(self.prefix.len())))
    }
}

impl<S: AsyncRead + Unpin> Prefixed<S> {
    /// Reads on; gives the number of new bytes, 0 at the end.
    pub(super) async fn read_more(&mut self) -> io::Result<usize> {
        self.inner.read_buf(&mut self.prefix).await
    }

    /// The first byte, which stays to be read; `None` at the end.
    pub(super) async fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.unread().is_empty() {
            self.read_more().await?;
        }
        Ok(self.unread().first().copied())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Prefixed<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.at < this.prefix.len() {
            let rest = this.unread();
            let step = rest.len().min(buf.remaining());
            buf.put_slice(rest.get(..step).unwrap_or_default());
            this.at += step;
            if this.at == this.prefix.len() {
                (this.prefix, this.at) = (Vec::new(), 0);
            }
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut this.inner).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Prefixed<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
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
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
