//! `qa-pilot init` in a repository: what it writes, what it leaves alone, and that the way goes on from there.

use std::path::Path;

use qa_pilot::playwright::fixture::WRITE_GUARD_TS;

use crate::support::{Host, qa_pilot, told};

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

#[test]
fn ignored_lines_keep_their_endings_and_stand_once() {
    for (before, after) in [
        ("", "testing/*/runs/\n"),
        ("a\nb", "a\nb\ntesting/*/runs/\n"),
        ("a\r\nb", "a\r\nb\r\ntesting/*/runs/\r\n"),
        ("a\r\n  testing/*/runs/ \r\nb", "a\r\n  testing/*/runs/ \r\nb"),
        ("# testing/*/runs/\n", "# testing/*/runs/\ntesting/*/runs/\n"),
    ] {
        let repo = tempfile::tempdir().unwrap();
        let ignore = repo.path().join(".gitignore");
        fs_err::write(&ignore, before).unwrap();
        for _ in 0..2 {
            init(repo.path(), &[], 0);
            assert_eq!(fs_err::read_to_string(&ignore).unwrap(), after, "{before:?}");
        }
    }
}

#[test]
fn a_package_of_a_monorepo_gets_its_own() {
    let repo = tempfile::tempdir().unwrap();
    let web = repo.path().join("apps/web");
    fs_err::create_dir_all(web.join("tests")).unwrap();
    fs_err::write(web.join("package.json"), r#"{"name": "web", "dependencies": {"react": "19"}}"#).unwrap();
    init(repo.path(), &["--profile", "apps/web/qa-pilot.config.yaml"], 0);
    assert!(web.join("tests/write-guard.ts").exists() && web.join(".gitignore").exists());
    assert!(
        fs_err::read_to_string(web.join("qa-pilot.config.yaml")).unwrap().contains("framework: \"react\"")
    );
    let mut names: Vec<_> =
        fs_err::read_dir(repo.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["apps"], "nothing beside the package");
}

#[test]
fn no_link_is_followed_out_of_the_repository() {
    use fs_err::os::unix::fs::symlink;
    let elsewhere = tempfile::tempdir().unwrap();
    fs_err::write(elsewhere.path().join("ignore"), "mine\n").unwrap();
    for (link, target, message) in [
        (".gitignore", "ignore", "is a link"),
        (".gitignore", "gone", "is a link"),
        ("tests", ".", "leaves"),
        ("tests/write-guard.ts", "guard", "is a link"),
        (".github", ".", "leaves"),
        ("qa-pilot.config.yaml", "gone.yaml", "qa-pilot.config.yaml"),
    ] {
        let repo = tempfile::tempdir().unwrap();
        let place = repo.path().join(link);
        fs_err::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(elsewhere.path().join(target), &place).unwrap();
        let output = qa_pilot(repo.path(), &["init", "--ci", "--force"]).output().unwrap();
        assert_ne!(output.status.code(), Some(0), "{link}: {}", told(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains(message), "{link}: {}", told(&output));
        let left: Vec<_> =
            fs_err::read_dir(elsewhere.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["ignore"], "{link}");
        assert_eq!(fs_err::read_to_string(elsewhere.path().join("ignore")).unwrap(), "mine\n");
        assert!(fs_err::symlink_metadata(&place).unwrap().is_symlink(), "{link}");
    }
}

/// The scripts of the workflow's steps, by their names.
fn scripts(workflow: &serde_json::Value) -> Vec<(String, String)> {
    let steps = workflow["jobs"]["guard"]["steps"].as_array().unwrap();
    let script = |step: &serde_json::Value| {
        Some((step["name"].as_str()?.to_owned(), step["run"].as_str()?.to_owned()))
    };
    steps.iter().filter_map(script).collect()
}

#[test]
fn a_repository_on_github_gets_a_pipeline_whose_steps_run() {
    let host = Host::new("127.0.0.1:1".parse().unwrap());
    let path = host.path().join(".github/workflows/qa-pilot.yml");
    init(host.path(), &[], 0);
    assert!(!path.exists(), "without .github nobody asked for a pipeline");
    assert!(init(host.path(), &["--ci"], 0).contains("workflows/qa-pilot.yml"));
    let workflow = qa_pilot::yaml::read(&path).unwrap();
    assert_eq!(workflow["env"]["FEATURE"], "checkout");
    assert_eq!(workflow["env"]["QA_ENV"], "qa");
    assert_eq!(workflow["concurrency"]["group"], "qa-pilot-qa");

    let file = |name: &str| host.path().join(name);
    let step = |name: &str, script: &str| {
        let binary = Path::new(env!("CARGO_BIN_EXE_qa-pilot")).parent().unwrap();
        let path = std::env::join_paths(
            [binary.to_owned(), host.path().join("bin")]
                .into_iter()
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        let mut command = std::process::Command::new("bash");
        command.args(["-e", "-c", script]).current_dir(host.path()).env("PATH", path.unwrap());
        for name in ["FEATURE", "QA_ENV", "APP", "PROFILE", "PRIORITY", "MAX_SKIPPED"] {
            command.env(name, workflow["env"][name].as_str().unwrap());
        }
        for name in ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
            command.env(name, file(name));
        }
        let output =
            command.env("RUNNER_TEMP", host.path()).env("SPECS", "specs/a.spec.ts").output().unwrap();
        (name.to_owned(), output)
    };
    let all = scripts(&workflow);
    let named = |name: &str| {
        let (name, script) = all.iter().find(|(known, _)| known == name).unwrap();
        step(name, script).1
    };
    // A case whose spec changed since its approval is skipped, and no skip is allowed by default.
    let spec = "specs/checkout/CHECKOUT-ORDER-001.spec.ts";
    host.write("testing/checkout/specs.json", &format!("{{\"CHECKOUT-ORDER-001\": \"{spec}\"}}"));
    host.write("testing/checkout/approved.json", "{\"CHECKOUT-ORDER-001\": \"0123456789abcdef\"}");
    let refused = named("Select the specs that QA approved");
    assert_eq!(refused.status.code(), Some(1), "{}", told(&refused));
    assert!(
        fs_err::read_to_string(file("GITHUB_STEP_SUMMARY")).unwrap().contains("skipped CHECKOUT-ORDER-001")
    );
    let told_hash = String::from_utf8_lossy(&refused.stderr).into_owned();
    let hashes: Vec<&str> = told_hash
        .split(|c: char| !c.is_ascii_hexdigit())
        .filter(|word| word.len() == 16 && *word != "0123456789abcdef")
        .collect();
    host.write("testing/checkout/approved.json", &format!("{{\"CHECKOUT-ORDER-001\": \"{}\"}}", hashes[0]));
    let selected = named("Select the specs that QA approved");
    assert_eq!(selected.status.code(), Some(0), "{}", told(&selected));
    assert_eq!(fs_err::read_to_string(file("GITHUB_OUTPUT")).unwrap(), format!("specs={spec}\n"));
    // Nothing tells a build at this host's address, so the run ends before its command; the words were understood.
    let run = named("Run them under the guard");
    assert_eq!(run.status.code(), Some(2), "{}", told(&run));
    assert!(told(&run).contains("127.0.0.1:1"), "{}", told(&run));

    let edited = fs_err::read_to_string(&path).unwrap().replace("0 5", "0 6");
    fs_err::write(&path, &edited).unwrap();
    assert!(init(host.path(), &["--force"], 0).contains("unchanged"), "a pipeline is the repository's own");
    assert_eq!(fs_err::read_to_string(&path).unwrap(), edited);
}
