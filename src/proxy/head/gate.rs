//! A byte stream that lets only whole, unambiguous HTTP/1 heads through to hyper, on keep-alive connections too.
//!
//! A head with a fault is replaced by a harmless stand-in, so that hyper answers in order and the service, which counts heads
//! as they come ([`Gate::fault_of`]), can record the fault and answer 400. Nothing behind a fault is read as a request.

use super::framing::{Chunk, Fault, Framing, read_head};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// What hyper reads in place of a head with a fault.
const STAND_IN: &[u8] =
    b"GET http://fault.invalid/ HTTP/1.1\r\nhost: fault.invalid\r\nconnection: close\r\n\r\n";

/// How long a head may take from its first byte to its last.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// What stream and service of one connection share. Both run on one thread; hyper wants a stream that could move.
#[derive(Debug, Default)]
pub struct Gate {
    heads: AtomicU64,
    served: AtomicU64,
    /// [`NO`], [`ASKED`] or [`RAW`].
    upgrade: AtomicU8,
    rare: Mutex<Rare>,
}

/// What is needed on few connections only.
#[derive(Debug, Default)]
struct Rare {
    fault: Option<(u64, Fault)>,
    unserved: Option<Fault>,
    waker: Option<Waker>,
}

/// No upgrade is under way.
const NO: u8 = 0;

/// A head asked for an upgrade; nothing is read until the service has answered.
const ASKED: u8 = 1;

/// The bytes are another protocol's from here on.
const RAW: u8 = 2;

impl Gate {
    /// Called by the service once for each request, first thing: the fault that this request stands in for.
    pub fn fault_of_next(&self) -> Option<Fault> {
        let index = self.served.fetch_add(1, Ordering::Relaxed);
        if index + 1 < self.heads.load(Ordering::Relaxed) {
            return None;
        }
        self.rare().fault.take_if(|(at, _)| *at == index).map(|(_, fault)| fault)
    }

    /// What arrived and never became a request, once the connection is over.
    pub fn take_unserved(&self) -> Option<Fault> {
        let mut rare = self.rare();
        rare.unserved.take().or_else(|| rare.fault.take().map(|(_, fault)| fault))
    }

    /// Tells the stream how an upgrade that a head asked for was answered.
    pub fn answer_upgrade(&self, accepted: bool) {
        if self.upgrade.load(Ordering::Relaxed) == ASKED {
            self.upgrade.store(if accepted { RAW } else { NO }, Ordering::Relaxed);
            if let Some(waker) = self.rare().waker.take() {
                waker.wake();
            }
        }
    }

    fn rare(&self) -> MutexGuard<'_, Rare> {
        self.rare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is(&self, upgrade: u8) -> bool {
        self.upgrade.load(Ordering::Relaxed) == upgrade
    }
}

#[derive(Clone, Copy, Debug)]
enum State {
    Head,
    Length(u64),
    Chunked(Chunk),
    /// The stand-in was given; the rest is thrown away.
    Faulted,
}

/// The stream that hyper reads from. Writes pass untouched.
pub struct HeadStream<S> {
    inner: S,
    gate: Arc<Gate>,
    state: State,
    /// Read and not yet checked: part of a head, or what is behind one.
    held: Vec<u8>,
    /// Checked and not yet handed out: `held[..ready]`.
    ready: usize,
    /// Given before anything else.
    stand_in: &'static [u8],
    deadline: Option<Pin<Box<Sleep>>>,
    patience: Duration,
}

impl<S> HeadStream<S> {
    /// A stream that begins with `first`, the bytes that were read to find out what this connection is.
    pub fn new(inner: S, first: Vec<u8>) -> (Self, Arc<Gate>) {
        let gate = Arc::new(Gate::default());
        let stream = Self {
            inner,
            gate: gate.clone(),
            state: State::Head,
            held: first,
            ready: 0,
            stand_in: &[],
            deadline: None,
            patience: HEAD_TIMEOUT,
        };
        (stream, gate)
    }

    /// Checks as much of `bytes` as can be; gives how many may be handed out. A fault in a head changes the state.
    fn check(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            match self.state {
                State::Faulted => break,
                State::Head if self.gate.is(ASKED) => break,
                // Empty lines before a request are ignored (RFC 9112, section 2.2), by hyper too.
                State::Head if rest.starts_with(b"\r\n") => at += 2,
                State::Head => match read_head(rest) {
                    Ok(Some(head)) => {
                        at += head.length;
                        self.gate.heads.fetch_add(1, Ordering::Relaxed);
                        self.deadline = None;
                        if head.upgrade {
                            self.gate.upgrade.store(ASKED, Ordering::Relaxed);
                        }
                        self.state = match head.framing {
                            Framing::Length(0) => State::Head,
                            Framing::Length(length) => State::Length(length),
                            Framing::Chunked => State::Chunked(Chunk::START),
                        };
                    }
                    Ok(None) => break,
                    Err(fault) => {
                        self.refuse(fault);
                        break;
                    }
                },
                State::Length(left) => {
                    let step = left.min(rest.len() as u64);
                    at += usize::try_from(step).unwrap_or(usize::MAX);
                    self.state = if step == left { State::Head } else { State::Length(left - step) };
                }
                State::Chunked(chunk) => {
                    let (used, next) = chunk.walk(rest).map_err(|reason| self.break_body(reason))?;
                    at += used;
                    self.state = next.map_or(State::Head, State::Chunked);
                }
            }
        }
        Ok(at)
    }

    fn refuse(&mut self, fault: Fault) {
        self.gate.rare().fault = Some((self.gate.heads.load(Ordering::Relaxed), fault));
        self.gate.heads.fetch_add(1, Ordering::Relaxed);
        self.deadline = None;
        self.state = State::Faulted;
        self.stand_in = STAND_IN;
    }

    fn break_body(&self, reason: &str) -> io::Error {
        self.gate.rare().unserved = Some(Fault::new(format!("{reason} in a request body")));
        io::Error::new(io::ErrorKind::InvalidData, reason.to_owned())
    }

    /// The other side sent its last byte.
    fn end(&mut self) {
        if matches!(self.state, State::Head) && !self.held.iter().all(|byte| matches!(byte, b'\r' | b'\n')) {
            self.gate.rare().unserved = Some(Fault::new("the connection ended within a request head"));
        }
    }
}

impl<S: AsyncRead + Unpin> HeadStream<S> {
    fn poll_deadline(&mut self, cx: &mut Context<'_>) {
        if self.held.is_empty() || !matches!(self.state, State::Head) {
            return;
        }
        let patience = self.patience;
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + patience)));
        if deadline.as_mut().poll(cx).is_ready() {
            self.refuse(Fault::new(format!("the request head did not arrive whole in {patience:?}")));
        }
    }

    /// Throws away what follows a fault, so that the answer is not lost in a reset of the connection.
    fn discard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.held = Vec::new();
        let mut scratch = [0; 4096];
        loop {
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(&mut self.inner).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                // The end is not passed on: hyper would drop the answer.
                _ => return Poll::Pending,
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HeadStream<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if buf.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            if this.gate.is(RAW) {
                if this.held.is_empty() {
                    return Pin::new(&mut this.inner).poll_read(cx, buf);
                }
                this.ready = this.held.len();
            }
            if this.ready > 0 {
                let step = this.ready.min(buf.remaining());
                buf.put_slice(this.held.get(..step).unwrap_or_default());
                this.held.drain(..step);
                this.ready -= step;
                return Poll::Ready(Ok(()));
            }
            if !this.stand_in.is_empty() {
                let (now, later) = this.stand_in.split_at(this.stand_in.len().min(buf.remaining()));
                buf.put_slice(now);
                this.stand_in = later;
                return Poll::Ready(Ok(()));
            }
            if matches!(this.state, State::Faulted) {
                return this.discard(cx);
            }
            if matches!(this.state, State::Head) && this.gate.is(ASKED) {
                this.gate.rare().waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            if !this.held.is_empty() {
                let held = std::mem::take(&mut this.held);
                let checked = this.check(&held);
                this.held = held;
                this.ready = checked?;
                if this.ready > 0 || matches!(this.state, State::Faulted) {
                    continue;
                }
                this.poll_deadline(cx);
                if matches!(this.state, State::Faulted) {
                    continue;
                }
            }
            if this.held.is_empty() {
                this.deadline = None;
            }
            let before = buf.filled().len();
            match Pin::new(&mut this.inner).poll_read(cx, buf) {
                Poll::Ready(Ok(())) => {}
                other => return other,
            }
            if buf.filled().len() == before {
                this.end();
                return Poll::Ready(Ok(()));
            }
            // The usual case costs no copy: what was read is checked where it lies, and only a rest is taken back.
            let fresh = buf.filled().get(before..).unwrap_or_default();
            if this.held.is_empty() {
                let (used, rest) = this.check_in_place(fresh)?;
                this.held = rest;
                buf.set_filled(before + used);
                if used > 0 {
                    return Poll::Ready(Ok(()));
                }
            } else {
                this.held.extend_from_slice(fresh);
                buf.set_filled(before);
            }
        }
    }
}

impl<S> HeadStream<S> {
    fn check_in_place(&mut self, fresh: &[u8]) -> io::Result<(usize, Vec<u8>)> {
        let used = self.check(fresh)?;
        let rest = if matches!(self.state, State::Faulted) {
            &[][..]
        } else {
            fresh.get(used..).unwrap_or_default()
        };
        Ok((used, rest.to_vec()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HeadStream<S> {
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

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
