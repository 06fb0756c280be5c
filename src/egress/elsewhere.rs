//! Where there are no network namespaces there is no lock.

use super::{Family, LockError};
use std::convert::Infallible;
use std::io;
use std::os::fd::OwnedFd;

/// A lock that is never made.
#[derive(Debug)]
pub struct Lock(Infallible);

/// Sockets that are never made.
#[derive(Clone, Debug)]
pub struct Sockets(Infallible);

impl Lock {
    /// Makes none.
    ///
    /// # Errors
    /// Always.
    pub fn make() -> Result<Self, LockError> {
        Err(LockError::System)
    }

    /// The process that keeps the namespace.
    pub fn helper(&self) -> u32 {
        match self.0 {}
    }

    /// Where sockets come from.
    pub fn sockets(&self) -> Sockets {
        match self.0 {}
    }

    /// Whether it still holds.
    pub fn is_sound(&mut self) -> bool {
        match self.0 {}
    }
}

impl Sockets {
    /// Makes none.
    ///
    /// # Errors
    /// None: it is never called.
    pub fn socket(&self, _family: Family) -> io::Result<OwnedFd> {
        match self.0 {}
    }
}
