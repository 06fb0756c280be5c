//! Fewer and fuller writes for HTTP/2. The protocol's implementation flushes before each larger frame; here a flush is
//! answered at once, and what was written is sent together when the connection has done all that it can do for now.

use bytes::{Buf, BytesMut};
use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What is gathered at most before it is sent in any case; larger writes into an empty buffer are not copied.
const FULL: usize = 32 << 10;

/// The stream that a connection is given.
pub(super) struct Cork<S>(Rc<RefCell<Corked<S>>>);

struct Corked<S> {
    stream: S,
    gathered: BytesMut,
}

/// A connection together with the sending of what it wrote.
pub(super) struct Uncorked<C, S> {
    connection: C,
    /// Set once the connection has ended; what it wrote last is still to be sent.
    ended: bool,
    corked: Rc<RefCell<Corked<S>>>,
}

impl<S: AsyncWrite + Unpin> Corked<S> {
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.gathered.is_empty() {
            match ready!(Pin::new(&mut self.stream).poll_write(cx, &self.gathered))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                sent => self.gathered.advance(sent),
            }
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Cork<S> {
    /// Serves `stream` with the connection that `serve` makes of it. The future ends when the connection has.
    pub(super) fn around<C>(stream: S, serve: impl FnOnce(Self) -> C) -> Uncorked<C, S>
    where
        C: Future + Unpin,
    {
        let corked = Rc::new(RefCell::new(Corked { stream, gathered: BytesMut::new() }));
        Uncorked { connection: serve(Self(corked.clone())), ended: false, corked }
    }
}

impl<C: Future + Unpin, S: AsyncWrite + Unpin> Future for Uncorked<C, S> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if !self.ended {
            self.ended = Pin::new(&mut self.connection).poll(cx).is_ready();
        }
        let ended = self.ended;
        match self.corked.borrow_mut().poll_send(cx) {
            Poll::Ready(Ok(())) if !ended => Poll::Pending,
            // An error ends it as well: there is no one left to write to.
            Poll::Ready(_) => Poll::Ready(()),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Cork<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.borrow_mut().stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Cork<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let mut corked = self.0.borrow_mut();
        if corked.gathered.len() >= FULL {
            ready!(corked.poll_send(cx))?;
        }
        if corked.gathered.is_empty() && buf.len() >= FULL {
            return Pin::new(&mut corked.stream).poll_write(cx, buf);
        }
        corked.gathered.extend_from_slice(buf);
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut corked = self.0.borrow_mut();
        if corked.gathered.len() >= FULL {
            ready!(corked.poll_send(cx))?;
        }
        let length = bufs.iter().map(|buf| buf.len()).sum();
        bufs.iter().for_each(|buf| corked.gathered.extend_from_slice(buf));
        Poll::Ready(Ok(length))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut corked = self.0.borrow_mut();
        ready!(corked.poll_send(cx))?;
        Pin::new(&mut corked.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[test]
    fn everything_arrives_in_order_and_small_writes_together() {
        let runtime = tokio::runtime::Builder::new_current_thread().build_local(Default::default()).unwrap();
        runtime.block_on(async {
            let (mut near, far) = tokio::io::duplex(100_000);
            let pieces: Vec<Vec<u8>> = [10, 20, 40_000, 5, 33_000, 70_000, 1]
                .into_iter()
                .enumerate()
                .map(|(n, size)| vec![u8::try_from(n).unwrap(); size])
                .collect();
            let written = pieces.clone();
            let task = Cork::around(far, |mut stream| {
                Box::pin(async move {
                    for piece in written {
                        stream.write_all(&piece).await.unwrap();
                        stream.flush().await.unwrap();
                    }
                })
            });
            let serving = tokio::task::spawn_local(task);
            let mut first = vec![0; 100_000];
            let length = near.read(&mut first).await.unwrap();
            assert!(length > 30, "the first writes were gathered: {length}");
            let mut all = first[..length].to_vec();
            near.read_to_end(&mut all).await.unwrap();
            assert_eq!(all, pieces.concat());
            serving.await.unwrap();
        });
    }
}
