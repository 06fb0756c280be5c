//! stdout is data, stderr is talk.

use std::fmt::Display;
use std::io::Write;

/// Prints data on stdout; a reader that went away is no fault.
pub(crate) fn data(text: impl Display) {
    let _ = write!(anstream::stdout().lock(), "{text}");
}
