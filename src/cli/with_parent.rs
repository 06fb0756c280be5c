//! `qa-pilot with-parent` (hidden): runs a command that is told to end when the process that started it is gone.
//!
//! `run` starts the test command through it, so that a wrapper that is killed outright leaves no test behind that still
//! writes. The kernel keeps the promise over `exec`.

use crate::exit::Exit;
use clap::Args;
use std::ffi::OsString;
use std::process::Command;

/// Runs a command that ends with its parent
#[derive(Debug, Args)]
pub(super) struct WithParent {
    /// The process id of the egress lock's helper, whose network the command gets
    #[arg(long, value_name = "PID")]
    inside: Option<u32>,
    /// The process id of the parent
    parent: u32,
    /// The command
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<OsString>,
}

impl WithParent {
    pub(super) fn run(self) -> Exit {
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Signal, getppid, set_parent_process_death_signal};
            // First, since the kernel forgets the signal where credentials change.
            if let Some(Err(error)) = self.inside.map(crate::egress::enter) {
                super::fault(format_args!("cannot enter the egress lock: {error}"));
                return Exit::Refused;
            }
            if set_parent_process_death_signal(Some(Signal::TERM)).is_err()
                || getppid().is_none_or(|parent| parent.as_raw_nonzero().get().unsigned_abs() != self.parent)
            {
                return Exit::Signal(15);
            }
        }
        let Some((program, arguments)) = self.command.split_first() else { return Exit::Usage };
        let error = exec(Command::new(program).args(arguments));
        super::fault(format_args!("cannot run `{}`: {error}", program.to_string_lossy()));
        // What a shell says of a command that is not there.
        Exit::NotFound
    }
}

#[cfg(unix)]
fn exec(command: &mut Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(command)
}
