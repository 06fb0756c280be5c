//! A first profile for a repository that has none, from what lies in it. What cannot be seen there is marked `CHANGE`.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::files::{self, DECLARED_CAP};

/// What a repository tells about itself.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found {
    /// The package's name, else the folder's.
    pub project: String,
    /// The front-end framework among its dependencies.
    pub framework: &'static str,
    /// Where its specs are.
    pub spec_dir: String,
    /// Where its specs go by default; none when the configuration does not say.
    pub base_url: Option<String>,
    /// The attribute that `getByTestId` reads.
    pub testid_attribute: String,
    /// The Playwright that it uses, at least the oldest that can be used.
    pub playwright_min: String,
    /// The packs of signatures that fit its dependencies.
    pub packs: Vec<&'static str>,
}

/// Dependencies that name a framework, the more telling first.
const FRAMEWORKS: [(&str, &str); 9] = [
    ("next", "next"),
    ("nuxt", "nuxt"),
    ("@sveltejs/kit", "sveltekit"),
    ("@angular/core", "angular"),
    ("svelte", "svelte"),
    ("vue", "vue"),
    ("solid-js", "solid"),
    ("react", "react"),
    ("preact", "preact"),
];

/// Dependencies that speak a protocol for which there is a pack.
const PACKS: [(&str, &str); 6] = [
    ("graphql", "graphql"),
    ("@apollo/client", "graphql"),
    ("firebase", "firestore"),
    ("next", "nextjs"),
    ("@supabase/supabase-js", "postgrest"),
    ("@elastic/elasticsearch", "elasticsearch"),
];

/// The folders that specs are usually in.
const SPEC_DIRS: [&str; 5] = ["e2e", "tests/e2e", "playwright", "tests", "test"];
/// The endings of a Playwright configuration.
const CONFIG_ENDINGS: [&str; 6] = ["ts", "js", "mts", "mjs", "cts", "cjs"];
/// The oldest Playwright that can be used.
const OLDEST: (u64, u64) = (1, 51);

static TEST_DIR: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\btestDir\s*:\s*['"`]([^'"`$\n]+)['"`]"#).ok());
static BASE_URL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\bbaseURL\s*:[^\n]*?['"`](https?://[^'"`$\s]+)['"`]"#).ok());
static TESTID: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\btestIdAttribute\s*:\s*['"`]([\w-]+)['"`]"#).ok());

/// Looks at the repository in `root`; reads its package.json and its Playwright configuration, and runs nothing.
pub fn look(root: &Path) -> Found {
    let package: Value = files::read_json(&root.join("package.json"), DECLARED_CAP).unwrap_or_default();
    let dependency = |name: &str| {
        ["dependencies", "devDependencies"].iter().find_map(|key| package.get(key)?.get(name)?.as_str())
    };
    let config = CONFIG_ENDINGS
        .iter()
        .find_map(|ending| {
            files::read_text(&root.join(format!("playwright.config.{ending}")), DECLARED_CAP).ok()
        })
        .unwrap_or_default();
    let in_config = |pattern: &LazyLock<Option<Regex>>| {
        let found = pattern.as_ref()?.captures(&config)?.get(1)?;
        Some(found.as_str().to_owned())
    };
    let folder = files::absolute(root).ok();
    let folder = folder.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let named = package.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty());
    let test_dir =
        in_config(&TEST_DIR).map(|dir| dir.trim_start_matches("./").trim_end_matches('/').to_owned());
    let spec_dir = test_dir.filter(|dir| files::is_inner(dir)).unwrap_or_else(|| {
        let usual = SPEC_DIRS.iter().find(|dir| files::is_folder(&root.join(dir)));
        (*usual.unwrap_or(&"e2e")).to_owned()
    });
    // Chromium is what the tests run in, and what it sends on its own account is no test's write.
    let mut packs = vec!["chromium"];
    for (_, pack) in PACKS.iter().filter(|(name, _)| dependency(name).is_some()) {
        if !packs.contains(pack) {
            packs.push(pack);
        }
    }
    let framework = FRAMEWORKS.iter().find(|(name, _)| dependency(name).is_some());
    Found {
        project: named.map(str::to_owned).or(folder).unwrap_or_else(|| "project".to_owned()),
        framework: framework.map_or("none", |(_, framework)| framework),
        spec_dir,
        base_url: in_config(&BASE_URL).map(|url| url.trim_end_matches('/').to_owned()),
        testid_attribute: in_config(&TESTID).unwrap_or_else(|| "data-testid".to_owned()),
        playwright_min: playwright(dependency("@playwright/test")),
        packs,
    }
}

/// The version that a dependency such as `^1.60.0` asks for, or the oldest that can be used.
fn playwright(wanted: Option<&str>) -> String {
    let version = wanted.map(|text| text.trim_start_matches(['^', '~', '>', '=', ' ']));
    let parts: Option<Vec<u64>> =
        version.map(|text| text.split('.').map_while(|part| part.parse().ok()).collect());
    match parts.as_deref() {
        Some([major, minor, patch, ..]) if (*major, *minor) >= OLDEST => format!("{major}.{minor}.{patch}"),
        _ => format!("{}.{}.0", OLDEST.0, OLDEST.1),
    }
}

/// The text of a first profile: valid, and usable once what is marked is changed.
pub fn profile(found: &Found) -> String {
    // A JSON text is a YAML text.
    let quoted = |text: &str| Value::from(text).to_string();
    let url = found.base_url.as_deref().unwrap_or("https://qa.example.test");
    let packs = found.packs.join(", ");
    format!(
        r#"# What this repository declares about itself to qa-pilot. `qa-pilot profile check` names every fault.
# Lines marked CHANGE are guesses.
project: {project}
tracker: none                          # or clickup, with a `clickup` block

apps:
  web: {{ framework: {framework}, spec_dir: {spec_dir}, repo: "." }}

environments:
  qa:
    kind: qa                           # qa, staging or production
    apps: {{ web: {url} }}   # CHANGE: where the app is deployed
    sha_source:                        # CHANGE: where the deployment tells which build it is
      url: {version}
      json_path: commit                # or `regex:` with a group; `format: build-id` when it is no commit

auth:
  model: role-accounts                 # or dev-handoff, mixed
  playwright_min: {playwright}
  storage_state: {{ indexed_db: true, dir: ".auth" }}

assertions: {{ network_events: allowed, style: mixed }}
evidence: {{ capture: always }}
selectors: {{ testid_attribute: {testid} }}
models: {{ generation_approved: [by-hand] }}   # which models may author cases
sandbox: {{ mode: {{ env_var: API_MODE, value: mocks }} }}   # CHANGE: the switch of a seeded back end, if there is one

mutation:
  unsafe_methods: deny                 # every POST, PUT, PATCH and DELETE is a write
  packs: [{packs}]                    # ready signatures; chromium: what the browser sends on its own account
  allow_signatures: []                 # CHANGE: but these, such as {{ method: POST, url: "/api/(session|search)$" }}, signing in
"#,
        project = quoted(&found.project),
        framework = quoted(found.framework),
        spec_dir = quoted(&found.spec_dir),
        url = quoted(url),
        version = quoted(&format!("{url}/version.json")),
        playwright = quoted(&found.playwright_min),
        testid = quoted(&found.testid_attribute),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::profile::Profile;
    use crate::yaml;

    fn repository(written: &[(&str, &str)]) -> (tempfile::TempDir, Found) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in written {
            files::write_atomic(&folder.path().join(path), text.as_bytes()).unwrap();
        }
        let found = look(folder.path());
        (folder, found)
    }

    fn is_valid(found: &Found) {
        let value = yaml::parse(Path::new("p"), &profile(found)).unwrap();
        let (valid, faults, _) = Profile::check(&value, &|_| true);
        assert!(valid.is_some(), "{faults:?}");
    }

    #[test]
    fn what_lies_in_a_repository() {
        let (_folder, found) = repository(&[
            (
                "package.json",
                r#"{"name": "@shop/\"web\": x", "dependencies": {"react": "19", "next": "16", "graphql": "16", "@apollo/client": "4"},
                    "devDependencies": {"@playwright/test": "^1.60.2"}}"#,
            ),
            (
                "playwright.config.ts",
                "export default { testDir: './checks/e2e/', use: { baseURL: process.env.URL ?? 'https://qa.shop.test/', testIdAttribute: 'data-qa' } }",
            ),
        ]);
        assert_eq!(
            found,
            Found {
                project: "@shop/\"web\": x".to_owned(),
                framework: "next",
                spec_dir: "checks/e2e".to_owned(),
                base_url: Some("https://qa.shop.test".to_owned()),
                testid_attribute: "data-qa".to_owned(),
                playwright_min: "1.60.2".to_owned(),
                packs: vec!["chromium", "graphql", "nextjs"],
            }
        );
        is_valid(&found);
    }

    #[test]
    fn an_empty_repository_and_an_odd_one_have_a_valid_profile_too() {
        let (folder, found) = repository(&[]);
        let name = folder.path().file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!((found.project.as_str(), found.spec_dir.as_str()), (name.as_str(), "e2e"));
        is_valid(&found);
        let (_folder, found) = repository(&[
            (
                "package.json",
                r#"{"name": 7, "devDependencies": {"@playwright/test": "latest"}, "dependencies": []}"#,
            ),
            ("playwright.config.js", "testDir: '../elsewhere'"),
            ("tests/e2e/a.spec.ts", ""),
        ]);
        assert_eq!((found.spec_dir.as_str(), found.playwright_min.as_str()), ("tests/e2e", "1.51.0"));
        is_valid(&found);
        let every = Found { packs: PACKS.iter().map(|(_, pack)| *pack).skip(1).collect(), ..found };
        is_valid(&every);
    }

    #[test]
    fn versions() {
        for (wanted, version) in [
            ("1.65.1", "1.65.1"),
            ("^1.50.0", "1.51.0"),
            ("~2.0.1", "2.0.1"),
            (">=1.52.0", "1.52.0"),
            ("next", "1.51.0"),
        ] {
            assert_eq!(playwright(Some(wanted)), version, "{wanted}");
        }
    }
}
