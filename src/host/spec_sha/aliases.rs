//! Imports that begin with no dot and mean a local file all the same: `paths` and `baseUrl` of TypeScript's configuration, as
//! Playwright follows them. The configuration is the nearest `tsconfig.json` (else `jsconfig.json`) above the file that
//! imports, with what it extends by a relative path; one that a package brings is not read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::files::{self, DECLARED_CAP};

/// A chain of configurations longer than this goes in circles.
const LONGEST_CHAIN: usize = 16;
const NAMES: [&str; 2] = ["tsconfig.json", "jsconfig.json"];

/// The configurations of a repository, each read once.
pub(super) struct Aliases<'a> {
    root: &'a Path,
    by_folder: BTreeMap<PathBuf, Config>,
}

/// What an import may mean.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Meaning {
    /// The files that it may be, in the order in which they are tried.
    pub candidates: Vec<PathBuf>,
    /// Whether an alias says so; else it is a package where no candidate is there.
    pub is_alias: bool,
}

/// Targets by name.
type Paths = indexmap::IndexMap<String, Vec<String>>;

/// Where local names lead.
#[derive(Clone, Debug, Default)]
struct Config {
    base: Option<PathBuf>,
    /// (name with at most one `*`, targets with the same `*`), relative to the folder of the file that says so.
    paths: Option<(PathBuf, Paths)>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    extends: Value,
    #[serde(rename = "compilerOptions")]
    options: Options,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Options {
    #[serde(rename = "baseUrl")]
    base_url: Option<String>,
    paths: Option<Paths>,
}

impl<'a> Aliases<'a> {
    /// Those below `root`; nothing is read yet.
    pub(super) fn new(root: &'a Path) -> Self {
        Self { root, by_folder: BTreeMap::new() }
    }

    /// What the name `import`, which begins with no dot, may mean in a file of `folder`.
    pub(super) fn meaning(&mut self, folder: &Path, import: &str) -> Meaning {
        let config = self.config(folder);
        let mut candidates = Vec::new();
        if let Some((own, paths)) = &config.paths {
            let base = config.base.as_ref().unwrap_or(own);
            let found =
                paths.iter().filter_map(|(name, targets)| Some((name, stands_for(name, import)?, targets)));
            // The longest text before the `*` wins.
            let best = found.max_by_key(|(name, _, _)| name.find('*').unwrap_or(usize::MAX));
            if let Some((_, star, targets)) = best {
                candidates.extend(targets.iter().map(|target| base.join(target.replacen('*', star, 1))));
            }
        }
        let is_alias = !candidates.is_empty();
        candidates.extend(config.base.iter().map(|base| base.join(import)));
        Meaning { candidates, is_alias }
    }

    fn config(&mut self, folder: &Path) -> Config {
        if let Some(known) = self.by_folder.get(folder) {
            return known.clone();
        }
        let above = folder.ancestors().take_while(|above| above.starts_with(self.root));
        let nearest =
            above.flat_map(|above| NAMES.map(|name| above.join(name))).find(|path| files::is_file(path));
        let config = nearest.map(|path| read(&path, LONGEST_CHAIN)).unwrap_or_default();
        self.by_folder.insert(folder.to_owned(), config.clone());
        config
    }
}

/// A configuration and what it extends. One that cannot be read says nothing: Playwright does not start with it either.
fn read(path: &Path, left: usize) -> Config {
    let text = files::read_text(path, DECLARED_CAP).unwrap_or_default();
    let file: File = jsonc_parser::parse_to_serde_value(&text, &Default::default()).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut config = Config::default();
    let extended = match &file.extends {
        Value::String(one) => vec![one.as_str()],
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    for name in extended.into_iter().filter(|name| name.starts_with('.') && left > 0) {
        let written = folder.join(name);
        let target = if files::is_file(&written) { written } else { folder.join(format!("{name}.json")) };
        // A later one overrides, setting by setting.
        let own = read(&files::absolute(&target).unwrap_or(target), left - 1);
        config = Config { base: own.base.or(config.base), paths: own.paths.or(config.paths) };
    }
    if let Some(base) = &file.options.base_url {
        config.base = Some(folder.join(base));
    }
    if let Some(paths) = file.options.paths {
        config.paths = Some((folder.to_owned(), paths));
    }
    config
}

/// What the `*` of `name` stands for when `name` matches `import`; nothing where it has none.
fn stands_for<'a>(name: &str, import: &'a str) -> Option<&'a str> {
    match name.split_once('*') {
        None => (name == import).then_some(""),
        Some((before, after)) => import.strip_prefix(before)?.strip_suffix(after),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_configuration_and_what_it_extends() {
        let repo = tempfile::tempdir().unwrap();
        let root = repo.path();
        let write = |path: &str, text: &str| files::write_atomic(&root.join(path), text.as_bytes()).unwrap();
        write(
            "tsconfig.base.json",
            r#"{ /* shared */ "compilerOptions": { "paths": { "@lib/*": ["lib/*", "old/*"], "@lib/deep/*": ["deep/*"], "one": ["lib/one"], }, }, }"#,
        );
        write("e2e/tsconfig.json", "{ // ours\n \"extends\": [\"@tsconfig/node20\", \"../tsconfig.base\"] }");
        write(
            "based/tsconfig.json",
            r#"{"extends":"../tsconfig.base.json","compilerOptions":{"baseUrl":"src"}}"#,
        );
        write("circle/tsconfig.json", r#"{"extends":"./tsconfig.json"}"#);
        write("broken/tsconfig.json", "{");
        let mut aliases = Aliases::new(root);
        let mut says = |folder: &str, import: &str| {
            let meaning = aliases.meaning(&root.join(folder), import);
            let inner = |path: &PathBuf| path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            (meaning.candidates.iter().map(inner).collect::<Vec<_>>(), meaning.is_alias)
        };
        assert_eq!(says("e2e/f", "@lib/x"), (vec!["lib/x".to_owned(), "old/x".to_owned()], true));
        assert_eq!(says("e2e/f", "@lib/deep/x"), (vec!["deep/x".to_owned()], true));
        assert_eq!(says("e2e", "one"), (vec!["lib/one".to_owned()], true));
        assert_eq!(says("e2e", "@playwright/test"), (vec![], false));
        assert_eq!(
            says("based", "one"),
            (vec!["based/src/lib/one".to_owned(), "based/src/one".to_owned()], true)
        );
        assert_eq!(says("based", "x"), (vec!["based/src/x".to_owned()], false));
        for folder in ["circle", "broken", "elsewhere"] {
            assert_eq!(says(folder, "@lib/x"), (vec![], false), "{folder}");
        }
    }
}
