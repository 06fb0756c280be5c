//! A feature's `cases.yaml`: what may be run, what the run may write, and which shared entities it uses.
//!
//! The file is the only source of a run's mutation policy. [`lint()`] is the whole check that authors see; the gate uses
//! [`mutation_faults`] alone, so that an old wording never keeps a verdict from being published.

mod expected;
mod general;
mod mutation;
mod requirements;
mod scenario_mix;

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::profile::Profile;
use super::values::{Faults, Object, text, texts};
use crate::model::{CaseId, Fault, PolicyKind};
use crate::yaml::{self, YamlError};

pub use mutation::faults as mutation_faults;
pub use requirements::{Criterion, Declared, Requirement};

/// A cases file as it was read.
#[derive(Clone, Debug)]
pub struct Document {
    /// Where it was read.
    pub path: PathBuf,
    /// What it holds; anything, until it is linted.
    pub value: Value,
}

/// What the lint found.
#[derive(Clone, Debug, Default)]
pub struct Lint {
    /// What must be mended.
    pub faults: Vec<Fault>,
    /// What a person should look at.
    pub warnings: Vec<Fault>,
}

/// What happens to a shared entity when the run is over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Teardown {
    /// It stays; there is no teardown spec.
    Keep,
    /// A teardown spec removes it; also when the file says nothing.
    Delete,
}

/// A declared shared entity.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fixture {
    /// Its name.
    pub name: String,
    /// What happens to it in the end.
    pub teardown: Teardown,
}

/// One case, as far as its fields have the right types.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Case {
    /// Its id.
    pub id: CaseId,
    /// What it is about.
    pub title: Option<String>,
    /// `P0`, `P1` or `P2`.
    pub priority: Option<String>,
    /// What must hold before.
    pub preconditions: Vec<String>,
    /// What to do.
    pub steps: Vec<String>,
    /// What to see.
    pub expected: Vec<String>,
    /// The shared entity it needs.
    pub fixture: Option<String>,
    /// The criteria it shows, as `requirement/criterion`.
    pub covers: Vec<String>,
}

/// A cases file with types. Parts that break the lint are left out, so lint first where that matters.
#[derive(Clone, Debug)]
pub struct Cases {
    /// The feature.
    pub feature: Option<String>,
    /// The model that authored the cases.
    pub model_version: Option<String>,
    /// The declared policy; unrestricted when there is no `mutation`, or none that is valid.
    pub policy: PolicyKind,
    /// The declared prefix of what a scoped-write run may write.
    pub prefix: Option<String>,
    /// The declared shared entities.
    pub fixtures: Vec<Fixture>,
    /// The cases, in the order of the file.
    pub cases: Vec<Case>,
    /// The places of entries that are no case (no valid id) or a second one of the same id. Whoever counts cases must
    /// refuse a file that has any: what is left out would make a feature look better than it is.
    pub malformed: Vec<String>,
    /// What the cases are to show.
    pub requirements: Declared,
}

impl Document {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read or is no YAML. What it says is judged later.
    pub fn read(path: &Path) -> Result<Self, YamlError> {
        Ok(Self { path: path.to_owned(), value: yaml::read(path)? })
    }

    /// The whole lint, in the order of the file's parts.
    pub fn lint(&self, profile: &Profile) -> Lint {
        let folder =
            self.path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        lint(&self.value, folder.as_deref(), profile)
    }

    /// The file with types; nothing when it is no mapping.
    pub fn typed(&self) -> Option<Cases> {
        Cases::from_value(&self.value)
    }
}

/// Lints a cases file that stands in a folder named `folder`.
pub fn lint(value: &Value, folder: Option<&str>, profile: &Profile) -> Lint {
    let mut faults = Faults::default();
    let mut warnings = Faults::default();
    match value.as_object() {
        None => faults.add("cases", "the file must be a mapping with feature, scenario_mix and cases"),
        Some(root) => {
            general::check(root, folder, profile, &mut faults, &mut warnings);
            scenario_mix::check(root, &mut faults);
            mutation::check(root, &mut faults, &mut warnings);
            requirements::check(root, &mut faults, &mut warnings);
        }
    }
    Lint { faults: faults.0, warnings: warnings.0 }
}

impl Cases {
    /// Types a document; nothing when it is no mapping.
    pub fn from_value(value: &Value) -> Option<Self> {
        let root = value.as_object()?;
        let own = |key| text(root.get(key)).map(str::to_owned);
        let (policy, prefix) = mutation::effective(root);
        let (mut cases, mut malformed) = (Vec::<Case>::new(), Vec::new());
        for (at, entry) in entries(root) {
            match entry.and_then(Case::from_entry) {
                Some(case) if cases.iter().all(|other| other.id != case.id) => cases.push(case),
                _ => malformed.push(at),
            }
        }
        Some(Self {
            feature: own("feature"),
            model_version: own("model_version"),
            policy,
            prefix,
            fixtures: mutation::fixtures(root),
            cases,
            malformed,
            requirements: requirements::declared_in(root),
        })
    }

    /// The declared entity called `name`.
    pub fn fixture(&self, name: &str) -> Option<&Fixture> {
        self.fixtures.iter().find(|fixture| fixture.name == name)
    }

    /// The case with the id `id`.
    pub fn case(&self, id: &CaseId) -> Option<&Case> {
        self.cases.iter().find(|case| case.id == *id)
    }
}

impl Case {
    fn from_entry(entry: &Object) -> Option<Self> {
        let list = |key| -> Vec<String> {
            entry.get(key).and_then(texts).unwrap_or_default().into_iter().map(str::to_owned).collect()
        };
        let own = |key| text(entry.get(key)).map(str::to_owned);
        Some(Self {
            id: CaseId::parse(text(entry.get("id"))?)?,
            title: own("title"),
            priority: own("priority"),
            preconditions: list("preconditions"),
            steps: list("steps"),
            expected: list("expected"),
            fixture: own("fixture"),
            // A reference that leads nowhere is the lint's to say; it does not take the others along.
            covers: entry
                .get("covers")
                .and_then(Value::as_array)
                .map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
                .unwrap_or_default(),
        })
    }
}

/// The entries of `cases`, each with its place: by id where the id is text, else by index. An entry that is no mapping
/// has none.
fn entries(root: &Object) -> impl Iterator<Item = (String, Option<&Object>)> {
    let list = root.get("cases").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().enumerate().map(|(index, value)| {
        let entry = value.as_object();
        let at = match text(value.get("id")) {
            Some(id) => format!("cases[{id}]"),
            None => format!("cases[{index}]"),
        };
        (at, entry)
    })
}

#[cfg(test)]
mod tests;
