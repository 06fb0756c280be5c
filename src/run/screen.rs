//! The terminal during a run: what the test command prints, and below it one line that tells how far the guard is.
//!
//! Only where stderr is a terminal. The command's output passes through us there, so that the line can make way for it.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt};

/// A terminal with a status line at its foot.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether the command's last output left the cursor in the middle of a line.
    midline: bool,
    /// Whether the status line is on the screen.
    shown: bool,
}

const CLEAR_LINE: &[u8] = b"\r\x1b[2K";

impl Screen {
    /// A screen, when stderr is a terminal.
    pub fn of_stderr() -> Option<Self> {
        std::io::IsTerminal::is_terminal(&std::io::stderr()).then(Self::default)
    }

    /// Prints a piece of the command's output.
    fn print(&self, bytes: &[u8]) {
        let mut state = self.lock();
        let mut out = std::io::stderr().lock();
        if std::mem::take(&mut state.shown) {
            let _ = out.write_all(CLEAR_LINE);
        }
        let _ = out.write_all(bytes);
        let _ = out.flush();
        if let Some(last) = bytes.last() {
            state.midline = *last != b'\n';
        }
    }

    /// Shows `text` as the status line, unless the command is in the middle of a line.
    pub fn status(&self, text: &str) {
        let mut state = self.lock();
        if state.midline {
            return;
        }
        let columns =
            rustix::termios::tcgetwinsize(std::io::stderr()).map_or(80, |size| usize::from(size.ws_col));
        let text: String = text.chars().take(columns.saturating_sub(1)).collect();
        let mut out = std::io::stderr().lock();
        let _ = out.write_all(CLEAR_LINE);
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
        state.shown = true;
    }

    /// Takes the status line away.
    pub fn clear(&self) {
        self.print(b"");
    }

    /// Prints all that `output` gives until its end.
    pub(super) async fn pump(self, mut output: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 << 10];
        while let Ok(length @ 1..) = output.read(&mut buffer).await {
            self.print(&buffer[..length]);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
