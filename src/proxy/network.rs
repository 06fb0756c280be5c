//! Which network the guard's sockets belong to. Without the egress lock there is one. Under it the guard listens inside the
//! namespace of the tests, and dials outside; only loopback is dialled inside first, since a server that the tests
//! started is there.

use super::names::is_own_machine;
use crate::egress::{Family, Sockets};
use std::io;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpSocket};

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 1024;

/// The networks there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Network {
    inside: Option<Sockets>,
}

/// On which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Ours.
    Here,
    /// That of the tests.
    Inside,
}

impl Network {
    /// With the namespace of the tests, when there is one.
    pub(super) fn new(inside: Option<Sockets>) -> Self {
        Self { inside }
    }

    /// Whether the tests have a network of their own.
    pub(super) fn is_locked(&self) -> bool {
        self.inside.is_some()
    }

    /// Listens where the tests are.
    pub(super) async fn listen(&self, address: SocketAddr) -> io::Result<TcpListener> {
        let side = if self.is_locked() { Side::Inside } else { Side::Here };
        let socket = self.socket(side, address).await?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    }

    /// Where to dial `addresses`, in turn.
    pub(super) fn ways(&self, addresses: &[SocketAddr]) -> Vec<(Side, SocketAddr)> {
        let inside = addresses.iter().filter(|address| self.is_locked() && is_own_machine(**address));
        let inside = inside.map(|address| (Side::Inside, *address));
        inside.chain(addresses.iter().map(|address| (Side::Here, *address))).collect()
    }

    /// A socket to bind or connect to `address`.
    pub(super) async fn socket(&self, side: Side, address: SocketAddr) -> io::Result<TcpSocket> {
        match (side, &self.inside) {
            (Side::Inside, Some(inside)) => {
                let (inside, family) = (inside.clone(), Family::of(address));
                let made = tokio::task::spawn_blocking(move || inside.socket(family)).await;
                let socket = std::net::TcpStream::from(made.map_err(io::Error::other)??);
                Ok(TcpSocket::from_std_stream(socket))
            }
            (Side::Inside, None) => Err(io::Error::other("the tests have no network of their own")),
            (Side::Here, _) if address.is_ipv4() => TcpSocket::new_v4(),
            (Side::Here, _) => TcpSocket::new_v6(),
        }
    }
}
