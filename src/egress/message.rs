//! What guard and helper say to each other, over a pair of Unix sockets that keeps messages apart: the guard asks for a
//! socket with one byte, its family; the helper answers each, and first of all says how it made the namespace, with five.

use std::io;
use std::net::SocketAddr;

/// Which kind of TCP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// What the helper does, in this order; the last one again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Makes the network namespace.
    Network,
    /// Makes it within a user namespace.
    User,
    /// Maps the user to the same user.
    Map,
    /// Brings loopback up.
    Loopback,
    /// Makes a socket.
    Socket,
}

/// How a step ended: it succeeded, or the system's error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The step.
    pub step: Step,
    /// 0 where it succeeded.
    pub errno: i32,
}

/// The longest message in bytes.
pub const LONGEST: usize = 5;

impl Family {
    /// That of an address.
    pub fn of(address: SocketAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    /// As it is asked for.
    pub fn to_bytes(self) -> [u8; 1] {
        match self {
            Self::V4 => [4],
            Self::V6 => [6],
        }
    }

    /// What is asked for; none when it is nothing that can be.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        [Self::V4, Self::V6].into_iter().find(|family| family.to_bytes() == bytes)
    }
}

impl Step {
    const ALL: [Self; 5] = [Self::Network, Self::User, Self::Map, Self::Loopback, Self::Socket];

    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Network => "cannot make a network namespace",
            Self::User => "cannot make a user namespace",
            Self::Map => "cannot map the user into the user namespace",
            Self::Loopback => "cannot bring loopback up in the namespace",
            Self::Socket => "cannot make a socket in the namespace",
        }
    }
}

impl Answer {
    /// The step succeeded.
    pub fn ok(step: Step) -> Self {
        Self { step, errno: 0 }
    }

    /// It failed.
    pub fn failed(step: Step, error: &io::Error) -> Self {
        // An error that the system gave no number to must not read as none.
        Self { step, errno: error.raw_os_error().filter(|errno| *errno != 0).unwrap_or(i32::MAX) }
    }

    /// The step, then the number.
    pub fn to_bytes(self) -> [u8; LONGEST] {
        let [a, b, c, d] = self.errno.to_le_bytes();
        let step = Step::ALL.iter().position(|step| *step == self.step).and_then(|at| u8::try_from(at).ok());
        [step.unwrap_or(u8::MAX), a, b, c, d]
    }

    /// Reads one; none when it is no answer.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let [step, errno @ ..] = bytes else { return None };
        let errno = i32::from_le_bytes(errno.try_into().ok()?);
        Step::ALL.get(usize::from(*step)).map(|step| Self { step: *step, errno })
    }

    /// The system's error, where it failed.
    pub fn error(self) -> Option<io::Error> {
        (self.errno != 0).then(|| io::Error::from_raw_os_error(self.errno))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_written_reads() {
        for family in [Family::V4, Family::V6] {
            assert_eq!(Family::from_bytes(&family.to_bytes()), Some(family));
        }
        for step in Step::ALL {
            let failed = Answer::failed(step, &io::Error::from_raw_os_error(1));
            assert_eq!(Answer::from_bytes(&failed.to_bytes()), Some(failed));
            assert!(Answer::failed(step, &io::Error::other("no number")).error().is_some());
            assert!(Answer::from_bytes(&Answer::ok(step).to_bytes()).unwrap().error().is_none());
        }
    }

    proptest! {
        #[test]
        fn garbage_is_no_message(bytes in proptest::collection::vec(any::<u8>(), 0..9)) {
            prop_assert_eq!(Answer::from_bytes(&bytes).is_some(), bytes.len() == LONGEST && bytes[0] < 5);
            prop_assert_eq!(Family::from_bytes(&bytes).is_some(), bytes == [4] || bytes == [6]);
        }
    }
}
