//! The lock as the wrapper holds it: the helper process and the channel to it.

use super::error::System;
use super::message::Step;
use super::{LockError, Sockets};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the helper may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it may take to end: it ends what is left in the namespace first.
const END: Duration = Duration::from_secs(12);

/// A network namespace and the process that keeps it. Dropping it ends both.
#[derive(Debug)]
pub struct Lock {
    helper: Child,
    sockets: Sockets,
}

impl Lock {
    /// Makes the namespace. Waits until it is there.
    ///
    /// # Errors
    /// When the system does not allow it, or the helper does not start.
    pub fn make() -> Result<Self, LockError> {
        let start = |error: rustix::io::Errno| LockError::Start(error.into());
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(start)?;
        set_socket_timeout(&ours, Timeout::Recv, Some(PATIENCE)).map_err(start)?;
        let own = std::env::current_exe().map_err(LockError::Start)?;
        let helper = Command::new(own)
            .arg("inside")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            // A signal of the terminal's is for the tests; the helper ends when we do.
            .process_group(0)
            .spawn()
            .map_err(LockError::Start)?;
        let lock = Self { helper, sockets: Sockets::over(ours) };
        match lock.sockets.receive() {
            Ok((Some(answer), _)) => match answer.error() {
                None if answer.step == Step::Loopback => Ok(lock),
                None => Err(LockError::Helper),
                Some(error) => {
                    Err(LockError::Refused { step: answer.step, error, mend: System::read().mend() })
                }
            },
            Ok((None, _)) | Err(_) => Err(LockError::Helper),
        }
    }

    /// The process that keeps the namespace, of which [`enter`](super::enter) takes the id.
    pub fn helper(&self) -> u32 {
        self.helper.id()
    }

    /// Where sockets come from.
    pub fn sockets(&self) -> Sockets {
        self.sockets.clone()
    }

    /// Whether the helper is there and never failed to answer.
    pub fn is_sound(&mut self) -> bool {
        self.sockets.is_sound() && matches!(self.helper.try_wait(), Ok(None))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.sockets.close();
        let until = Instant::now() + END;
        while Instant::now() < until {
            if !matches!(self.helper.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        // It hangs; that it cannot be killed either nobody can mend.
        let _ = self.helper.kill();
        let _ = self.helper.wait();
    }
}
