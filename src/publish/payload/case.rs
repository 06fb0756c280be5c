//! The update of one case, by mode.

use serde::Serialize;

use super::Facts;
use crate::model::{CaseId, Digest, RunId, Verdict};
use crate::publish::ToldCase;
use crate::publish::plain::{BuildId, InnerPath, Moment, Word};

/// The tracker's custom fields, by their names there.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Fields {
    #[serde(rename = "Verdict")]
    pub verdict: Verdict,
    #[serde(rename = "Build SHA")]
    pub build: BuildId,
    #[serde(rename = "Env")]
    pub env: Word,
    #[serde(rename = "API Mode", skip_serializing_if = "Option::is_none")]
    pub api_mode: Option<Word>,
    #[serde(rename = "App")]
    pub app: Word,
    #[serde(rename = "Executor")]
    pub executor: Word,
    /// When the run ended; null when nothing says.
    #[serde(rename = "Run Date")]
    pub run_date: Option<Moment>,
    #[serde(rename = "Flake Count")]
    pub flake_count: u64,
    #[serde(rename = "Model Version", skip_serializing_if = "Option::is_none")]
    pub model_version: Option<Word>,
}

/// A trace to attach.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attachment {
    /// Where it is, run-relative.
    pub path: InnerPath,
    /// What it is called there.
    pub name: String,
}

/// A case whose trace is attached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrackerCase {
    /// The case.
    pub case_id: CaseId,
    /// The host's name of the status that it goes to; none when it stays.
    pub target_status: Option<String>,
    /// The tracker's fields.
    pub fields: Fields,
    /// The trace, where there is one.
    pub attach: Option<Attachment>,
}

/// A case whose trace stays on the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReferenceCase {
    /// The case.
    pub case_id: CaseId,
    /// The host's name of the status that it goes to; none when it stays.
    pub target_status: Option<String>,
    /// The tracker's fields.
    pub fields: Fields,
    /// The run.
    pub run_id: RunIdText,
    /// The trace, run-relative.
    pub trace_path: Option<InnerPath>,
    /// The digest of its bytes.
    pub trace_sha256: Option<Digest>,
}

/// A case of which nothing but the verdict leaves the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LocalCase {
    /// The case.
    pub case_id: CaseId,
    /// What it came to.
    pub verdict: Verdict,
    /// The host's name of the status that it goes to; none when it stays.
    pub target_status: Option<String>,
    /// The environment.
    pub env_name: Word,
    /// The deployed build.
    pub build_id: BuildId,
    /// The run.
    pub run_id: RunIdText,
    /// The trace, run-relative.
    pub trace_path: Option<InnerPath>,
    /// The digest of its bytes.
    pub trace_sha256: Option<Digest>,
}

/// A run id as text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct RunIdText(#[serde(serialize_with = "text")] pub RunId);

fn text<S: serde::Serializer>(id: &RunId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(id.as_str())
}

impl Fields {
    fn of(facts: &Facts<'_>, case: &ToldCase) -> Self {
        let told = &facts.told;
        Self {
            verdict: case.verdict,
            build: facts.build.clone(),
            env: told.env_name.clone(),
            api_mode: told.api_mode.clone(),
            app: facts.app.clone(),
            executor: facts.executor.clone(),
            run_date: told.finished_at.clone(),
            flake_count: case.retries,
            model_version: told.model_version.clone(),
        }
    }
}

impl TrackerCase {
    pub(super) fn of(facts: &Facts<'_>, case: &ToldCase) -> Self {
        let name = format!("{}-{}.zip", case.id, facts.told.run_id);
        Self {
            case_id: case.id.clone(),
            target_status: facts.target(case),
            fields: Fields::of(facts, case),
            attach: case.trace.clone().map(|path| Attachment { path, name }),
        }
    }
}

impl ReferenceCase {
    pub(super) fn of(facts: &Facts<'_>, case: &ToldCase) -> Self {
        Self {
            case_id: case.id.clone(),
            target_status: facts.target(case),
            fields: Fields::of(facts, case),
            run_id: RunIdText(facts.told.run_id.clone()),
            trace_path: case.trace.clone(),
            trace_sha256: case.trace_sha256,
        }
    }
}

impl LocalCase {
    pub(super) fn of(facts: &Facts<'_>, case: &ToldCase) -> Self {
        Self {
            case_id: case.id.clone(),
            verdict: case.verdict,
            target_status: facts.target(case),
            env_name: facts.told.env_name.clone(),
            build_id: facts.build.clone(),
            run_id: RunIdText(facts.told.run_id.clone()),
            trace_path: case.trace.clone(),
            trace_sha256: case.trace_sha256,
        }
    }
}
