//! Which specs a pipeline runs: those whose hash is the one that QA approved. What changed since is skipped with a line.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::files;
use crate::host::cases::Cases;
use crate::host::spec_sha::Specs;
use crate::model::CaseId;
use crate::publish::Ledger;

/// The known priorities.
const KNOWN: [&str; 3] = ["P0", "P1", "P2"];

/// A list of priorities to run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Priorities(Vec<&'static str>);

/// What runs and what does not, in the order of the ledger.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Selection {
    /// What runs.
    pub runnable: Vec<Runnable>,
    /// What does not, and should.
    pub skipped: Vec<Skipped>,
}

/// A case that runs.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Runnable {
    /// The case.
    pub id: String,
    /// Its spec, relative to the repository.
    pub path: String,
}

/// A case that does not run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Skipped {
    /// The case.
    pub id: String,
    /// Why.
    pub reason: String,
}

impl Priorities {
    /// Reads `P0` or `P0,P2`.
    ///
    /// # Errors
    /// When an element is none of P0, P1, P2; the error is the element.
    pub fn parse(text: &str) -> Result<Self, String> {
        let one = |word: &str| {
            let word = word.trim();
            KNOWN
                .into_iter()
                .find(|known| *known == word)
                .ok_or_else(|| format!("{word:?} is none of {}", KNOWN.join(", ")))
        };
        text.split(',').map(one).collect::<Result<_, _>>().map(Self)
    }
}

impl std::fmt::Display for Priorities {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

/// Holds each entry of the ledger against the spec as it is now; `paths` are specs by case id, relative to the repository.
pub fn select(
    ledger: &Ledger,
    paths: &BTreeMap<String, String>,
    cases: &Cases,
    specs: &Specs<'_>,
    priorities: Option<&Priorities>,
) -> Selection {
    let mut selection = Selection::default();
    for (id, approved) in ledger.iter() {
        let case = CaseId::parse(id).and_then(|id| cases.case(&id));
        let mut skip = |reason: String| selection.skipped.push(Skipped { id: id.to_owned(), reason });
        if let Some(wanted) = priorities {
            let Some(case) = case else {
                skip("is not in the cases file, so its priority is not known".to_owned());
                continue;
            };
            match case.priority.as_deref() {
                Some(priority) if wanted.0.contains(&priority) => {}
                Some(priority) if KNOWN.contains(&priority) => continue,
                other => {
                    skip(format!(
                        "has the priority {:?}, which is none of {}",
                        other.unwrap_or("(none)"),
                        KNOWN.join(", ")
                    ));
                    continue;
                }
            }
        }
        let Some(path) = paths.get(id) else {
            skip("has no path in the specs file".to_owned());
            continue;
        };
        if path.chars().any(|c| c.is_whitespace() || c.is_control()) {
            skip(format!("has blanks in its path {path:?}"));
        } else if !files::is_inner(path) {
            skip(format!("has a path that leads out of the repository: {path:?}"));
        } else {
            match specs.hash(Path::new(path), case) {
                Ok(now) if now == approved => {
                    selection.runnable.push(Runnable { id: id.to_owned(), path: path.clone() });
                }
                Ok(now) => {
                    skip(format!("approved was {approved}, and {path} is now {now}; QA must look again"))
                }
                Err(error) => skip(error.to_string()),
            }
        }
    }
    selection
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities() {
        assert_eq!(Priorities::parse("P0, P2").unwrap().to_string(), "P0,P2");
        for text in ["", "P3", "p0", "P0,", "P0 P1", ","] {
            assert!(Priorities::parse(text).is_err(), "{text:?}");
        }
    }
}
