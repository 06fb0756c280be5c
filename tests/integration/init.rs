//! `qa-pilot init` in a repository: what it writes, what it leaves alone, and that the way goes on from there.

use std::path::Path;

use qa_pilot::playwright::fixture::WRITE_GUARD_TS;

use crate::support::{qa_pilot, told};

fn init(folder: &Path, more: &[&str], exit: i32) -> String {
    let mut words = vec!["init"];
    words.extend(more);
    let output = qa_pilot(folder, &words).output().unwrap();
    assert_eq!(output.status.code(), Some(exit), "{}", told(&output));
    told(&output)
}

#[test]
fn a_new_repository_gets_a_valid_profile_the_fixture_and_its_runs_ignored() {
    let repo = tempfile::tempdir().unwrap();
    let path = |name: &str| repo.path().join(name);
    fs_err::create_dir_all(path("tests/e2e")).unwrap();
    fs_err::write(path("package.json"), r#"{"name": "shop", "dependencies": {"vue": "3"}}"#).unwrap();
    fs_err::write(path(".gitignore"), "node_modules/").unwrap();
    let said = init(repo.path(), &[], 0);
    assert!(said.contains("outputDir: process.env.QA_PILOT_RUN_DIR"), "{said}");
    assert!(said.contains("marked CHANGE"), "{said}");
    assert_eq!(fs_err::read_to_string(path("tests/e2e/write-guard.ts")).unwrap(), WRITE_GUARD_TS);
    assert_eq!(fs_err::read_to_string(path(".gitignore")).unwrap(), "node_modules/\ntesting/*/runs/\n");
    let check = qa_pilot(repo.path(), &["profile", "check", "qa-pilot.config.yaml"]).output().unwrap();
    assert_eq!(check.status.code(), Some(0), "{}", told(&check));

    let profile = fs_err::read_to_string(path("qa-pilot.config.yaml")).unwrap().replace("shop", "mine");
    fs_err::write(path("qa-pilot.config.yaml"), &profile).unwrap();
    let again = init(repo.path(), &[], 0);
    assert!(
        again.contains("unchanged tests/e2e/write-guard.ts")
            || again.contains("unchanged ./tests/e2e/write-guard.ts"),
        "{again}"
    );
    assert!(!again.contains("CHANGE"), "{again}");

    fs_err::write(path("tests/e2e/write-guard.ts"), "// mine").unwrap();
    let refused = init(repo.path(), &[], 1);
    assert!(refused.contains("is there and differs; `--force` replaces it"), "{refused}");
    assert_eq!(fs_err::read_to_string(path("tests/e2e/write-guard.ts")).unwrap(), "// mine");
    init(repo.path(), &["--force"], 0);
    assert_eq!(fs_err::read_to_string(path("tests/e2e/write-guard.ts")).unwrap(), WRITE_GUARD_TS);
    assert_eq!(fs_err::read_to_string(path("qa-pilot.config.yaml")).unwrap(), profile, "never the profile");
}

#[test]
fn a_folder_gets_the_fixture_alone_and_a_bad_profile_is_said() {
    let repo = tempfile::tempdir().unwrap();
    init(repo.path(), &["specs"], 0);
    assert!(repo.path().join("specs/write-guard.ts").exists());
    assert!(!repo.path().join("qa-pilot.config.yaml").exists() && !repo.path().join(".gitignore").exists());
    fs_err::write(repo.path().join("qa-pilot.config.yaml"), "project: [").unwrap();
    init(repo.path(), &[], 2);
    assert_eq!(fs_err::read_to_string(repo.path().join("qa-pilot.config.yaml")).unwrap(), "project: [");
}
