//! The verdicts of one run as `cases status`, `transitions` and `approve` take them: from a report, from the reduced
//! record, or from a bare mapping of case id to verdict.

use std::path::Path;

use indexmap::IndexMap;
use serde_json::Value;

use super::PublishError;
use super::plain::SpecSha;
use super::told::Told;
use crate::files::{self, RESULTS_CAP};
use crate::gate::Claim;
use crate::json;
use crate::model::Verdict;

/// Verdicts by case id.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    by_id: IndexMap<String, Said>,
    is_report: bool,
}

/// What a run said about one case.
#[derive(Clone, Debug)]
pub struct Said {
    /// The verdict.
    pub verdict: Verdict,
    /// What it was about; unknown in a bare mapping.
    pub spec_sha: Option<SpecSha>,
}

impl Verdicts {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read, is no JSON object, or holds a list of cases that are not of their form.
    pub fn read(path: &Path) -> Result<Self, PublishError> {
        let value = json::parse(path, &files::read_capped(path, RESULTS_CAP)?)?;
        let Value::Object(object) = &value else {
            let message = "is neither a report nor a mapping from case id to verdict".to_owned();
            return Err(PublishError::File(files::FileError::Json { path: path.to_owned(), message }));
        };
        if object.contains_key("cases") {
            return Ok(Self::of(&Told::of(&Claim::new(value))?));
        }
        // A verdict that nobody knows is none: the case is as if it had not run.
        let known = |value: &Value| serde_json::from_value::<Verdict>(value.clone()).ok();
        let by_id = object
            .iter()
            .filter_map(|(id, value)| Some((id.clone(), Said { verdict: known(value)?, spec_sha: None })));
        Ok(Self { by_id: by_id.collect(), is_report: false })
    }

    /// Those of a report.
    pub fn of(told: &Told) -> Self {
        let said = |case: &super::ToldCase| Said { verdict: case.verdict, spec_sha: case.spec_sha.clone() };
        Self {
            by_id: told.cases.iter().map(|case| (case.id.to_string(), said(case))).collect(),
            is_report: true,
        }
    }

    /// What was said about the case `id`.
    pub fn of_case(&self, id: &str) -> Option<&Said> {
        self.by_id.get(id)
    }

    /// Whether nothing was said at all.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Whether they come from a report or a record, which know what each verdict was about.
    pub fn is_report(&self) -> bool {
        self.is_report
    }
}
