//! `qa-pilot inside` (hidden): the helper of the egress lock, which `run --lock-egress` starts with a channel as its stdin.
//! It moves itself into other namespaces, so nothing here may have started a thread.

use crate::exit::Exit;
use clap::Args;

/// Keeps the network namespace of a locked run
#[derive(Debug, Args)]
pub(super) struct Inside {}

impl Inside {
    pub(super) fn run(self) -> Exit {
        #[cfg(target_os = "linux")]
        let helped = crate::egress::help(std::io::stdin());
        #[cfg(not(target_os = "linux"))]
        let helped = Err::<(), _>(crate::egress::LockError::System);
        match helped {
            Ok(()) => Exit::Ok,
            Err(error) => {
                super::fault(format_args!("the helper of the egress lock ended early: {error}"));
                Exit::Refused
            }
        }
    }
}
