//! Sockets of the namespace, asked of the helper.

use super::message::{Answer, Family, LONGEST, Step};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

/// Where sockets of the namespace come from.
#[derive(Clone, Debug)]
pub struct Sockets(Arc<Channel>);

#[derive(Debug)]
struct Channel {
    socket: OwnedFd,
    /// Held from a question to its answer. Once that went wrong nobody knows any more which answer belongs to what.
    broken: Mutex<bool>,
}

impl Sockets {
    /// Asks over `channel`, whose timeout is how long an answer may take.
    pub(super) fn over(channel: OwnedFd) -> Self {
        Self(Arc::new(Channel { socket: channel, broken: Mutex::new(false) }))
    }

    /// A new TCP socket in the namespace, neither bound nor connected, that does not block. Waits for the helper, usually
    /// some microseconds.
    ///
    /// # Errors
    /// When the helper is gone or hangs, or the system has no socket to give.
    pub fn socket(&self, family: Family) -> io::Result<OwnedFd> {
        let mut broken = self.0.broken.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = |why: &dyn std::fmt::Display| {
            io::Error::new(io::ErrorKind::BrokenPipe, format!("the helper of the egress lock is gone: {why}"))
        };
        if *broken {
            return Err(gone(&"an earlier question was left without its answer"));
        }
        // Whatever ends this early leaves it so.
        *broken = true;
        rustix::net::send(&self.0.socket, &family.to_bytes(), SendFlags::NOSIGNAL)
            .map_err(|error| gone(&error))?;
        let (answer, socket) = self.receive().map_err(|error| gone(&error))?;
        let answer = answer.filter(|answer| answer.step == Step::Socket);
        let Some(answer) = answer else { return Err(gone(&"its answer is none")) };
        match (answer.error(), socket) {
            (None, None) => Err(gone(&"no socket came along")),
            (Some(error), _) => {
                *broken = false;
                Err(error)
            }
            (None, Some(socket)) => {
                *broken = false;
                Ok(socket)
            }
        }
    }

    /// The next answer, and what came along with it; no answer when what came is none.
    pub(super) fn receive(&self) -> io::Result<(Option<Answer>, Option<OwnedFd>)> {
        let mut bytes = [0; LONGEST + 1];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let received = loop {
            let mut along = RecvAncillaryBuffer::new(&mut space);
            let mut into = [IoSliceMut::new(&mut bytes)];
            match rustix::net::recvmsg(&self.0.socket, &mut into, &mut along, RecvFlags::CMSG_CLOEXEC) {
                Ok(message) => {
                    let sockets = along.drain().filter_map(|along| match along {
                        RecvAncillaryMessage::ScmRights(sockets) => Some(sockets),
                        _ => None,
                    });
                    break (message.bytes, sockets.flatten().next());
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        };
        let (length, socket) = received;
        Ok((Answer::from_bytes(bytes.get(..length).unwrap_or_default()), socket))
    }

    /// Whether every question so far had its answer.
    pub(super) fn is_sound(&self) -> bool {
        !*self.0.broken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the helper that no more questions come, whoever else still holds this.
    pub(super) fn close(&self) {
        // It fails when the helper is gone already.
        let _ = rustix::net::shutdown(&self.0.socket, rustix::net::Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType};

    fn pair() -> (Sockets, OwnedFd) {
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .unwrap();
        (Sockets::over(ours), theirs)
    }

    fn told(sockets: &Sockets) -> String {
        sockets.socket(Family::V4).unwrap_err().to_string()
    }

    #[test]
    fn a_helper_that_is_gone_stays_gone() {
        let (sockets, theirs) = pair();
        drop(theirs);
        assert!(told(&sockets).contains("the helper of the egress lock is gone"));
        assert!(told(&sockets).contains("an earlier question"));
        assert!(!sockets.is_sound());
    }

    #[test]
    fn an_answer_that_is_none_breaks_it() {
        for answer in [&b"junk"[..], b"much longer than any answer", &Answer::ok(Step::Map).to_bytes()] {
            let (sockets, theirs) = pair();
            rustix::net::send(&theirs, answer, SendFlags::NOSIGNAL).unwrap();
            assert!(told(&sockets).contains("its answer is none"));
            assert!(!sockets.is_sound());
        }
        let (sockets, theirs) = pair();
        rustix::net::send(&theirs, &Answer::ok(Step::Socket).to_bytes(), SendFlags::NOSIGNAL).unwrap();
        assert!(told(&sockets).contains("no socket came along"));
    }

    #[test]
    fn the_systems_error_breaks_nothing() {
        let (sockets, theirs) = pair();
        let full = Answer::failed(Step::Socket, &io::Error::from_raw_os_error(24));
        rustix::net::send(&theirs, &full.to_bytes(), SendFlags::NOSIGNAL).unwrap();
        assert_eq!(sockets.socket(Family::V6).unwrap_err().raw_os_error(), Some(24));
        assert!(sockets.is_sound());
    }
}
