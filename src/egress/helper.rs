//! The helper process: it makes the namespace, then sockets in it, until the wrapper is gone; then it ends what is left
//! inside, so that no test goes on without its guard.

use super::message::{Answer, Family, LONGEST, Step};
use super::{loopback, namespace};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use rustix::process::{Signal, kill_process};
use std::collections::HashSet;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// How often it is looked who is left.
const LOOK: Duration = Duration::from_millis(20);

/// Serves `channel` to its end. The process must be single-threaded, and is of no other use afterwards.
///
/// # Errors
/// When the channel is none, or breaks.
pub fn help(channel: impl AsFd) -> io::Result<()> {
    let channel = channel.as_fd();
    let made = namespace::make()
        .and_then(|()| loopback::up().map_err(|error| namespace::Failed { step: Step::Loopback, error }));
    let answer = match &made {
        Ok(()) => Answer::ok(Step::Loopback),
        Err(failed) => Answer::failed(failed.step, &failed.error),
    };
    send(channel, answer, None)?;
    if made.is_err() {
        return Ok(());
    }
    let served = serve(channel);
    sweep();
    served
}

/// Answers until the other side is gone.
fn serve(channel: BorrowedFd<'_>) -> io::Result<()> {
    loop {
        // One byte more than any request has, so that a longer one shows.
        let mut request = [0; LONGEST];
        let length = loop {
            match rustix::net::recv(channel, &mut request[..], RecvFlags::empty()) {
                Ok((length, _)) => break length,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::CONNRESET) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        };
        if length == 0 {
            return Ok(());
        }
        let made = match Family::from_bytes(request.get(..length).unwrap_or_default()) {
            Some(family) => socket(family),
            None => Err(io::Error::from(rustix::io::Errno::INVAL)),
        };
        let sent = match made {
            Ok(socket) => send(channel, Answer::ok(Step::Socket), Some(socket.as_fd())),
            Err(error) => send(channel, Answer::failed(Step::Socket, &error), None),
        };
        match sent {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            sent => sent?,
        }
    }
}

fn socket(family: Family) -> io::Result<OwnedFd> {
    let family = match family {
        Family::V4 => AddressFamily::INET,
        Family::V6 => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(rustix::net::socket_with(family, SocketType::STREAM, flags, None)?)
}

/// Sends an answer, and a socket along with it.
fn send(channel: BorrowedFd<'_>, answer: Answer, socket: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut along = SendAncillaryBuffer::new(&mut space);
    let sockets: Vec<BorrowedFd<'_>> = socket.into_iter().collect();
    if !sockets.is_empty() && !along.push(SendAncillaryMessage::ScmRights(&sockets)) {
        return Err(io::Error::other("no room for a socket in a message"));
    }
    rustix::net::sendmsg(channel, &[IoSlice::new(&answer.to_bytes())], &mut along, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Ends what still runs in the namespace: first asked, then killed.
fn sweep() {
    for (signal, patience) in [(Signal::TERM, Duration::from_secs(5)), (Signal::KILL, Duration::from_secs(5))]
    {
        let (until, mut told) = (Instant::now() + patience, HashSet::new());
        while Instant::now() < until {
            let left = namespace::others();
            if left.is_empty() {
                return;
            }
            for process in left {
                if told.insert(process) {
                    // One that has ended meanwhile is as good.
                    let _ = kill_process(process, signal);
                }
            }
            std::thread::sleep(LOOK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::Sockets;

    fn pair() -> (OwnedFd, OwnedFd) {
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .unwrap()
    }

    #[test]
    fn sockets_are_handed_over_until_the_other_side_is_gone() {
        let (ours, theirs) = pair();
        let serving = std::thread::spawn(move || serve(theirs.as_fd()));
        let sockets = Sockets::over(ours);
        for family in [Family::V4, Family::V6, Family::V4] {
            let socket = sockets.socket(family).unwrap();
            let domain = rustix::net::sockopt::socket_domain(&socket).unwrap();
            assert_eq!(domain == AddressFamily::INET, family == Family::V4);
            let flags = rustix::io::fcntl_getfd(&socket).unwrap();
            assert!(flags.contains(rustix::io::FdFlags::CLOEXEC), "no process that is started gets it");
        }
        assert!(sockets.is_sound());
        drop(sockets);
        serving.join().unwrap().unwrap();
    }

    #[test]
    fn garbage_is_answered_with_an_error() {
        let (ours, theirs) = pair();
        let serving = std::thread::spawn(move || serve(theirs.as_fd()));
        for garbage in [&b"x"[..], b"44", b"a message that is much longer than any"] {
            rustix::net::send(&ours, garbage, SendFlags::NOSIGNAL).unwrap();
            let mut reply = [0; 16];
            let (length, _) = rustix::net::recv(&ours, &mut reply[..], RecvFlags::empty()).unwrap();
            let answer = Answer::from_bytes(&reply[..length]).unwrap();
            assert_eq!(answer.error().and_then(|error| error.raw_os_error()), Some(22));
        }
        drop(ours);
        serving.join().unwrap().unwrap();
    }

    #[test]
    fn what_is_no_channel_is_an_error() {
        let file = tempfile::tempfile().unwrap();
        assert!(serve(file.as_fd()).is_err());
    }
}
