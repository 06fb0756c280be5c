//! The reduced record of a published run, `testing/<feature>/verdicts/<run id>.json`. It is committed, and stands in for
//! report.json where QA works on another machine.
//!
//! Where evidence stays local it holds nothing of the application: no failure texts, URLs or people.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::PublishError;
use super::payload::Facts;
use super::plain::{BuildId, InnerPath, Moment, SpecSha, Word};
use crate::files;
use crate::host::profile::Upload;
use crate::model::{CaseId, Digest, RunKind, Verdict};
use crate::report::Summary;

/// What is kept of a run. The order of keys is part of the format.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the header repeats the report")]
pub struct Record {
    pub run_id: String,
    pub run_kind: &'static str,
    pub feature: String,
    pub env_name: Word,
    pub env_kind: &'static str,
    pub commit_sha: BuildId,
    pub sha_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Moment>,
    /// `tracker`, `reference` or `local`.
    pub evidence_mode: &'static str,
    /// What only travels where evidence does.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
    pub summary: Summary,
    pub cases: Vec<RecordedCase>,
}

/// Where and by whom it was run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Details {
    pub app: Word,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_mode: Option<Word>,
    pub executor: Word,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_version: Option<Word>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser: Option<Word>,
}

/// One case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordedCase {
    pub id: CaseId,
    pub verdict: Verdict,
    pub spec_sha: Option<SpecSha>,
    pub retries: u64,
    pub trace: Option<InnerPath>,
    pub trace_sha256: Option<Digest>,
    /// Absent where evidence stays local.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_summary: Option<Option<String>>,
}

impl Record {
    /// The record of an approved run.
    ///
    /// # Errors
    /// When its environment is not registered.
    pub fn of(facts: &Facts<'_>) -> Result<Self, PublishError> {
        let told = &facts.told;
        let environment = facts.profile.environment(told.env_name.as_str()).ok_or_else(|| {
            PublishError::Environment(format!("environment {} is not registered", told.env_name.as_str()))
        })?;
        let tells_data = facts.mode.tells_data();
        let details = tells_data.then(|| Details {
            app: facts.app.clone(),
            // The registered URL; the gate holds the report's against it.
            env_url: environment.apps.get(facts.app.as_str()).cloned(),
            api_mode: told.api_mode.clone(),
            executor: facts.executor.clone(),
            model_version: told.model_version.clone(),
            browser: told.browser.clone(),
        });
        let upload = if tells_data { facts.profile.effective_upload(environment) } else { Upload::Local };
        let cases = told.cases.iter().map(|case| RecordedCase {
            id: case.id.clone(),
            verdict: case.verdict,
            spec_sha: case.spec_sha.clone(),
            retries: case.retries,
            trace: case.trace.clone(),
            trace_sha256: case.trace_sha256,
            failure_summary: tells_data.then(|| case.failure.clone()),
        });
        Ok(Self {
            run_id: told.run_id.to_string(),
            // The gate lets no other kind pass.
            run_kind: RunKind::Verdict.as_str(),
            feature: told.feature.clone(),
            env_name: told.env_name.clone(),
            env_kind: environment.kind.as_str(),
            commit_sha: facts.build.clone(),
            sha_format: if told.is_build_id { "build-id" } else { "commit" },
            started_at: told.started_at.clone(),
            finished_at: told.finished_at.clone(),
            evidence_mode: upload.as_str(),
            details,
            summary: Summary::of(told.cases.iter().map(|case| case.verdict)),
            cases: cases.collect(),
        })
    }

    /// Writes it into `folder` as `<run id>.json`; a second publish of the same run replaces it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, PublishError> {
        let path = folder.join(format!("{}.json", self.run_id));
        files::write_atomic(&path, &files::json_bytes(self)?)?;
        Ok(path)
    }
}
