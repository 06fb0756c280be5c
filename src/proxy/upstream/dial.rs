//! A connection to an origin: resolved, TCP, TLS where the scheme says so.

use super::tls::Trust;
use super::{Trouble, UpstreamError};
use crate::proxy::names::{Origin, Scheme, is_own_machine};
use rustls::pki_types::ServerName;
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
    trust: Trust,
    /// Whether a loopback port is one of the guard's own listeners.
    is_own: Box<dyn Fn(u16) -> bool>,
}

/// A connection to an origin.
pub enum Stream {
    /// Clear text.
    Plain(TcpStream),
    /// Verified TLS.
    Tls(Box<TlsStream<TcpStream>>),
}

impl Dialer {
    /// A dialer that trusts `trust`, and never dials a loopback port of which `is_own` holds.
    pub fn new(trust: Trust, is_own: impl Fn(u16) -> bool + 'static) -> Self {
        Self { trust, is_own: Box::new(is_own) }
    }

    /// Connects to `origin`.
    ///
    /// # Errors
    /// Names what failed: the name, the connection, the handshake or the certificate.
    pub async fn dial(&self, origin: &Origin) -> Result<Stream, UpstreamError> {
        let fail = |trouble, message: String| UpstreamError::new(trouble, origin, message);
        let socket = self.connect(origin).await?;
        socket.set_nodelay(true).map_err(|error| fail(Trouble::Connect, error.to_string()))?;
        if origin.scheme == Scheme::Http {
            return Ok(Stream::Plain(socket));
        }
        let config = self.trust.config().map_err(|message| fail(Trouble::Tls, message))?;
        let name = match &origin.authority.host {
            Host::Domain(name) => {
                ServerName::try_from(name.clone()).map_err(|error| fail(Trouble::Tls, error.to_string()))?
            }
            Host::Ipv4(address) => ServerName::IpAddress(IpAddr::V4(*address).into()),
            Host::Ipv6(address) => ServerName::IpAddress(IpAddr::V6(*address).into()),
        };
        match timeout(HANDSHAKE_TIMEOUT, TlsConnector::from(config).connect(name, socket)).await {
            Ok(Ok(stream)) => Ok(Stream::Tls(Box::new(stream))),
            Ok(Err(error)) => Err(fail(Trouble::Tls, format!("tls: {error}"))),
            Err(_) => Err(fail(Trouble::Timeout, "the tls handshake took too long".into())),
        }
    }

    async fn connect(&self, origin: &Origin) -> Result<TcpStream, UpstreamError> {
        let fail = |trouble, message: String| UpstreamError::new(trouble, origin, message);
        let addresses = addresses(origin).await.map_err(|message| fail(Trouble::Dns, message))?;
        let mut last = fail(Trouble::Dns, "the name has no address".into());
        for address in addresses {
            if is_own_machine(address) && (self.is_own)(address.port()) {
                return Err(fail(Trouble::Own, "the name leads back to the guard".into()));
            }
            match timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
                Ok(Ok(socket)) => return Ok(socket),
                Ok(Err(error)) => {
                    last = fail(Trouble::Connect, format!("cannot connect to {address}: {error}"))
                }
                Err(_) => last = fail(Trouble::Timeout, format!("no answer from {address} in 10 seconds")),
            }
        }
        Err(last)
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
