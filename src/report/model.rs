//! report.json: what a run claims. Key order is part of the format.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::host::meta::Meta;
use crate::model::{CaseId, Digest, Phase, Verdict};
use crate::playwright::results::{Results, Text};
use crate::record::Writes;

/// A whole report. No field is judged by a model or a person: each is copied from Playwright's report or from the run's
/// metadata, or computed from them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the header repeats meta.json, whose fields are described there")]
pub struct Report {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    pub run_kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env_name: Option<String>,
    pub env_kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env_url: Option<String>,
    pub mutation_policy: Option<String>,
    pub mutation_prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_mode: Option<String>,
    /// The deployed build: the one after the run, else the one before.
    pub commit_sha: Option<String>,
    pub sha_before: Option<String>,
    pub sha_after: Option<String>,
    pub sha_source: Option<String>,
    pub sha_format: String,
    pub evidence_capture: String,
    /// Whether the build changed during the run; then every case is blocked.
    pub sha_mismatch: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_version: Option<String>,
    pub playwright_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser: Option<String>,
    pub started_at: Option<String>,
    pub finished_at: Option<String>,
    /// One entry a case id, by id.
    pub cases: Vec<CaseEntry>,
    /// One entry a fixture and phase, by name, set-up first.
    pub fixtures: Vec<FixtureEntry>,
    /// Counts over cases; fixtures are not counted.
    pub summary: Summary,
    /// Titles that are neither a case's nor a fixture's, in the order of the run.
    pub unmapped_specs: Vec<String>,
    /// Playwright's errors outside any test.
    pub errors: Vec<String>,
}

/// What a run says about a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseEntry {
    /// The case.
    pub id: CaseId,
    /// Over all projects, repetitions and files.
    pub verdict: Verdict,
    /// The sum over all attempts, in milliseconds.
    pub duration_ms: i64,
    /// Always null: Playwright's JSON has no count.
    pub assertions: Option<u64>,
    /// The evidence, run-relative.
    pub trace: Option<String>,
    /// The digest of the trace's bytes.
    pub trace_sha256: Option<Digest>,
    /// What the guard recorded; none when no attempt attached a record.
    pub writes: Option<Writes>,
    /// Run-relative.
    pub video: Option<String>,
    /// Run-relative, or `inline:` and the name of an attachment without a file.
    pub console_log: Option<String>,
    /// Playwright's words, for fail and flaky.
    pub failure_summary: Option<String>,
    /// Tries after the first, summed.
    pub retries: u64,
    /// What the verdict was about; null means changed.
    pub spec_sha: Option<String>,
}

/// What a run says about a shared entity's set-up or teardown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FixtureEntry {
    /// Its name.
    pub name: String,
    /// Set-up or teardown.
    pub phase: Phase,
    /// As for a case.
    pub verdict: Verdict,
    /// As for a case.
    pub trace: Option<String>,
    /// As for a case.
    pub trace_sha256: Option<Digest>,
    /// As for a case.
    pub writes: Option<Writes>,
}

/// How many cases came to what.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the words are the verdicts")]
pub struct Summary {
    pub pass: u64,
    pub fail: u64,
    pub flaky: u64,
    pub blocked: u64,
}

impl Summary {
    /// Counts verdicts.
    pub fn of(verdicts: impl IntoIterator<Item = Verdict>) -> Self {
        let mut summary = Self::default();
        for verdict in verdicts {
            *match verdict {
                Verdict::Pass => &mut summary.pass,
                Verdict::Fail => &mut summary.fail,
                Verdict::Flaky => &mut summary.flaky,
                Verdict::Blocked => &mut summary.blocked,
            } += 1;
        }
        summary
    }

    /// All cases.
    pub fn total(&self) -> u64 {
        self.pass + self.fail + self.flaky + self.blocked
    }
}

/// What Playwright's report says about the run as a whole.
#[derive(Clone, Debug, Default)]
pub struct RunFacts {
    /// Playwright's version.
    pub version: Option<String>,
    /// When it started, ISO 8601.
    pub start_time: Option<String>,
}

impl RunFacts {
    /// Those of `results`.
    pub fn of(results: &Results<'_>) -> Self {
        let text = |text: Option<&Text<'_>>| text.map(|text| text.to_string());
        Self { version: text(results.version.as_ref()), start_time: text(results.start_time.as_ref()) }
    }
}

/// Fields of the header that are left out where the run does not know them.
const OPTIONAL: &[&str] =
    &["run_id", "feature", "app", "env_name", "env_url", "api_mode", "executor", "model_version", "browser"];
/// Fields of a report that follow from what ran.
const OF_ENTRIES: &[&str] = &["cases", "fixtures", "summary", "unmapped_specs", "errors"];

impl Report {
    /// The header of the run's report by field, null where the report leaves a field out. Without `run` (results.json
    /// cannot be read) it lacks what may come from there.
    pub fn header(meta: Meta, run: Option<RunFacts>) -> Map<String, Value> {
        let of_results: &[&str] = if run.is_none() { &["playwright_version", "started_at"] } else { &[] };
        let report = Self::new(meta, run.unwrap_or_default(), super::Derived::default());
        // Plain data always serializes; should it not, there is nothing to hold a claim against, and no field equals that.
        let Ok(Value::Object(mut header)) = serde_json::to_value(report) else { return Map::new() };
        for key in OF_ENTRIES.iter().chain(of_results) {
            header.shift_remove(*key);
        }
        for key in OPTIONAL {
            header.entry(*key).or_insert(Value::Null);
        }
        header
    }

    /// The report of a run, its header from `meta` and, where that is silent, from Playwright.
    pub fn new(meta: Meta, run: RunFacts, derived: super::Derived) -> Self {
        Self {
            sha_mismatch: meta.sha_mismatch(),
            commit_sha: meta.build().map(str::to_owned),
            run_id: meta.run_id,
            run_kind: meta.run_kind,
            feature: meta.feature,
            app: meta.app,
            env_name: meta.env_name,
            env_kind: meta.env_kind,
            env_url: meta.env_url,
            mutation_policy: meta.mutation_policy,
            mutation_prefix: meta.mutation_prefix,
            api_mode: meta.api_mode,
            sha_before: meta.sha_before,
            sha_after: meta.sha_after,
            sha_source: meta.sha_source,
            sha_format: meta.sha_format.unwrap_or_else(|| "commit".to_owned()),
            evidence_capture: meta.evidence_capture.unwrap_or_else(|| "always".to_owned()),
            executor: meta.executor,
            model_version: meta.model_version,
            playwright_version: meta.playwright_version.or(run.version),
            browser: meta.browser,
            started_at: meta.started_at.or(run.start_time),
            finished_at: meta.finished_at,
            summary: Summary::of(derived.cases.iter().map(|case| case.verdict)),
            cases: derived.cases,
            fixtures: derived.fixtures,
            unmapped_specs: derived.unmapped_specs,
            errors: derived.errors,
        }
    }
}
