//! Making the namespace, and entering it. Both change the calling process, which must be single-threaded.

use super::message::Step;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::OpenOptions;
use std::io::{self, Write};

/// What failed, and how.
pub struct Failed {
    /// The step.
    pub step: Step,
    /// What the system says.
    pub error: io::Error,
}

/// Moves this process into a network namespace of its own; where that alone is not allowed, within a user namespace in
/// which the user and the group are the same as outside (user_namespaces(7)).
pub fn make() -> Result<(), Failed> {
    let failed = |step| move |error: io::Error| Failed { step, error };
    match unshare(CloneFlags::CLONE_NEWNET) {
        Ok(()) => return Ok(()),
        Err(nix::Error::EPERM) => {}
        Err(error) => return Err(failed(Step::Network)(error.into())),
    }
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)
        .map_err(|error| failed(Step::User)(error.into()))?;
    for (file, text) in [
        // Whoever may drop groups could get past a file that forbids a group something; a map needs this said first.
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ] {
        let map = OpenOptions::new().write(true).open(format!("/proc/self/{file}"));
        map.and_then(|mut map| map.write_all(text.as_bytes())).map_err(failed(Step::Map))?;
    }
    Ok(())
}

/// Moves this process into the namespaces of the process `helper`.
///
/// # Errors
/// When the helper is gone, or the system refuses.
pub fn enter(helper: u32) -> io::Result<()> {
    let open = |name| fs_err::File::open(format!("/proc/{helper}/ns/{name}"));
    // Both are opened before the first is entered.
    let (user, network) = (open("user")?, open("net")?);
    let link = |of: &str| fs_err::read_link(format!("/proc/{of}/ns/user"));
    if link("self")? != link(&helper.to_string())? {
        setns(user, CloneFlags::CLONE_NEWUSER)?;
    }
    setns(network, CloneFlags::CLONE_NEWNET)?;
    Ok(())
}

/// Other processes in this process's network namespace.
pub fn others() -> Vec<rustix::process::Pid> {
    let Ok(ours) = fs_err::read_link("/proc/self/ns/net") else { return Vec::new() };
    let Ok(entries) = fs_err::read_dir("/proc") else { return Vec::new() };
    let me = rustix::process::getpid();
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|id| fs_err::read_link(format!("/proc/{id}/ns/net")).is_ok_and(|link| link == ours))
        .filter_map(rustix::process::Pid::from_raw)
        .filter(|id| *id != me)
        .collect()
}
