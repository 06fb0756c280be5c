//! What a run is to do, read from what the host declares and checked before anything starts.

use super::playwright::{self, CommandError, PlannedCommand};
use super::preflight::{self, PreflightError};
use super::run_log::RunLog;
use super::selection::Selection;
use crate::files::{self, FileError};
use crate::host::cases::{Cases, Document, mutation_faults};
use crate::host::profile::{Capture, EnvKind, Profile, ProfileError, ShaSource};
use crate::host::spec_sha::Specs;
use crate::model::{Fault, Policy, PolicyError, PolicyKind, RunKind};
use crate::playwright::fixture::WRITE_GUARD_TS;
use crate::publish::Word;
use crate::yaml::YamlError;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What a person asks for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The feature, a folder below `testing/`.
    pub feature: String,
    /// The environment's name in the profile.
    pub env: String,
    /// The app; needed when the environment has several.
    pub app: Option<String>,
    /// The profile's path.
    pub profile: PathBuf,
    /// What the run is for; found out when absent.
    pub kind: Option<RunKind>,
    /// The statuses file; looked for when absent.
    pub statuses: Option<PathBuf>,
    /// Who runs it.
    pub executor: Option<String>,
    /// Whether cases run that were set aside as flaky.
    pub include_quarantined: bool,
    /// Hosts whose certificates are not to be verified.
    pub insecure: Vec<String>,
    /// The test command.
    pub command: Vec<String>,
}

/// A run that may start.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The feature.
    pub feature: String,
    /// `testing/<feature>` below the profile's folder.
    pub feature_dir: PathBuf,
    /// The profile's path.
    pub profile_path: PathBuf,
    /// The profile's `mutation` block as it stands there.
    pub mutation: Option<Value>,
    /// The feature's cases.yaml.
    pub cases_path: PathBuf,
    /// What the cases file declares.
    pub cases: Cases,
    /// Where the app's specs are, below the profile's folder.
    pub spec_dir: String,
    /// The model that wrote the specs.
    pub model_version: String,
    /// What the run may write.
    pub policy: Policy,
    /// The statuses file that holds now.
    pub statuses_path: PathBuf,
    /// The map of cases to tracker tasks, where there is one.
    pub map_path: Option<PathBuf>,
    /// The environment's name.
    pub env_name: String,
    /// Its kind.
    pub env_kind: EnvKind,
    /// The app's name.
    pub app: String,
    /// The app's URL there.
    pub env_url: String,
    /// Where the deployed build tells what it is.
    pub sha_source: ShaSource,
    /// When traces are kept.
    pub capture: Capture,
    /// `server`, or the value of the profile's sandbox variable.
    pub api_mode: String,
    /// What the run is for.
    pub kind: RunKind,
    /// Who runs it.
    pub executor: String,
    /// Which cases run.
    pub selection: Selection,
    /// What a person should know before it starts.
    pub notes: Vec<String>,
    /// The greens of earlier stabilization runs.
    pub run_log: RunLog,
    /// Hosts whose certificates are not verified.
    pub insecure: Vec<String>,
    /// The command as the user gave it.
    pub command: Vec<String>,
}

/// Why a run may not start.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The profile.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A file that cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A YAML file that does not parse.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// A name that is no name of a folder.
    #[error("--feature {0:?} must be the name of a folder below testing/")]
    Feature(String),
    /// Not in the profile.
    #[error("environment `{name}` is not registered in {}; it has {}", .profile.display(), .known.join(", "))]
    Environment {
        /// What was asked for.
        name: String,
        /// The profile.
        profile: PathBuf,
        /// What it has.
        known: Vec<String>,
    },
    /// Not in the environment.
    #[error("environment `{env}` has no app `{app}`; it has {}", .known.join(", "))]
    App {
        /// The environment.
        env: String,
        /// What was asked for.
        app: String,
        /// What it has.
        known: Vec<String>,
    },
    /// Several apps and none named.
    #[error("environment `{env}` has several apps; name one with --app: {}", .known.join(", "))]
    WhichApp {
        /// The environment.
        env: String,
        /// What it has.
        known: Vec<String>,
    },
    /// The cases file declares something else, or nothing that can be used.
    #[error("{}: {}", .path.display(), listed(.faults))]
    Cases {
        /// The file.
        path: PathBuf,
        /// What to mend.
        faults: Vec<Fault>,
    },
    /// The declared policy.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Production takes no unrestricted run.
    #[error("{}: mutation.policy is unrestricted, and `{env}` is production; declare read-only or scoped-write", .path.display())]
    Unrestricted {
        /// The cases file.
        path: PathBuf,
        /// The environment.
        env: String,
    },
    /// On production every certificate is verified.
    #[error("--upstream-insecure {}: `{env}` is production, where every certificate is verified; name a private authority with --upstream-ca FILE", .hosts.join(", "))]
    Insecure {
        /// The hosts.
        hosts: Vec<String>,
        /// The environment.
        env: String,
    },
    /// No statuses anywhere.
    #[error("no statuses file, so nothing shows that the cases were approved; write {} or name one with --statuses", .0.display())]
    Statuses(PathBuf),
    /// Something must be mended before anything runs.
    #[error(transparent)]
    Preflight(#[from] PreflightError),
    /// The log of stabilization runs.
    #[error("{0}; restore it from version control, or remove it to count anew")]
    RunLog(FileError),
    /// The test command.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// Nothing of that name can be run.
    #[error("cannot run `{0}`: no such program")]
    NoProgram(String),
    /// A name that could not be published in the end.
    #[error("{what} {value:?} cannot be published: {mend}")]
    Name {
        /// What it names.
        what: &'static str,
        /// The name.
        value: String,
        /// What to do.
        mend: &'static str,
    },
}

fn listed(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl Plan {
    /// Reads and checks what `request` names; paths are relative to the current folder.
    ///
    /// # Errors
    /// On the first thing that must be mended.
    pub fn of(request: Request) -> Result<Self, PlanError> {
        let profile_path = files::absolute(&request.profile)?;
        let profile = Profile::load(&profile_path)?.profile;
        let root = profile_path.parent().unwrap_or(Path::new("/"));
        if !is_folder_name(&request.feature) {
            return Err(PlanError::Feature(request.feature));
        }
        let Some(environment) = profile.environments.get(&request.env) else {
            let known = profile.environments.keys().cloned().collect();
            return Err(PlanError::Environment { name: request.env, profile: request.profile, known });
        };
        let (app, env_url) = choose_app(&request, environment.apps.iter())?;
        let executor = request.executor.filter(|name| !name.trim().is_empty()).unwrap_or_else(user);
        let feature_dir = root.join("testing").join(&request.feature);
        let cases_path = feature_dir.join("cases.yaml");
        let cases = read_cases(&cases_path, &request.feature, &profile)?;
        publishable(&executor, &app, cases.model_version.as_deref().unwrap_or_default())?;
        let policy = Policy::new(cases.policy, cases.prefix.clone())?;
        if environment.kind == EnvKind::Production && cases.policy == PolicyKind::Unrestricted {
            return Err(PlanError::Unrestricted { path: cases_path, env: request.env });
        }
        if environment.kind == EnvKind::Production && !request.insecure.is_empty() {
            return Err(PlanError::Insecure { hosts: request.insecure, env: request.env });
        }
        let api_mode = std::env::var(&profile.sandbox.env_var)
            .ok()
            .filter(|value| !value.trim().is_empty())
            .unwrap_or_else(|| "server".to_owned());
        let stabilizes = api_mode == profile.sandbox.value
            || profile.stabilization_env.as_deref() == Some(request.env.as_str());
        // Refuses what we could not run, before the deployed build is asked for.
        let planned =
            playwright::plan(&request.command, Path::new(""), profile.capture, &Selection::default())?;
        if let Some(program) = planned.words.first().filter(|program| !is_program(program)) {
            return Err(PlanError::NoProgram(program.clone()));
        }
        let map_path = feature_dir.join("clickup-map.json");
        let statuses_path = find_statuses(request.statuses, &feature_dir)?;
        let spec_dir = profile.apps.get(&app).map(|app| app.spec_dir.clone()).unwrap_or_default();
        let specs = Specs {
            root,
            feature: &request.feature,
            spec_dir: &spec_dir,
            is_generated: &|bytes| bytes == WRITE_GUARD_TS.as_bytes(),
        };
        let (selection, mut notes) = preflight::check(&preflight::Inputs {
            profile: &profile,
            profile_path: &profile_path,
            environment,
            env_name: &request.env,
            cases: &cases,
            statuses_path: &statuses_path,
            specs,
            include_quarantined: request.include_quarantined,
        })?;
        if !planned.playwright && !selection.left_out.is_empty() {
            notes.push("the command is not Playwright's own, so it must leave them out by itself".to_owned());
        }
        let run_log = RunLog::read(&RunLog::path(&feature_dir))?;
        let kind = request.kind.unwrap_or(if stabilizes { RunKind::Stabilization } else { RunKind::Verdict });
        if let (RunKind::Verdict, Some(env)) = (kind, &profile.stabilization_env) {
            let hashes = specs.hashes(&cases).map_err(PreflightError::from)?;
            notes.extend(run_log.note_unproven(&selection.ids, &hashes, env));
        }
        Ok(Self {
            run_log,
            selection,
            notes,
            statuses_path,
            map_path: files::is_file(&map_path).then_some(map_path),
            feature: request.feature,
            feature_dir,
            mutation: profile.normalised.get("mutation").filter(|block| !block.is_null()).cloned(),
            profile_path,
            cases_path,
            model_version: cases.model_version.clone().unwrap_or_default(),
            spec_dir,
            cases,
            policy,
            env_kind: environment.kind,
            sha_source: environment.sha_source.clone(),
            env_name: request.env,
            app,
            env_url,
            capture: profile.capture,
            kind,
            api_mode,
            executor,
            insecure: request.insecure,
            command: request.command,
        })
    }

    /// Whether everything that runs must be under the guard.
    pub fn is_guarded(&self) -> bool {
        self.env_kind == EnvKind::Production || self.policy.kind() != PolicyKind::Unrestricted
    }

    /// The command with what we add to it for a run in `run_dir`.
    ///
    /// # Errors
    /// Never for a command that [`Self::of`] took.
    pub fn command(&self, run_dir: &Path) -> Result<PlannedCommand, CommandError> {
        playwright::plan(&self.command, run_dir, self.capture, &self.selection)
    }
}

/// Refuses before the run what `publish` would refuse after it.
fn publishable(executor: &str, app: &str, model: &str) -> Result<(), PlanError> {
    let names = [
        (
            "the executor",
            executor,
            Word::parse(executor).is_some(),
            "name who runs it with --executor, in letters, digits, blanks and . _ - @ + , : ' & # [ ]",
        ),
        (
            "the app",
            app,
            Word::parse(app).is_some(),
            "name it in the profile in letters, digits, blanks and . _ - @ + , : ' & # [ ]",
        ),
        (
            "model_version",
            model,
            Word::model(model).is_some(),
            "give it in cases.yaml as `model-1` or `family/model-1`",
        ),
    ];
    match names.into_iter().find(|(.., is_fit, _)| !is_fit) {
        Some((what, value, _, mend)) => Err(PlanError::Name { what, value: value.to_owned(), mend }),
        None => Ok(()),
    }
}

fn is_folder_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('.') && !text.contains(['/', '\\', '\0'])
}

fn choose_app<'a>(
    request: &Request,
    mut apps: impl ExactSizeIterator<Item = (&'a String, &'a String)> + Clone,
) -> Result<(String, String), PlanError> {
    let known = || apps.clone().map(|(name, _)| name.clone()).collect();
    let chosen = match &request.app {
        Some(app) => apps.clone().find(|(name, _)| *name == app).ok_or_else(|| PlanError::App {
            env: request.env.clone(),
            app: app.clone(),
            known: known(),
        })?,
        None if apps.len() > 1 => {
            return Err(PlanError::WhichApp { env: request.env.clone(), known: known() });
        }
        None => {
            apps.next().ok_or_else(|| PlanError::WhichApp { env: request.env.clone(), known: Vec::new() })?
        }
    };
    Ok((chosen.0.clone(), chosen.1.clone()))
}

fn read_cases(path: &Path, feature: &str, profile: &Profile) -> Result<Cases, PlanError> {
    let document = Document::read(path)?;
    let fault = |faults| PlanError::Cases { path: path.to_owned(), faults };
    let faults = mutation_faults(&document.value);
    if !faults.is_empty() {
        return Err(fault(faults));
    }
    let cases =
        document.typed().ok_or_else(|| fault(vec![Fault::new("cases", "the file must be a mapping")]))?;
    if cases.feature.as_deref() != Some(feature) {
        return Err(fault(vec![Fault::new(
            "feature",
            format!("must be `{feature}`, the name of its folder"),
        )]));
    }
    if cases.model_version.is_none() {
        return Err(fault(vec![Fault::new("model_version", "must be text: the model that wrote the specs")]));
    }
    let faults = document.lint(profile).faults;
    if !faults.is_empty() {
        return Err(fault(faults));
    }
    Ok(cases)
}

fn find_statuses(named: Option<PathBuf>, feature_dir: &Path) -> Result<PathBuf, PlanError> {
    if let Some(path) = named {
        return Ok(files::canonical(&path)?);
    }
    let canonical = feature_dir.join("statuses.json");
    [feature_dir.join("runs/statuses.json"), canonical.clone()]
        .into_iter()
        .find(|path| files::is_file(path))
        .ok_or(PlanError::Statuses(canonical))
}

/// Whether the system would find a program to run: by its path, or in a folder of `PATH`.
fn is_program(name: &str) -> bool {
    if name.contains('/') {
        return files::is_program(Path::new(name));
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| files::is_program(&folder.join(name)))
}

/// The user's name as the environment has it, or the user's number.
fn user() -> String {
    ["USER", "LOGNAME", "USERNAME"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()))
        .unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()))
}
