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
use crate::model::{CaseId, Verdict};

/// Verdicts by case id.
///
/// A verdict that nobody knows is none: its case is as if it had not run.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    by_id: IndexMap<String, Option<Said>>,
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
            return Self::of_claim(&Claim::new(value));
        }
        let said = |value: &Value| {
            let verdict = serde_json::from_value(value.clone()).ok()?;
            Some(Said { verdict, spec_sha: None })
        };
        let by_id = object.iter().map(|(id, value)| (id.clone(), said(value)));
        Ok(Self { by_id: by_id.collect(), is_report: false })
    }

    /// Those of a document with a list of cases: nothing else of it is needed here.
    fn of_claim(claim: &Claim) -> Result<Self, PublishError> {
        let fault =
            |place: String, message: &str| PublishError::Report { place, message: message.to_owned() };
        if claim.case_list().is_none() {
            return Err(fault("cases".to_owned(), "is no list"));
        }
        let mut by_id = IndexMap::new();
        for entry in claim.cases() {
            let id = entry.id().and_then(CaseId::parse);
            let id = id.ok_or_else(|| fault(entry.place(), "has no case id"))?;
            let spec_sha = match entry.text("spec_sha") {
                None => None,
                Some(text) => {
                    Some(SpecSha::parse(text).ok_or_else(|| fault(entry.place(), "spec_sha is no hash"))?)
                }
            };
            let said = entry.verdict().map(|verdict| Said { verdict, spec_sha });
            if by_id.insert(id.to_string(), said).is_some() {
                return Err(fault(entry.place(), "stands twice"));
            }
        }
        Ok(Self { by_id, is_report: true })
    }

    /// Those of a report.
    pub fn of(told: &Told) -> Self {
        let said =
            |case: &super::ToldCase| Some(Said { verdict: case.verdict, spec_sha: case.spec_sha.clone() });
        Self {
            by_id: told.cases.iter().map(|case| (case.id.to_string(), said(case))).collect(),
            is_report: true,
        }
    }

    /// What was said about the case `id`.
    pub fn of_case(&self, id: &str) -> Option<&Said> {
        self.by_id.get(id)?.as_ref()
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
