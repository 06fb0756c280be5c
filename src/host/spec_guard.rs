//! Which specs of a feature are not on the guard: found before the run that would be refused for them.

use super::spec_sha::Specs;
use crate::files::{self, DECLARED_CAP, FileError};
use regex::Regex;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use walkdir::WalkDir;

/// Files that Playwright takes for tests by their usual names, and setups and teardowns of projects.
static TEST_FILE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\.(spec|test|setup|teardown)\.[cm]?[jt]sx?$").ok());

/// A value import of `test` from Playwright itself, under its own or another name; types may come from there.
static OWN_TEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?m)^\s*(import\s+\{[^}]*\btest\b[^}]*\}\s*from\s*['"]@playwright/test['"]|(const|let|var)\s+\{[^}]*\btest\b[^}]*\}\s*=\s*(await\s+import|require)\s*\(\s*['"]@playwright/test['"])"#,
    )
    .ok()
});

/// Why a spec does not count as guarded.
#[derive(Debug, thiserror::Error)]
pub enum SpecFault {
    /// There is none.
    #[error("{}: holds no spec; its specs are files like CASE-ID.spec.ts", .0.display())]
    None(PathBuf),
    /// The generated file is not among its imports.
    #[error(
        "{}: imports no write-guard.ts of this version; import `test` and `expect` from it by a relative path instead of from @playwright/test (`qa-pilot init` writes it)",
        .0.display()
    )]
    Unguarded(PathBuf),
    /// It has a second `test`, which is not on the guard.
    #[error("{}: imports `test` from @playwright/test as well; take it from write-guard.ts alone", .0.display())]
    Both(PathBuf),
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What is to be mended in the specs of a feature: those in its folder below the app's spec folder, and those that lie
/// directly in the spec folder (a login setup runs with every feature). Paths are relative to the repository, and sorted.
pub fn faults(specs: &Specs<'_>) -> Vec<SpecFault> {
    let shared = Path::new(specs.spec_dir);
    let own = shared.join(specs.feature);
    let mut found: BTreeSet<PathBuf> = below(specs.root, &own, usize::MAX);
    if found.is_empty() {
        return vec![SpecFault::None(own)];
    }
    found.extend(below(specs.root, shared, 1));
    found.into_iter().filter_map(|spec| fault_of(specs, spec)).collect()
}

fn fault_of(specs: &Specs<'_>, spec: PathBuf) -> Option<SpecFault> {
    match specs.imports_generated(&spec) {
        Err(error) => return Some(error.into()),
        Ok(false) => return Some(SpecFault::Unguarded(spec)),
        Ok(true) => {}
    }
    match files::read_text(&specs.root.join(&spec), DECLARED_CAP) {
        Err(error) => Some(error.into()),
        Ok(text) => OWN_TEST.as_ref().is_none_or(|own| own.is_match(&text)).then_some(SpecFault::Both(spec)),
    }
}

fn below(root: &Path, folder: &Path, depth: usize) -> BTreeSet<PathBuf> {
    WalkDir::new(root.join(folder))
        .max_depth(depth)
        .into_iter()
        .filter_entry(|entry| entry.file_name() != "node_modules")
        .filter_map(Result::ok)
        .filter(|entry| !entry.file_type().is_dir())
        .filter(|entry| {
            let name = entry.file_name().to_string_lossy();
            TEST_FILE.as_ref().is_none_or(|test| test.is_match(&name))
        })
        .filter_map(|entry| entry.path().strip_prefix(root).map(Path::to_path_buf).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(specs: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in specs {
            files::write_atomic(&folder.path().join("e2e").join(path), text.as_bytes()).unwrap();
        }
        let is_generated = |bytes: &[u8]| bytes.starts_with(b"// generated");
        let specs =
            Specs { root: folder.path(), feature: "cart", spec_dir: "e2e", is_generated: &is_generated };
        faults(&specs).iter().map(ToString::to_string).collect()
    }

    const GUARD: (&str, &str) = ("write-guard.ts", "// generated");

    #[test]
    fn guarded_specs_have_no_fault() {
        let faults = told(&[
            GUARD,
            ("login.setup.ts", "import { test } from './write-guard';"),
            (
                "cart/CART-A-001.spec.ts",
                "import type { Page } from '@playwright/test';\nimport { test } from './base';",
            ),
            ("cart/base.ts", "export { test } from '../write-guard';"),
            ("cart/helper.ts", "import { test } from '@playwright/test';"),
            ("other/OTHER-A-001.spec.ts", "import { test } from '@playwright/test';"),
        ]);
        assert_eq!(faults, Vec::<String>::new());
    }

    #[test]
    fn each_fault_names_its_file_and_the_mend() {
        let faults = told(&[
            GUARD,
            ("login.setup.ts", "import { test } from '@playwright/test';"),
            ("cart/CART-A-001.spec.ts", "import { test } from './write-guard-copy';"),
            (
                "cart/CART-A-002.spec.ts",
                "import {\n  expect,\n  test as plain,\n} from \"@playwright/test\";\nimport { test } from '../write-guard';",
            ),
            (
                "cart/deep/CART-A-003.test.mjs",
                "const { test } = require('@playwright/test');\nimport '../../write-guard.ts';",
            ),
        ]);
        let starts: Vec<&str> = faults.iter().map(|fault| fault.split(" from").next().unwrap()).collect();
        assert_eq!(
            starts,
            [
                "e2e/cart/CART-A-001.spec.ts: imports no write-guard.ts of this version; import `test` and `expect`",
                "e2e/cart/CART-A-002.spec.ts: imports `test`",
                "e2e/cart/deep/CART-A-003.test.mjs: imports `test`",
                "e2e/login.setup.ts: imports no write-guard.ts of this version; import `test` and `expect`",
            ]
        );
        assert!(told(&[GUARD])[0].starts_with("e2e/cart: holds no spec"));
    }
}
