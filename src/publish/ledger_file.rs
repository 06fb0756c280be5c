//! Files by case id that are read, changed and put back: the ledgers, and the statuses where there is no tracker.
//!
//! One that cannot be read is refused, never taken as empty: what is written would replace it.

use std::path::Path;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use super::PublishError;
use crate::files::{self, DECLARED_CAP, FileError, Held};
use crate::json;

/// Reads the file at `path`, whose values are `what`; none when there is none yet. `typed` says what is wrong with a value.
///
/// # Errors
/// When it is there and is no object by case id, a key stands twice, or a value is not of its form.
pub(super) fn read<T>(
    path: &Path,
    what: &str,
    typed: impl Fn(Value) -> Result<T, String>,
) -> Result<Option<IndexMap<String, T>>, PublishError> {
    let corrupt = |message: String| PublishError::Ledger { path: path.to_owned(), message };
    let bytes = match files::read_capped(path, DECLARED_CAP) {
        Err(FileError::Missing(_)) => return Ok(None),
        other => other?,
    };
    let value = json::parse(path, &bytes).map_err(|error| corrupt(format!("cannot be used ({error})")))?;
    let Value::Object(object) = value else {
        return Err(corrupt(format!("cannot be used: it must be an object from case id to {what}")));
    };
    let entry = |(id, value): (String, Value)| match typed(value) {
        Ok(typed) => Ok((id, typed)),
        Err(message) => Err(corrupt(format!("cannot be used: {id:?} {message}"))),
    };
    object.into_iter().map(entry).collect::<Result<_, _>>().map(Some)
}

/// Replaces a file that is held.
///
/// # Errors
/// When it cannot be written; then it is as it was.
pub(super) fn write<T: Serialize>(held: &Held, entries: &T) -> Result<(), PublishError> {
    Ok(held.replace(&files::json_bytes(entries)?)?)
}
