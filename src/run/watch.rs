//! The test command under our eyes: to its end, with a line that tells how far the guard is.

use super::child::{self, Ended, Signals};
use super::screen::Screen;
use crate::proxy::{Counts, Guard};
use std::io;
use std::time::{Duration, Instant};
use tokio::process::Command;

/// How often the status line changes.
const TICK: Duration = Duration::from_millis(250);

/// Runs the command to its end, with a status line where there is a terminal. `helper` is a child of ours that stays.
pub(super) async fn watch(
    mut command: Command,
    guard: &Guard,
    helper: Option<u32>,
    screen: Option<Screen>,
    signals: &mut Signals,
) -> io::Result<Ended> {
    let Some(screen) = screen else { return child::supervise(command, helper, None, signals).await };
    // The command writes to a pipe now, and would leave its colours out.
    if std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) {
        command.env("FORCE_COLOR", "1");
    }
    let started = Instant::now();
    let mut tick = tokio::time::interval(TICK);
    let mut supervised = std::pin::pin!(child::supervise(command, helper, Some(&screen), signals));
    let ended = loop {
        tokio::select! {
            ended = &mut supervised => break ended,
            _ = tick.tick() => screen.status(&progress(guard.counts(), started.elapsed())),
        }
    };
    screen.clear();
    ended
}

/// `qa-pilot 1:07  12 attempts  3 open  480 requests  0 blocked  2 observed`
fn progress(counts: Counts, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    format!(
        "qa-pilot {}:{:02}  {} attempt(s)  {} open  {} requests  {} blocked  {} observed",
        seconds / 60,
        seconds % 60,
        counts.begun,
        counts.open,
        counts.requests,
        counts.blocked,
        counts.observed
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_line() {
        let counts = Counts {
            begun: 12,
            open: 3,
            finished: 9,
            requests: 480,
            blocked: 0,
            observed: 2,
            unclassified: 0,
        };
        assert_eq!(
            progress(counts, Duration::from_secs(67)),
            "qa-pilot 1:07  12 attempt(s)  3 open  480 requests  0 blocked  2 observed"
        );
    }
}
