//! Why there is no lock, and what to do about it.

use super::message::Step;
use std::io;

/// Why the lock cannot be made. Nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Not on this system.
    #[error("it needs Linux's network namespaces; leave --lock-egress off, or run on Linux")]
    System,
    /// The kernel says no.
    #[error("{}: {error}; {mend}", .step.as_str())]
    Refused {
        /// What it says no to.
        step: Step,
        /// How it says it.
        error: io::Error,
        /// What to do.
        mend: String,
    },
    /// The helper does not start.
    #[error("cannot start its helper: {0}")]
    Start(io::Error),
    /// The helper starts and says nothing that makes sense.
    #[error("its helper ended, or hung, before the namespace was made")]
    Helper,
}

/// What this system says of namespaces: texts of files under `/proc`, as far as they are there.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    /// `sys/kernel/unprivileged_userns_clone`, of Debian's kernels.
    pub(super) userns_clone: Option<String>,
    /// `sys/kernel/apparmor_restrict_unprivileged_userns`, of Ubuntu's kernels.
    pub(super) apparmor: Option<String>,
    /// `sys/user/max_user_namespaces`.
    pub(super) max_user: Option<String>,
    /// `sys/user/max_net_namespaces`.
    pub(super) max_net: Option<String>,
    /// The `Seccomp` line of `self/status`: 2 is a filter.
    pub(super) seccomp: Option<String>,
}

impl System {
    #[cfg(target_os = "linux")]
    pub(super) fn read() -> Self {
        let text = |path: &str| fs_err::read_to_string(path).ok().map(|text| text.trim().to_owned());
        let status = text("/proc/self/status").unwrap_or_default();
        Self {
            userns_clone: text("/proc/sys/kernel/unprivileged_userns_clone"),
            apparmor: text("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
            max_user: text("/proc/sys/user/max_user_namespaces"),
            max_net: text("/proc/sys/user/max_net_namespaces"),
            seccomp: status
                .lines()
                .find_map(|line| line.strip_prefix("Seccomp:"))
                .map(|mode| mode.trim().to_owned()),
        }
    }

    /// What to do when a step is refused, likeliest first.
    pub(super) fn mend(&self) -> String {
        let is = |value: &Option<String>, what: &str| value.as_deref() == Some(what);
        if is(&self.max_net, "0") {
            "allow network namespaces: sysctl user.max_net_namespaces=1000".into()
        } else if is(&self.max_user, "0") {
            "allow user namespaces (sysctl user.max_user_namespaces=1000) or run as root".into()
        } else if is(&self.userns_clone, "0") {
            "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1) or run as root".into()
        } else if is(&self.apparmor, "1") {
            "let AppArmor allow user namespaces (a profile for qa-pilot with `userns,`, or sysctl kernel.apparmor_restrict_unprivileged_userns=0) or run as root".into()
        } else if is(&self.seccomp, "2") {
            "let the container's seccomp filter allow unshare (docker run --security-opt seccomp=unconfined, or --cap-add SYS_ADMIN as root)".into()
        } else {
            "allow this user to make namespaces (unshare -Urn true must succeed), or run as root".into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_mend() {
        let said = |system: System| system.mend();
        let set = |text: &str| Some(text.to_owned());
        for (system, word) in [
            (System { max_net: set("0"), ..System::default() }, "user.max_net_namespaces"),
            (System { max_user: set("0"), ..System::default() }, "user.max_user_namespaces"),
            (System { userns_clone: set("0"), ..System::default() }, "kernel.unprivileged_userns_clone"),
            (System { apparmor: set("1"), ..System::default() }, "apparmor_restrict_unprivileged_userns"),
            (System { seccomp: set("2"), ..System::default() }, "seccomp=unconfined"),
            (System { apparmor: set("0"), seccomp: set("0"), ..System::default() }, "unshare -Urn"),
        ] {
            assert!(said(system.clone()).contains(word), "{system:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_system_is_read() {
        let system = System::read();
        assert!(system.max_user.is_some() && system.max_net.is_some(), "{system:?}");
    }
}
