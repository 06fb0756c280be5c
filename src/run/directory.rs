//! `testing/<feature>/runs/<run id>/`: what is written there before the tests start and after they ended.

use super::plan::Plan;
use crate::files::{self, FileError};
use crate::host::meta::Meta;
use crate::host::spec_sha::{SpecError, Specs};
use crate::model::{RunId, Shard};
use crate::playwright::fixture::WRITE_GUARD_TS;
use std::path::{Path, PathBuf};

/// The directory of one run.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    /// Its absolute path, every link followed.
    pub path: PathBuf,
    /// The run's id, which is its name.
    pub id: RunId,
}

/// When a run went on and what was found out meanwhile.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The build before.
    pub sha_before: String,
    /// The build after; empty when it could not be read any more, which the gate refuses.
    pub sha_after: String,
    /// ISO 8601.
    pub started_at: String,
    /// ISO 8601.
    pub finished_at: String,
    /// Whether the run came to its end under the guard: one that did not has no kind, which the gate refuses.
    pub whole: bool,
}

/// The `config` of results.json, as far as meta.json repeats it.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Told {
    version: Option<String>,
    shard: Option<Shard>,
}

impl RunDirectory {
    /// Makes the directory of a run that must not exist yet, with what holds now: the statuses and the specs' hashes.
    ///
    /// # Errors
    /// When it cannot be made or something in it cannot be written; or when `specs.json` cannot be used.
    pub fn make(plan: &Plan, id: RunId) -> Result<Self, SpecError> {
        let path = plan.feature_dir.join("runs").join(id.as_str());
        if let Some(parent) = path.parent() {
            files::create_folder(parent)?;
        }
        files::create_new_folder(&path)?;
        let path = files::canonical(&path)?;
        files::create_folder(&path.join("fixtures"))?;
        let statuses = files::read_capped(&plan.statuses_path, files::DECLARED_CAP)?;
        files::write_once(&path.join("statuses.json"), &statuses)?;
        let root = plan.profile_path.parent().unwrap_or(Path::new("/"));
        let specs = Specs {
            root,
            feature: &plan.feature,
            spec_dir: &plan.spec_dir,
            is_generated: &|bytes| bytes == WRITE_GUARD_TS.as_bytes(),
        };
        let hashes = files::json_bytes(&specs.hashes(&plan.cases)?)?;
        files::write_once(&path.join("spec-shas.json"), &hashes)?;
        Ok(Self { path, id })
    }

    /// Writes meta.json.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_meta(&self, plan: &Plan, facts: &Facts) -> Result<PathBuf, FileError> {
        let some = |text: &str| Some(text.to_owned());
        let told = self.told();
        let meta = Meta {
            run_id: some(self.id.as_str()),
            run_kind: facts.whole.then(|| plan.kind.as_str().to_owned()),
            feature: some(&plan.feature),
            app: some(&plan.app),
            env_name: some(&plan.env_name),
            env_url: some(&plan.env_url),
            env_kind: some(plan.env_kind.as_str()),
            api_mode: some(&plan.api_mode),
            commit_sha: None,
            sha_before: some(&facts.sha_before),
            sha_after: some(&facts.sha_after),
            sha_source: some(&plan.sha_source.url),
            sha_format: some(plan.sha_source.format.as_str()),
            evidence_capture: some(plan.capture.as_str()),
            mutation_policy: some(plan.policy.kind().as_str()),
            mutation_prefix: plan.policy.prefix().map(str::to_owned),
            executor: some(&plan.executor),
            model_version: some(&plan.model_version),
            playwright_version: told.version,
            browser: self.browser(),
            started_at: some(&facts.started_at),
            finished_at: some(&facts.finished_at),
            upstream_insecure: plan.insecure.clone(),
            shard: told.shard,
            shards: Vec::new(),
        };
        let path = self.path.join("meta.json");
        // What the command may have put there in our name is replaced.
        files::write_atomic(&path, &files::json_bytes(&meta)?)?;
        Ok(path)
    }

    /// What the fixture left about the browser: `chromium-156.0.8078.114`.
    fn browser(&self) -> Option<String> {
        #[derive(serde::Deserialize)]
        struct Browser {
            name: String,
            version: String,
        }
        let told: Browser = files::read_json(&self.path.join("browser.json"), files::DECLARED_CAP).ok()?;
        Some(format!("{}-{}", told.name, told.version))
    }

    /// What results.json says of the Playwright that wrote it and of the part of the run that it is.
    fn told(&self) -> Told {
        #[derive(serde::Deserialize)]
        struct Results {
            config: Told,
        }
        files::read_json::<Results>(&self.results(), files::RESULTS_CAP)
            .map(|told| told.config)
            .unwrap_or_default()
    }

    /// Where Playwright's JSON report must lie.
    pub fn results(&self) -> PathBuf {
        self.path.join("results.json")
    }
}
