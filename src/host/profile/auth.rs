//! `auth`: how tests sign in, and the oldest Playwright that may run them.

use serde_json::Value;

use super::super::values::{Faults, Object};

/// How tests sign in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Auth {
    /// `dev-handoff`, `role-accounts` or `mixed`.
    pub model: String,
    /// The oldest Playwright version, at least 1.51.0 (the first that saves IndexedDB with the storage state).
    pub playwright_min: String,
    /// Where storage states are kept, if the profile says.
    pub storage_state_dir: Option<String>,
}

const OLDEST: (u64, u64, u64) = (1, 51, 0);

pub(super) fn read(root: &Object, faults: &mut Faults) -> Option<Auth> {
    let block = faults.mapping(root, "", "auth")?;
    let words = [("dev-handoff", "dev-handoff"), ("role-accounts", "role-accounts"), ("mixed", "mixed")];
    let model = faults.word(block, "auth", "model", &words);
    let playwright_min = playwright_min(block, faults);
    let mut storage_state_dir = None;
    if let Some(state) = faults.mapping(block, "auth", "storage_state") {
        if state.get("indexed_db") != Some(&Value::Bool(true)) {
            faults
                .add("auth.storage_state.indexed_db", "must be true: tokens in IndexedDB are lost otherwise");
        }
        storage_state_dir = faults.optional_text(state, "auth.storage_state", "dir").map(str::to_owned);
    }
    Some(Auth { model: model?.to_owned(), playwright_min: playwright_min?, storage_state_dir })
}

fn playwright_min(block: &Object, faults: &mut Faults) -> Option<String> {
    let at = "auth.playwright_min";
    match block.get("playwright_min") {
        Some(Value::Number(_)) => {
            faults.add(at, "is a number: put it in quotes, or 1.60 reads as 1.6");
            None
        }
        Some(Value::String(text)) => match version(text) {
            Some(version) if version >= OLDEST => Some(text.clone()),
            Some(_) => {
                faults.add(at, "must be at least 1.51.0");
                None
            }
            None => {
                faults.add(at, "must begin with major.minor or major.minor.patch");
                None
            }
        },
        _ => {
            faults.add(at, "must be a version such as \"1.51.0\"");
            None
        }
    }
}

/// The leading `major.minor[.patch]`; what follows is ignored.
fn version(text: &str) -> Option<(u64, u64, u64)> {
    let (major, rest) = number(text)?;
    let (minor, rest) = number(rest.strip_prefix('.')?)?;
    let patch = rest.strip_prefix('.').and_then(number).map_or(0, |(patch, _)| patch);
    Some((major, minor, patch))
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn a_version_is_its_leading_numbers() {
        assert_eq!(version("1.51"), Some((1, 51, 0)));
        assert_eq!(version("1.60.3-beta"), Some((1, 60, 3)));
        assert_eq!(version("1.60.x"), Some((1, 60, 0)));
        for wrong in ["v1.51.0", "1", "", "1.", ".51", "99999999999999999999.1"] {
            assert_eq!(version(wrong), None, "{wrong}");
        }
    }
}
