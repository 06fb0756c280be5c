//! A first pipeline for a repository on GitHub: a scheduled run of kind `ci` over the approved specs. What cannot be seen
//! in the repository is marked `CHANGE`.

use std::path::Path;

use super::profile::{EnvKind, Profile};
use crate::files;

/// The workflow, with `@NAME@` where the repository's own values go.
const TEMPLATE: &str = include_str!("workflow.yml");
/// Where GitHub looks for it.
pub const PATH: &str = ".github/workflows/qa-pilot.yml";

/// The workflow for the repository in `root`, whose profile is the file `profile_name` there: its first feature, and the
/// first environment that is not production.
pub fn text(root: &Path, profile_name: &str, profile: &Profile) -> String {
    let feature = first_feature(root);
    let environment = profile.environments.iter().find(|(_, one)| one.kind != EnvKind::Production);
    let several = environment.map(|(_, one)| &one.apps).filter(|apps| apps.len() > 1);
    let app = several.and_then(|apps| apps.keys().next());
    let guess = |known: Option<&str>, else_: &str| match known {
        Some(name) => quoted(name),
        None => format!("{} # CHANGE", quoted(else_)),
    };
    let env = environment.map(|(name, _)| name.as_str());
    // A concurrency group is a bare name in the middle of a line; what would not be one is named by no environment.
    let group = env.filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)));
    TEMPLATE
        .replace("qa-pilot-@ENV@", &format!("qa-pilot-{}", group.unwrap_or("run")))
        .replace("@FEATURE@", &guess(feature.as_deref(), "feature"))
        .replace("@ENV@", &guess(env, "qa"))
        .replace("@APP@", &app.map_or_else(|| "\"\" # the environment has one".to_owned(), |app| quoted(app)))
        .replace("@PROFILE@", &quoted(profile_name))
}

/// A name as a double-quoted YAML scalar, which JSON strings are as well (YAML 1.2, chapter 7.3.1).
fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}

/// The first folder below `testing/` with a cases file, by name.
fn first_feature(root: &Path) -> Option<String> {
    let mut features: Vec<String> = fs_err::read_dir(root.join("testing"))
        .ok()?
        .flatten()
        .filter(|entry| files::is_file(&entry.path().join("cases.yaml")))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    features.sort();
    features.into_iter().next()
}
