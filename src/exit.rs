//! The exit codes of every command, in one place.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done; for a gate, publishable.
    Ok,
    /// 1: refused, or the work could not be finished.
    Refused,
    /// 2: an input is missing, unreadable or malformed; nothing ran.
    Usage,
    /// 127: the test command is not there, as a shell says it.
    NotFound,
    /// 128 and the signal's number: 130 after SIGINT, 143 after SIGTERM.
    Signal(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Ok => Self::from(0),
            Exit::Refused => Self::from(1),
            Exit::Usage => Self::from(2),
            Exit::NotFound => Self::from(127),
            Exit::Signal(number) => Self::from(128 + number),
        }
    }
}
