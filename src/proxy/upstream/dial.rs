//! A connection to an origin: resolved, TCP, TLS where the scheme says so.

use super::tls::Protocol;
use super::via::UpstreamProxy;
use super::way::Way;
use super::{Trouble, UpstreamError};
use crate::proxy::names::{Origin, Scheme};
use crate::proxy::network::Network;
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, Error as TlsError};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::Host;

/// How long one address may take to accept.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a TLS handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens connections.
pub struct Dialer {
    way: Way,
    network: Network,
    /// Whether an address is one of the guard's own listeners.
    is_own: Box<dyn Fn(SocketAddr) -> bool>,
}

/// A connection to an origin.
pub enum Stream {
    /// Clear text.
    Plain(TcpStream),
    /// TLS.
    Tls(Box<TlsStream<TcpStream>>),
}

/// Why there is no TLS session.
enum Handshake {
    /// The origin speaks none of the protocols that were offered.
    NoProtocol,
    /// Anything else.
    Failed(UpstreamError),
}

impl Dialer {
    /// A dialer on `network` that goes `way`, and never dials an address of which `is_own` holds.
    pub fn new(way: Way, network: Network, is_own: impl Fn(SocketAddr) -> bool + 'static) -> Self {
        Self { way, network, is_own: Box::new(is_own) }
    }

    /// Connects to `origin` itself, through the upstream proxy by a tunnel; over TLS HTTP/1.1 is offered.
    ///
    /// # Errors
    /// Names what failed: the name, the proxy, the connection, the handshake or the certificate.
    pub async fn dial(&self, origin: &Origin) -> Result<Stream, UpstreamError> {
        match self.secured(origin, Protocol::One).await {
            Ok(stream) => Ok(stream),
            Err(Handshake::Failed(error)) => Err(error),
            Err(Handshake::NoProtocol) => Err(UpstreamError::new(
                Trouble::Protocol,
                origin,
                "the origin speaks no HTTP/1.1, which a WebSocket needs here",
            )),
        }
    }

    /// A connection for requests to `origin`, and which protocol is spoken on it: `known` when it was found out before, else
    /// HTTP/1.1 where the origin has it, which costs less. To a plain origin behind the upstream proxy it is one to the proxy,
    /// which takes requests in absolute form.
    ///
    /// # Errors
    /// As [`dial`](Self::dial).
    pub async fn dial_for_requests(
        &self,
        origin: &Origin,
        known: Option<Protocol>,
    ) -> Result<(Stream, Protocol), UpstreamError> {
        if let Some(proxy) = self.forwarding(origin) {
            return Ok((Stream::Plain(self.to_proxy(proxy, origin).await?), Protocol::One));
        }
        if known == Some(Protocol::Two) {
            return Ok((self.only_http2(origin).await?, Protocol::Two));
        }
        match self.secured(origin, Protocol::One).await {
            Ok(stream) => {
                // Some servers of HTTP/2 alone take any client, and see later that it speaks something else.
                if known.is_none()
                    && stream.is_undecided()
                    && let Ok(second) = self.secured(origin, Protocol::Two).await
                    && !second.is_undecided()
                {
                    return Ok((second, Protocol::Two));
                }
                Ok((stream, Protocol::One))
            }
            Err(Handshake::NoProtocol) => Ok((self.only_http2(origin).await?, Protocol::Two)),
            Err(Handshake::Failed(error)) => Err(error),
        }
    }

    /// The proxy that takes requests to `origin` in absolute form: those in clear text.
    pub fn forwarding(&self, origin: &Origin) -> Option<&UpstreamProxy> {
        if origin.scheme == Scheme::Http { self.way.proxy_for(origin) } else { None }
    }

    async fn only_http2(&self, origin: &Origin) -> Result<Stream, UpstreamError> {
        self.secured(origin, Protocol::Two).await.map_err(|error| match error {
            Handshake::Failed(error) => error,
            Handshake::NoProtocol => {
                UpstreamError::new(Trouble::Protocol, origin, "the origin speaks neither HTTP/1.1 nor HTTP/2")
            }
        })
    }

    async fn secured(&self, origin: &Origin, protocol: Protocol) -> Result<Stream, Handshake> {
        let fail = |trouble, message: String| Handshake::Failed(UpstreamError::new(trouble, origin, message));
        let socket = self.reach(origin).await.map_err(Handshake::Failed)?;
        if origin.scheme == Scheme::Http {
            return Ok(Stream::Plain(socket));
        }
        let host = &origin.authority.host;
        let config = self.way.trust.config(host, protocol).map_err(|message| fail(Trouble::Tls, message))?;
        let name = match host {
            Host::Domain(name) => {
                ServerName::try_from(name.clone()).map_err(|error| fail(Trouble::Tls, error.to_string()))?
            }
            // An address is never sent as a server name (RFC 6066, section 3).
            Host::Ipv4(address) => ServerName::IpAddress(IpAddr::V4(*address).into()),
            Host::Ipv6(address) => ServerName::IpAddress(IpAddr::V6(*address).into()),
        };
        match timeout(HANDSHAKE_TIMEOUT, TlsConnector::from(config).connect(name, socket)).await {
            Ok(Ok(stream)) => Ok(Stream::Tls(Box::new(stream))),
            Ok(Err(error)) => match error.get_ref().and_then(|inner| inner.downcast_ref::<TlsError>()) {
                Some(TlsError::AlertReceived(AlertDescription::NoApplicationProtocol)) => {
                    Err(Handshake::NoProtocol)
                }
                Some(cause) => Err(fail(Trouble::Tls, format!("tls: {error}{}", mend(cause)))),
                None => Err(fail(Trouble::Tls, format!("tls: {error}"))),
            },
            Err(_) => Err(fail(Trouble::Timeout, "the tls handshake took too long".into())),
        }
    }

    /// TCP to `origin`, through the upstream proxy by a tunnel.
    async fn reach(&self, origin: &Origin) -> Result<TcpStream, UpstreamError> {
        let Some(proxy) = self.way.proxy_for(origin) else {
            return self.connect(origin, &self.network).await;
        };
        let mut socket = self.to_proxy(proxy, origin).await?;
        proxy.tunnel(&mut socket, origin).await?;
        Ok(socket)
    }

    async fn to_proxy(&self, proxy: &UpstreamProxy, origin: &Origin) -> Result<TcpStream, UpstreamError> {
        let at = Origin { scheme: Scheme::Http, authority: proxy.address().clone() };
        // The proxy is this machine's, whatever the tests may have on a port of the same number.
        self.connect(&at, &Network::default()).await.map_err(|error| {
            let message = format!("the upstream proxy {}: {}", proxy.address(), error.message);
            UpstreamError::new(
                match error.trouble {
                    Trouble::Timeout => Trouble::Timeout,
                    _ => Trouble::Connect,
                },
                origin,
                message,
            )
        })
    }

    async fn connect(&self, origin: &Origin, network: &Network) -> Result<TcpStream, UpstreamError> {
        let fail = |trouble, message: String| UpstreamError::new(trouble, origin, message);
        let addresses = addresses(origin).await.map_err(|message| fail(Trouble::Dns, message))?;
        let mut last = fail(Trouble::Dns, "the name has no address".into());
        for (side, address) in network.ways(&addresses) {
            if (self.is_own)(address) {
                return Err(fail(Trouble::Own, "the name leads back to the guard".into()));
            }
            // Without a socket inside, what is there is not known to be silent: a server outside must not answer for it.
            let socket = network.socket(side, address).await;
            let socket = socket.map_err(|error| fail(Trouble::Connect, format!("no socket: {error}")))?;
            match timeout(CONNECT_TIMEOUT, socket.connect(address)).await {
                Ok(Ok(socket)) => {
                    // Without it a small request waits for the origin's delayed acknowledgement.
                    socket.set_nodelay(true).map_err(|error| fail(Trouble::Connect, error.to_string()))?;
                    return Ok(socket);
                }
                Ok(Err(error)) => {
                    last = fail(Trouble::Connect, format!("cannot connect to {address}: {error}"))
                }
                Err(_) => last = fail(Trouble::Timeout, format!("no answer from {address} in 10 seconds")),
            }
        }
        Err(last)
    }
}

/// What a person can do about a failed handshake.
fn mend(error: &TlsError) -> &'static str {
    match error {
        TlsError::InvalidCertificate(rustls::CertificateError::UnknownIssuer) => {
            "; if its authority is a private one, name that with --upstream-ca FILE"
        }
        TlsError::AlertReceived(AlertDescription::HandshakeFailure | AlertDescription::ProtocolVersion)
        | TlsError::PeerIncompatible(_) => {
            "; TLS 1.2 with ECDHE and AES-GCM or ChaCha20 is the least that is spoken here"
        }
        TlsError::AlertReceived(AlertDescription::CertificateRequired | AlertDescription::BadCertificate) => {
            "; if the origin asks for a client certificate, name it with --client-cert HOST=CERT,KEY"
        }
        _ => "",
    }
}

impl Stream {
    /// Over TLS, but no protocol was agreed on: the origin does not negotiate, or speaks none of those that were offered.
    fn is_undecided(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(stream) => stream.get_ref().1.alpn_protocol().is_none(),
        }
    }
}

/// The addresses to try in turn.
async fn addresses(origin: &Origin) -> Result<Vec<SocketAddr>, String> {
    let authority = &origin.authority;
    if authority.is_localhost() {
        let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        return Ok(loopback.map(|address| SocketAddr::new(address, authority.port)).to_vec());
    }
    if let Some(address) = authority.literal() {
        return Ok(vec![SocketAddr::new(address, authority.port)]);
    }
    let name = authority.host.to_string();
    match tokio::net::lookup_host((name.as_str(), authority.port)).await {
        Ok(found) => Ok(found.collect()),
        Err(error) => Err(format!("cannot resolve {name}: {error}")),
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }
}
