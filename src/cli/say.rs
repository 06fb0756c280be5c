//! stdout is data, stderr is talk.

use std::fmt::Display;
use std::io::Write;

use crate::render::one_line;

/// Prints data on stdout; a reader that went away is no fault.
pub(crate) fn data(text: impl Display) {
    let _ = write!(anstream::stdout().lock(), "{text}");
}

/// Prints one line of talk on stderr: `error: ` and what is wrong.
pub(crate) fn fault(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "error: {}", one_line(&text.to_string()));
}

/// Prints one line of talk on stderr.
pub(crate) fn talk(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{}", one_line(&text.to_string()));
}

/// Prints lines of talk on stderr as they are.
pub(crate) fn talk_lines(text: impl Display) {
    let _ = write!(anstream::stderr().lock(), "{text}");
}
