//! The hash that says what a case's verdict was about: its spec, the local files that the spec imports, and the case's own
//! steps, expectations, preconditions and fixture. When any of them changes, an approval no longer holds.

mod aliases;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::cases::{Case, Cases};
use crate::files::{self, DECLARED_CAP, FileError};
use crate::model::{CaseId, Hasher};
use aliases::{Aliases, Meaning};

/// Characters of the hash that are kept, as ledgers have them.
const KEPT: usize = 16;
/// More local imports than this is a mistake in the making, not a spec.
const MOST_FILES: usize = 2_000;
/// Endings that an import may leave out, in the order in which they are tried.
const ENDINGS: [&str; 10] = ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "json", "node"];

/// Where a feature's specs are.
#[derive(Clone, Copy)]
pub struct Specs<'a> {
    /// The repository.
    pub root: &'a Path,
    /// The feature.
    pub feature: &'a str,
    /// The app's spec folder, relative to the repository.
    pub spec_dir: &'a str,
    /// Whether bytes are a generated file as we wrote it; such a file is left out, so that an upgrade voids no approval.
    pub is_generated: &'a dyn Fn(&[u8]) -> bool,
}

/// What a spec consists of.
struct Sources {
    /// Contents by path.
    files: BTreeMap<String, Option<Vec<u8>>>,
    /// Whether the generated file is among what it imports; it is not among the files.
    generated: bool,
}

/// Why a feature's `specs.json` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// It cannot be read or has another shape.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Specs<'_> {
    /// The hash of every case whose spec can be read, by id.
    ///
    /// # Errors
    /// When `testing/<feature>/specs.json` is there and is no mapping from id to path.
    pub fn hashes(&self, cases: &Cases) -> Result<BTreeMap<CaseId, String>, SpecError> {
        let map = self.map()?;
        let mut hashes = BTreeMap::new();
        for case in &cases.cases {
            let spec = self.spec_of(&map, &case.id);
            if let Ok(hash) = self.hash(&spec, Some(case)) {
                hashes.insert(case.id.clone(), hash);
            }
        }
        Ok(hashes)
    }

    /// The spec of a case: as `specs.json` says, else by the naming rule.
    ///
    /// # Errors
    /// When `specs.json` is there and is no mapping from id to path.
    pub fn spec(&self, id: &CaseId) -> Result<PathBuf, SpecError> {
        Ok(self.spec_of(&self.map()?, id))
    }

    /// Whether a spec imports the generated file, itself or through other local files.
    ///
    /// # Errors
    /// When the spec itself cannot be read.
    pub fn imports_generated(&self, spec: &Path) -> Result<bool, FileError> {
        Ok(self.sources(spec)?.generated)
    }

    fn map(&self) -> Result<BTreeMap<String, String>, SpecError> {
        let path = self.root.join("testing").join(self.feature).join("specs.json");
        match files::read_json(&path, DECLARED_CAP) {
            Err(FileError::Missing(_)) => Ok(BTreeMap::new()),
            other => Ok(other?),
        }
    }

    fn spec_of(&self, map: &BTreeMap<String, String>, id: &CaseId) -> PathBuf {
        match map.get(id.as_str()) {
            Some(path) => PathBuf::from(path),
            None => Path::new(self.spec_dir).join(self.feature).join(format!("{id}.spec.ts")),
        }
    }

    /// The hash of a spec (a path relative to the repository) with the fields of its case.
    ///
    /// # Errors
    /// When the spec itself cannot be read.
    pub fn hash(&self, spec: &Path, case: Option<&Case>) -> Result<String, FileError> {
        let mut hasher = Hasher::default();
        // Every part is preceded by its length, so that no two lists of parts read the same.
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_be_bytes());
            hasher.update(bytes);
        };
        for (name, content) in self.sources(spec)?.files {
            part(name.as_bytes());
            part(&content.unwrap_or_default());
        }
        if let Some(case) = case {
            let fields = json!({
                "steps": case.steps,
                "expected": case.expected,
                "preconditions": case.preconditions,
                "fixture": case.fixture,
            });
            part(fields.to_string().as_bytes());
        }
        Ok(hasher.finish().short(KEPT))
    }

    /// The spec and all local files that it imports, transitively, by path. An import that leads nowhere is named
    /// without content, so that the file's appearance changes the hash.
    fn sources(&self, spec: &Path) -> Result<Sources, FileError> {
        let first = self.root.join(spec);
        let mut found = BTreeMap::new();
        let mut generated = false;
        let mut aliases = Aliases::new(self.root);
        let mut open = vec![(first.clone(), files::read_capped(&first, DECLARED_CAP)?)];
        let mut seen = BTreeSet::from([first]);
        while let Some((path, content)) = open.pop() {
            let folder = path.parent().unwrap_or(self.root);
            for import in imports(&String::from_utf8_lossy(&content)) {
                let meaning = if is_relative(&import) {
                    Meaning { candidates: vec![folder.join(&import)], is_alias: true }
                } else {
                    aliases.meaning(folder, &import)
                };
                let Some(target) = meaning.candidates.iter().find_map(|base| resolve(base)) else {
                    // What no alias names is a package.
                    let first = meaning.candidates.first().filter(|_| meaning.is_alias);
                    found.extend(first.map(|base| (format!("missing {}", self.name(base)), None)));
                    continue;
                };
                if seen.len() < MOST_FILES && seen.insert(target.clone()) {
                    match files::read_capped(&target, DECLARED_CAP) {
                        Ok(content) => open.push((target, content)),
                        Err(_) => {
                            found.insert(format!("unreadable {}", self.name(&target)), None);
                        }
                    }
                }
            }
            if (self.is_generated)(&content) {
                generated = true;
            } else {
                found.insert(self.name(&path), Some(content));
            }
        }
        Ok(Sources { files: found, generated })
    }

    /// A path relative to the repository with `/`, whatever machine it is on.
    fn name(&self, path: &Path) -> String {
        let mut parts: Vec<String> = Vec::new();
        for part in path.strip_prefix(self.root).unwrap_or(path).components() {
            match part {
                std::path::Component::ParentDir if parts.last().is_some_and(|last| last != "..") => {
                    parts.pop();
                }
                std::path::Component::CurDir => {}
                other => parts.push(other.as_os_str().to_string_lossy().into_owned()),
            }
        }
        parts.join("/")
    }
}

static IMPORTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // `from "x"` of import and export, `import "x"`, `import("x")`, `require("x")`. In a comment it counts too: a file
    // too many does no harm, one too few does.
    Regex::new(r#"\b(?:from|import|require)\s*\(?\s*(?:"([^"\n]+)"|'([^'\n]+)'|`([^`\n$]+)`)"#).ok()
});

/// The imports of a source text, packages included.
fn imports(source: &str) -> Vec<String> {
    let Some(pattern) = IMPORTS.as_ref() else { return Vec::new() };
    let all = pattern.captures_iter(source).filter_map(|found| (1..=3).find_map(|group| found.get(group)));
    all.map(|text| text.as_str().to_owned()).collect()
}

/// Whether an import names a file from where it stands.
fn is_relative(import: &str) -> bool {
    import.starts_with("./") || import.starts_with("../") || import == "." || import == ".."
}

/// The file that an import means: itself, with an ending, TypeScript's source behind a `.js`, or a folder's index.
fn resolve(base: &Path) -> Option<PathBuf> {
    let with = |ending: &str| {
        let mut name = base.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    };
    let written = std::iter::once(base.to_owned());
    let behind_js = base
        .extension()
        .is_some_and(|ending| matches!(ending.to_str(), Some("js" | "jsx" | "mjs" | "cjs")))
        .then(|| ["ts", "tsx", "mts", "cts"].map(|ending| base.with_extension(ending)));
    written
        .chain(ENDINGS.iter().map(|ending| with(ending)))
        .chain(behind_js.into_iter().flatten())
        .chain(ENDINGS.iter().map(|ending| base.join("index").with_extension(ending)))
        .find(|path| files::is_file(path))
        .map(|path| files::absolute(&path).unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Repo(tempfile::TempDir);

    impl Repo {
        fn new(files: &[(&str, &str)]) -> Self {
            let repo = Self(tempfile::tempdir().unwrap());
            for (path, text) in files {
                repo.write(path, text);
            }
            repo
        }

        fn write(&self, path: &str, text: &str) {
            files::write_atomic(&self.0.path().join(path), text.as_bytes()).unwrap();
        }

        fn hash(&self) -> String {
            let root = self.0.path();
            let is_generated = |bytes: &[u8]| bytes.starts_with(b"// generated");
            let specs = Specs { root, feature: "f", spec_dir: "e2e", is_generated: &is_generated };
            specs.hash(Path::new("e2e/f/a.spec.ts"), None).unwrap()
        }
    }

    #[test]
    fn every_kind_of_import_counts_and_transitively() {
        let repo = Repo::new(&[
            (
                "e2e/f/a.spec.ts",
                "import { x } from '../lib/x';\nexport * from \"./y.js\"\nconst z = require('./z')\nawait import(`./w.mjs`)\nimport '../dir'",
            ),
            ("e2e/lib/x.ts", "import data from './data.json'"),
            ("e2e/lib/data.json", "{}"),
            ("e2e/f/y.ts", "1"),
            ("e2e/f/z.tsx", "1"),
            ("e2e/f/w.mjs", "1"),
            ("e2e/dir/index.ts", "1"),
            ("e2e/f/other.ts", "1"),
        ]);
        let mut last = repo.hash();
        for path in [
            "e2e/f/a.spec.ts",
            "e2e/lib/x.ts",
            "e2e/lib/data.json",
            "e2e/f/y.ts",
            "e2e/f/z.tsx",
            "e2e/f/w.mjs",
            "e2e/dir/index.ts",
        ] {
            let text = fs_err::read_to_string(repo.0.path().join(path)).unwrap();
            repo.write(path, &format!("{text} // changed"));
            let now = repo.hash();
            assert_ne!(now, last, "{path} does not count");
            last = now;
        }
        repo.write("e2e/f/other.ts", "2");
        assert_eq!(repo.hash(), last, "a file that nothing imports does not count");
    }

    #[test]
    fn a_generated_file_is_left_out_until_somebody_edits_it() {
        let repo =
            Repo::new(&[("e2e/f/a.spec.ts", "import './guard'"), ("e2e/f/guard.ts", "// generated 1")]);
        let first = repo.hash();
        repo.write("e2e/f/guard.ts", "// generated 2");
        assert_eq!(repo.hash(), first);
        repo.write("e2e/f/guard.ts", "// edited");
        assert_ne!(repo.hash(), first);
    }

    #[test]
    fn an_import_that_leads_nowhere_counts_once_it_leads_somewhere() {
        let repo = Repo::new(&[("e2e/f/a.spec.ts", "import './later'")]);
        let first = repo.hash();
        repo.write("e2e/f/later.ts", "");
        assert_ne!(repo.hash(), first);
    }

    #[test]
    fn an_alias_counts_as_the_file_that_it_means() {
        let repo = Repo::new(&[
            ("e2e/f/a.spec.ts", "import { x } from '@lib/x'; import { test } from '@playwright/test'"),
            ("tsconfig.json", r#"{"compilerOptions":{"paths":{"@lib/*":["./e2e/lib/*"]}}}"#),
        ]);
        let nowhere = repo.hash();
        repo.write("e2e/lib/x.ts", "1");
        let first = repo.hash();
        repo.write("e2e/lib/x.ts", "2");
        assert!(repo.hash() != first && first != nowhere);
        repo.write("node_modules/@playwright/test/index.js", "3");
        repo.write("e2e/lib/x.ts", "1");
        assert_eq!(repo.hash(), first);
    }

    #[test]
    fn loops_end() {
        let repo = Repo::new(&[("e2e/f/a.spec.ts", "import './b'"), ("e2e/f/b.ts", "import './a.spec'")]);
        assert_eq!(repo.hash().len(), KEPT);
    }

    #[test]
    fn the_same_repository_elsewhere_has_the_same_hash() {
        let files = [("e2e/f/a.spec.ts", "import '../x'; import './gone'"), ("e2e/x.ts", "1")];
        assert_eq!(Repo::new(&files).hash(), Repo::new(&files).hash());
    }

    #[test]
    fn a_case_is_its_steps_and_what_it_expects() {
        let repo = Repo::new(&[
            ("testing/f/specs.json", r#"{"A-B-002":"e2e/f/a.spec.ts"}"#),
            ("e2e/f/a.spec.ts", ""),
            ("e2e/f/A-B-001.spec.ts", ""),
        ]);
        let document = |step: &str| {
            let case = |id: &str| json!({ "id": id, "title": step, "steps": [step], "expected": ["e"] });
            Cases::from_value(&json!({ "cases": [case("A-B-001"), case("A-B-002"), case("A-B-003")] }))
                .unwrap()
        };
        let specs = Specs { root: repo.0.path(), feature: "f", spec_dir: "e2e", is_generated: &|_| false };
        let one = specs.hashes(&document("x")).unwrap();
        assert_eq!(
            one.keys().map(CaseId::as_str).collect::<Vec<_>>(),
            ["A-B-001", "A-B-002"],
            "the third has no spec"
        );
        let other = specs.hashes(&document("y")).unwrap();
        assert!(one.iter().all(|(id, hash)| other[id] != *hash));
        repo.write("testing/f/specs.json", "[]");
        assert!(specs.hashes(&document("x")).is_err());
    }
}
