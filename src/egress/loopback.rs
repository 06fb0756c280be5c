//! Brings loopback up in this process's network namespace, where it is down at first: one message to the kernel and its
//! acknowledgement over rtnetlink (RFC 3549, sections 2.2 and 3.1.1; numbers of linux/rtnetlink.h and linux/if.h).

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::io;

/// `RTM_NEWLINK`: sets what is known of a link.
const NEW_LINK: u16 = 16;
/// `NLM_F_REQUEST | NLM_F_ACK`.
const REQUEST_ACK: u16 = 1 | 4;
/// `NLMSG_ERROR`, which is also the acknowledgement, with the error 0.
const ERROR: u16 = 2;
/// `IFF_UP`.
const UP: u32 = 1;
/// A message header (16 bytes) and an `ifinfomsg` (16 bytes).
const LENGTH: usize = 32;

/// Brings it up.
///
/// # Errors
/// What the kernel says; `EPERM` where the namespace is not ours.
pub fn up() -> io::Result<()> {
    let socket =
        rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    let any = rustix::net::socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    let index = rustix::net::netdevice::name_to_index(any, "lo")?;
    let kernel = SocketAddrNetlink::new(0, 0);
    rustix::net::sendto(&socket, &request(index), SendFlags::empty(), &kernel)?;
    let mut reply = [0; 256];
    let (length, _) = rustix::net::recv(&socket, &mut reply[..], RecvFlags::empty())?;
    acknowledged(reply.get(..length).unwrap_or_default())
}

/// Sets the flag `UP` of the link `index`, and no other.
fn request(index: u32) -> [u8; LENGTH] {
    let mut message = [0; LENGTH];
    let mut put = |at: usize, bytes: &[u8]| message[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &(LENGTH as u32).to_ne_bytes());
    put(4, &NEW_LINK.to_ne_bytes());
    put(6, &REQUEST_ACK.to_ne_bytes());
    put(8, &1u32.to_ne_bytes()); // the number of the message
    put(20, &index.to_ne_bytes());
    put(24, &UP.to_ne_bytes()); // the flags
    put(28, &UP.to_ne_bytes()); // those that change
    message
}

/// Reads the acknowledgement: a header, then the error as a negative number.
fn acknowledged(reply: &[u8]) -> io::Result<()> {
    let short = || io::Error::new(io::ErrorKind::InvalidData, "the kernel's answer is no acknowledgement");
    let kind = reply.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    let errno = reply.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, errno) {
        (Some(ERROR), Some(0)) => Ok(()),
        (Some(ERROR), Some(errno)) => Err(io::Error::from_raw_os_error(errno.saturating_neg())),
        _ => Err(short()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_answer() {
        let reply = |kind: u16, errno: i32| {
            let mut bytes = vec![0; 36];
            bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
            bytes[16..20].copy_from_slice(&errno.to_ne_bytes());
            bytes
        };
        assert!(acknowledged(&reply(ERROR, 0)).is_ok());
        assert_eq!(acknowledged(&reply(ERROR, -1)).unwrap_err().raw_os_error(), Some(1));
        assert!(acknowledged(&reply(ERROR, i32::MIN)).is_err());
        assert!(acknowledged(&reply(NEW_LINK, 0)).is_err());
        for length in 0..20 {
            assert!(acknowledged(&reply(ERROR, 0)[..length]).is_err(), "{length}");
        }
    }
}
