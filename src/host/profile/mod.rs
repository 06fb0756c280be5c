//! The host profile, `qa-pilot.config.yaml`: which environments are registered, what a write looks like, where evidence goes.
//!
//! All faults are reported at once. Unknown keys are refused at the top and wherever a block's keys are a closed set.

mod apps;
mod assertions;
mod auth;
mod clickup;
mod context;
mod cross_app;
mod environments;
mod evidence;
mod mutation;
mod normalise;
mod production_url;
mod sandbox;
mod selectors;
mod sha_source;
mod stabilization;

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::Value;

pub use apps::App;
pub use assertions::NetworkEvents;
pub use auth::Auth;
pub use clickup::{Clickup, StatusKey, StatusNames};
pub use environments::{EnvKind, Environment, Upload};
pub use evidence::Capture;
pub use sandbox::Sandbox;
pub use sha_source::{Extract, ShaFormat, ShaSource};

use super::values::{Faults, text};
use crate::files::FileError;
use crate::model::Fault;
use crate::policy::MutationConfig;
use crate::yaml::{self, YamlError};

/// The keys a profile may have at its top.
const KEYS: &[&str] = &[
    "project",
    "tracker",
    "apps",
    "environments",
    "stabilization",
    "auth",
    "assertions",
    "evidence",
    "selectors",
    "models",
    "sandbox",
    "context",
    "mutation",
    "cross_app",
    "clickup",
];

/// Where cases and bugs live.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tracker {
    /// In ClickUp; also when the profile says nothing.
    Clickup,
    /// In the repository only.
    None,
}

/// A valid profile.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The project's name.
    pub project: String,
    /// Where cases and bugs live.
    pub tracker: Tracker,
    /// The frontends, by name.
    pub apps: IndexMap<String, App>,
    /// The registered environments, by name.
    pub environments: IndexMap<String, Environment>,
    /// The environment that stabilization runs use.
    pub stabilization_env: Option<String>,
    /// How tests sign in, and the oldest Playwright that may run them.
    pub auth: Auth,
    /// Whether expectations may speak of the network.
    pub network_events: NetworkEvents,
    /// When traces are kept.
    pub capture: Capture,
    /// The models that may author cases.
    pub approved_models: Vec<String>,
    /// The variable and the value that mean a seeded back end.
    pub sandbox: Sandbox,
    /// What counts as a write; none when the profile has no `mutation` block.
    pub mutation: Option<MutationConfig>,
    /// The tracker's places; none under `tracker: none`.
    pub clickup: Option<Clickup>,
    /// The names of the seven statuses on this host.
    pub statuses: StatusNames,
    /// The profile as it was read, with effective values filled in.
    pub normalised: Value,
}

/// A valid profile and what is odd about it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The profile.
    pub profile: Profile,
    /// What a person should look at.
    pub warnings: Vec<Fault>,
}

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// There is no such file.
    #[error("there is no profile at {}; `qa-pilot init` writes a first one", .0.display())]
    Missing(PathBuf),
    /// The file cannot be read or is no YAML.
    #[error("cannot use the profile: {0}")]
    Yaml(YamlError),
    /// The file was read and breaks the rules.
    #[error("{path} is no valid profile: {}", list(faults))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Every fault.
        faults: Vec<Fault>,
        /// What is odd besides.
        warnings: Vec<Fault>,
    },
}

fn list(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl Profile {
    /// Reads and checks the file at `path`.
    ///
    /// # Errors
    /// When the file cannot be read, is no YAML, or breaks a rule; then all faults are named.
    pub fn load(path: &Path) -> Result<Checked, ProfileError> {
        let value = yaml::read(path).map_err(|error| match error {
            YamlError::File(FileError::Missing(path)) => ProfileError::Missing(path),
            other => ProfileError::Yaml(other),
        })?;
        let dir = path.parent().unwrap_or(Path::new("")).to_owned();
        let policy_doc_exists = |file: &str| crate::files::is_file(&dir.join(file));
        match Self::check(&value, &policy_doc_exists) {
            (Some(profile), _, warnings) => Ok(Checked { profile, warnings }),
            (None, faults, warnings) => {
                Err(ProfileError::Invalid { path: path.to_owned(), faults, warnings })
            }
        }
    }

    /// Checks a document. `file_exists` tells whether a path relative to the profile names a file.
    /// No profile means at least one fault; warnings may come in either case.
    pub fn check(
        value: &Value,
        file_exists: &dyn Fn(&str) -> bool,
    ) -> (Option<Self>, Vec<Fault>, Vec<Fault>) {
        let mut faults = Faults::default();
        let mut warnings = Faults::default();
        let profile = read(value, file_exists, &mut faults, &mut warnings);
        let profile = profile.filter(|_| faults.0.is_empty());
        if profile.is_none() && faults.0.is_empty() {
            // Every block that yields nothing notes why; this line keeps the promise should one ever forget.
            faults.add("profile", "is not valid");
        }
        (profile, faults.0, warnings.0)
    }

    /// The environment called `name`.
    pub fn environment(&self, name: &str) -> Option<&Environment> {
        self.environments.get(name)
    }

    /// Where evidence of a run on `environment` goes: nowhere off the machine for production and without a tracker, else
    /// what the environment says, else a reference to it.
    pub fn effective_upload(&self, environment: &Environment) -> Upload {
        environments::effective_upload(self.tracker, environment.kind, environment.upload)
    }
}

fn read(
    value: &Value,
    file_exists: &dyn Fn(&str) -> bool,
    faults: &mut Faults,
    warnings: &mut Faults,
) -> Option<Profile> {
    let Some(root) = value.as_object() else {
        faults.add("profile", "must be a mapping");
        return None;
    };
    faults.closed(root, "", KEYS);
    let project = faults.text(root, "", "project").map(str::to_owned);
    let tracker = match root.get("tracker") {
        None | Some(Value::Null) => Some(Tracker::Clickup),
        Some(_) => {
            faults.word(root, "", "tracker", &[("clickup", Tracker::Clickup), ("none", Tracker::None)])
        }
    };
    let apps = apps::read(root, faults);
    let environments = environments::read(root, apps.as_ref(), tracker, faults, warnings);
    let has_production = environments.values().any(|env| env.kind == EnvKind::Production);
    let stabilization_env = stabilization::read(root, &environments, faults);
    let auth = auth::read(root, faults);
    let capture = evidence::read(root, has_production, faults, warnings);
    let network_events = assertions::read(root, faults, warnings);
    selectors::read(root, file_exists, faults, warnings);
    let approved_models = models(root, faults);
    let sandbox = sandbox::read(root, faults);
    context::read(root, faults);
    let mutation = mutation::read(root, has_production, faults);
    cross_app::read(root, apps.as_ref(), faults);
    let (clickup, statuses) = clickup::read(root, tracker, faults, warnings);
    if !faults.0.is_empty() {
        return None;
    }
    let tracker = tracker?;
    Some(Profile {
        project: project?,
        tracker,
        apps: apps?,
        normalised: normalise::normalise(root, tracker, &environments),
        environments,
        stabilization_env,
        auth: auth?,
        network_events: network_events?,
        capture: capture?,
        approved_models: approved_models?,
        sandbox: sandbox?,
        mutation,
        clickup,
        statuses: statuses?,
    })
}

fn models(root: &super::values::Object, faults: &mut Faults) -> Option<Vec<String>> {
    let block = faults.mapping(root, "", "models")?;
    let list = block.get("generation_approved").and_then(Value::as_array).filter(|list| !list.is_empty());
    let names: Option<Vec<String>> =
        list.and_then(|list| list.iter().map(|name| text(Some(name)).map(str::to_owned)).collect());
    if names.is_none() {
        faults.add("models.generation_approved", "must be a list of model names, at least one");
    }
    names
}

#[cfg(test)]
mod tests;
