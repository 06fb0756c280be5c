//! The test command as a child process: signals reach it, and nothing of it is left behind.
//!
//! The child leads a process group of its own. A signal to us goes to that group once; a second one goes on as well (test
//! runners then stop at once); if the group is still there after a while it is killed. On Linux we adopt what the child
//! leaves behind (browsers lead groups of their own) and end that too.

use super::screen::Screen;
use std::collections::HashSet;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::Command;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

/// How long a child may take to end after the first signal.
const GRACE: Duration = Duration::from_secs(30);

/// How the child ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// The number of the first signal that we were sent meanwhile.
    pub interrupted: Option<u8>,
}

/// The signals that end a run, listened to from its start to its end.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Listens; a signal no longer ends this process.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// The number of the next signal.
    pub async fn number(&mut self) -> u8 {
        u8::try_from(self.next().await.as_raw()).unwrap_or(0)
    }

    async fn next(&mut self) -> rustix::process::Signal {
        use rustix::process::Signal;
        tokio::select! {
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.terminate.recv() => Signal::TERM,
            _ = self.hangup.recv() => Signal::HUP,
        }
    }
}

/// Runs `command` to its end and clears up behind it. `stdin` is closed: a test run is not asked anything. With a `screen`
/// the command's output passes through it. `helper` is a child of ours that is none of the command's, and stays.
///
/// # Errors
/// When the command cannot be started.
pub async fn supervise(
    mut command: Command,
    helper: Option<u32>,
    screen: Option<&Screen>,
    signals: &mut Signals,
) -> io::Result<Ended> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    if screen.is_some() {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let mut child = command.stdin(Stdio::null()).process_group(0).spawn()?;
    let mut pumps = JoinSet::new();
    if let Some(screen) = screen {
        child.stdout.take().map(|output| pumps.spawn(screen.clone().pump(output)));
        child.stderr.take().map(|output| pumps.spawn(screen.clone().pump(output)));
    }
    let (group, helper) = (child.id().and_then(pid), helper.and_then(pid));
    let mut reaping = tokio::time::interval(Duration::from_secs(1));
    let mut interrupted = None;
    let mut deadline: Option<Instant> = None;
    let status = loop {
        let overdue = async {
            match deadline {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            status = child.wait() => break status?,
            _ = reaping.tick() => reap(&[group, helper]),
            received = signals.next() => {
                interrupted.get_or_insert(u8::try_from(received.as_raw()).unwrap_or(0));
                deadline.get_or_insert_with(|| Instant::now() + GRACE);
                send(group, received);
            }
            () = overdue => {
                send(group, rustix::process::Signal::KILL);
                deadline = Some(Instant::now() + GRACE);
            }
        }
    };
    clear_up(group, helper).await;
    // The pipes end with their last writer; one that escaped us must not hold the run.
    let _ = timeout(Duration::from_secs(1), async { while pumps.join_next().await.is_some() {} }).await;
    Ok(Ended { status, interrupted })
}

fn pid(id: u32) -> Option<rustix::process::Pid> {
    i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw)
}

/// Sends to the whole group; that it is gone already is as good.
fn send(group: Option<rustix::process::Pid>, signal: rustix::process::Signal) {
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

/// Ends what the child left behind: first asked, then killed. What its own parent leaves to us meanwhile is met as well.
async fn clear_up(group: Option<rustix::process::Pid>, helper: Option<rustix::process::Pid>) {
    use rustix::process::Signal;
    for (signal, patience) in
        [(Signal::TERM, Duration::from_secs(3)), (Signal::KILL, Duration::from_secs(10))]
    {
        let mut told = HashSet::new();
        send(group, signal);
        let gone = async {
            loop {
                reap(&[helper]);
                let left = adopted(&[helper]);
                let group_left =
                    group.is_some_and(|group| rustix::process::test_kill_process_group(group).is_ok());
                if left.is_empty() && !group_left {
                    return;
                }
                for process in left {
                    if told.insert(process) {
                        let _ = rustix::process::kill_process(process, signal);
                    }
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if timeout(patience, gone).await.is_ok() {
            return;
        }
    }
    tracing::warn!("some processes of the test command could not be ended");
}

/// Collects adopted children that ended, so that none stays a zombie; `own` are still waited for elsewhere.
fn reap(own: &[Option<rustix::process::Pid>]) {
    for process in adopted(own) {
        let _ = rustix::process::waitpid(Some(process), rustix::process::WaitOptions::NOHANG);
    }
}

/// Processes whose parent we are, by what `/proc` says, but for `own`.
#[cfg(target_os = "linux")]
fn adopted(own: &[Option<rustix::process::Pid>]) -> Vec<rustix::process::Pid> {
    let me = std::process::id().to_string();
    let Ok(entries) = fs_err::read_dir("/proc") else { return Vec::new() };
    let parent_is_me = |stat: &str| {
        // `pid (name) state parent ...`, where the name may hold anything.
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)) == Some(me.as_str())
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|id| fs_err::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| parent_is_me(&stat)))
        .filter_map(rustix::process::Pid::from_raw)
        .filter(|process| !own.contains(&Some(*process)))
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn adopted(_own: &[Option<rustix::process::Pid>]) -> Vec<rustix::process::Pid> {
    Vec::new()
}
