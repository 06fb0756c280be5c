//! From an accepted socket to HTTP: CONNECT or an absolute-form request, then TLS or clear text inside a tunnel.
//!
//! The whole head, or the whole ClientHello, is read before anything is decided, however it is cut into segments. What is
//! neither TLS nor HTTP is recorded, and relayed only where the policy permits what nobody can read.

use super::Proxy;
use super::attempts::Visit;
use super::conn::{Place, serve_http1, serve_http2};
use super::credentials::asked_for_bytes;
use super::head::framing::MAX_HEAD;
use super::names::{Authority, Origin, Scheme};
use super::note::{event, note};
use super::prefixed::Prefixed;
use super::sniff::{Connect, Malformed, connect, first_line};
use super::upstream::Dialer;
use crate::policy::{Decision, Permit};
use crate::record::{Event, EventAction};
use rustls::server::Acceptor;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::LazyConfigAcceptor;

/// How long a tunnel may stay silent: browsers open some that they never use, and some servers speak first.
const SILENCE: Duration = Duration::from_secs(10);

/// How long a head or a handshake may take once it has begun.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long an accepted socket may stay silent.
const IDLE: Duration = Duration::from_secs(60);

const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";
const TLS_HANDSHAKE: u8 = 0x16;

/// How a connection to a port begins.
enum Opening {
    /// A CONNECT, and what was read behind its head.
    Connect(Connect, Vec<u8>),
    /// Anything else that may be HTTP.
    Http(Vec<u8>),
    /// A CONNECT that is none.
    Malformed(Malformed),
    /// Not a byte, or not enough.
    Nothing,
    /// It broke off within a CONNECT.
    Cut,
}

/// Serves one connection to the port of an attempt or of the run.
pub(super) async fn serve(proxy: Rc<Proxy>, visit: Visit, socket: TcpStream) {
    let closed = visit.port().closed().clone();
    tokio::select! {
        () = opened(proxy, visit, socket) => {}
        () = closed.cancelled() => {}
    }
}

async fn opened(proxy: Rc<Proxy>, visit: Visit, mut socket: TcpStream) {
    match opening(&mut socket).await {
        Opening::Http(first) => serve_http1(proxy, visit, Place::Open, socket, first).await,
        Opening::Connect(connect, _)
            if proxy
                .credentials
                .as_ref()
                .is_some_and(|wanted| !wanted.are(connect.credentials.as_deref())) =>
        {
            // Whoever it is, it is no traffic of the attempt's.
            if socket.write_all(asked_for_bytes().as_bytes()).await.is_ok() {
                let _ = socket.shutdown().await;
            }
        }
        Opening::Connect(connect, rest) => match connect.target {
            Ok(authority) => {
                if socket.write_all(ESTABLISHED).await.is_ok() {
                    tunnelled(proxy, visit, authority, Prefixed::new(socket, rest)).await;
                }
            }
            Err(malformed) => refuse(&visit, socket, &malformed).await,
        },
        Opening::Malformed(malformed) => refuse(&visit, socket, &malformed).await,
        Opening::Cut => note(&visit.port().ledger(), "the connection ended within a CONNECT", "CONNECT", "?"),
        Opening::Nothing => {}
    }
}

/// Reads until it is known whether this is a CONNECT, and then to the end of its head.
async fn opening(socket: &mut TcpStream) -> Opening {
    const CONNECT: &[u8] = b"CONNECT ";
    let mut read = Vec::with_capacity(512);
    loop {
        let wait = if read.is_empty() { IDLE } else { PATIENCE };
        match timeout(wait, socket.read_buf(&mut read)).await {
            Ok(Ok(1..)) => {}
            _ if read.is_empty() => return Opening::Nothing,
            _ if read.starts_with(CONNECT) => return Opening::Cut,
            // Whatever it is, the check of heads says so.
            _ => return Opening::Http(read),
        }
        let known = read.len().min(CONNECT.len());
        if read.get(..known) != CONNECT.get(..known) {
            return Opening::Http(read);
        }
        if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            let rest = read.split_off(end + 4);
            return match connect(&read) {
                Ok(connect) => Opening::Connect(connect, rest),
                Err(malformed) => Opening::Malformed(malformed),
            };
        }
        if read.len() > MAX_HEAD {
            let reason = "the head of a CONNECT is too long".to_owned();
            return Opening::Malformed(Malformed { reason, target: "?".into() });
        }
    }
}

async fn refuse(visit: &Visit, mut socket: TcpStream, Malformed { reason, target }: &Malformed) {
    note(&visit.port().ledger(), reason, "CONNECT", target);
    let body = format!("qa-pilot: {reason}\n");
    let answer = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    // The client may be gone; it is recorded either way.
    if socket.write_all(answer.as_bytes()).await.is_ok() {
        let _ = socket.shutdown().await;
    }
}

async fn tunnelled(proxy: Rc<Proxy>, visit: Visit, authority: Authority, mut stream: Prefixed<TcpStream>) {
    // Silence counts for nothing.
    let Ok(Ok(Some(first))) = timeout(SILENCE, stream.peek()).await else { return };
    if first == TLS_HANDSHAKE {
        return encrypted(proxy, visit, authority, stream).await;
    }
    match timeout(PATIENCE, looks_like_http(&mut stream)).await {
        Ok(Ok(true)) => {
            let origin = Origin { scheme: Scheme::Http, authority };
            let (socket, first) = stream.into_parts();
            serve_http1(proxy, visit, Place::Tunnel { origin, other_name: None }, socket, first).await;
        }
        _ => opaque(proxy, visit, authority, stream).await,
    }
}

/// Whether the first line can be one of HTTP. Reads no further than that takes.
async fn looks_like_http(stream: &mut Prefixed<TcpStream>) -> std::io::Result<bool> {
    loop {
        if let Some(is) = first_line(stream.unread()) {
            return Ok(is);
        }
        if stream.read_more().await? == 0 {
            return Ok(false);
        }
    }
}

async fn encrypted(proxy: Rc<Proxy>, visit: Visit, authority: Authority, stream: Prefixed<TcpStream>) {
    let target = authority.to_string();
    let start = match timeout(PATIENCE, LazyConfigAcceptor::new(Acceptor::default(), stream)).await {
        Ok(Ok(start)) => start,
        Ok(Err(error)) => {
            let ledger = visit.port().ledger();
            ledger.with(|recorder| recorder.opaque());
            return note(&ledger, &format!("no tls handshake can be read: {error}"), "CONNECT", &target);
        }
        Err(_) => {
            return note(
                &visit.port().ledger(),
                "the tls handshake did not arrive whole",
                "CONNECT",
                &target,
            );
        }
    };
    let server_name = start.client_hello().server_name().map(str::to_owned);
    let other_name = server_name.filter(|name| !authority.is_named(name));
    let config = match proxy.leaves.config_for(&authority.host) {
        Ok(config) => config,
        Err(error) => return note(&visit.port().ledger(), &error.to_string(), "CONNECT", &target),
    };
    let accepted = timeout(PATIENCE, start.into_stream(config)).await;
    let Ok(Ok(stream)) = accepted else {
        // Nothing was asked for yet. A client that does not trust us tries again, or tells its user.
        if let Some(name) = &other_name {
            note(
                &visit.port().ledger(),
                &format!("the tls server name {name:?} is not the host of the tunnel"),
                "CONNECT",
                &target,
            );
        }
        return;
    };
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let place = Place::Tunnel { origin: Origin { scheme: Scheme::Https, authority }, other_name };
    if is_http2 {
        serve_http2(proxy, visit, place, stream).await;
    } else {
        serve_http1(proxy, visit, place, stream, Vec::new()).await;
    }
}

async fn opaque(proxy: Rc<Proxy>, visit: Visit, authority: Authority, stream: Prefixed<TcpStream>) {
    let ledger = visit.port().ledger();
    let target = authority.to_string();
    ledger.with(|recorder| recorder.opaque());
    let own = authority.is_loopback_at(|port| proxy.attempts.is_own(port));
    match proxy.rules.decide_opaque(ledger.standing()) {
        Decision::Permit(permit) if !own => {
            let reason = permit.observed().map_or("", |observed| observed.reason.as_str());
            if ledger.add(Event::Request(event(EventAction::Observe, reason, "CONNECT", &target))).is_some() {
                relay(permit, proxy.pool.dialer(), authority, stream).await;
            }
        }
        Decision::Refuse(refusal) => note(&ledger, &refusal.reason, "CONNECT", &target),
        Decision::Permit(_) | Decision::Drop => {
            note(&ledger, "a listener of the guard itself", "CONNECT", &target)
        }
    }
}

/// Copies bytes both ways.
async fn relay(_permit: Permit, dialer: &Dialer, authority: Authority, mut stream: Prefixed<TcpStream>) {
    let origin = Origin { scheme: Scheme::Http, authority };
    match dialer.dial(&origin).await {
        Ok(mut upstream) => {
            // Either side may break off at any time; the other one then sees the end.
            let _ = copy_bidirectional(&mut stream, &mut upstream).await;
        }
        Err(error) => tracing::debug!("{error}"),
    }
}
