//! Listeners, and an accept that backs off when the system has no more files to give.

use super::network::Network;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// How long accept waits after an error, at first and at most.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(500));

/// Binds a free port of `address`.
pub(super) async fn bind_any(network: &Network, address: IpAddr) -> io::Result<(TcpListener, u16)> {
    let listener = network.listen(SocketAddr::new(address, 0)).await?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

/// Raises the limit on open files to what the system allows: a suite opens many connections at once.
pub(super) fn raise_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        if let Err(error) =
            setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })
        {
            tracing::warn!("the limit on open files stays as it is: {error}");
        }
    }
}

/// Accepts until `closed`; small writes are never held back.
pub(super) async fn accept(
    listener: TcpListener,
    closed: CancellationToken,
    mut serve: impl FnMut(TcpStream),
) {
    let mut wait = BACK_OFF.0;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = closed.cancelled() => return,
        };
        match accepted {
            Ok((socket, _)) => {
                wait = BACK_OFF.0;
                // Without it a small answer waits for the client's delayed acknowledgement, some 40 ms.
                if socket.set_nodelay(true).is_ok() {
                    serve(socket);
                }
            }
            Err(error) => {
                tracing::warn!("accept: {error}");
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(BACK_OFF.1);
            }
        }
    }
}
