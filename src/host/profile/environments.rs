//! `environments`: where a run may go, and how far its evidence may travel.

use indexmap::IndexMap;
use serde_json::Value;

use super::super::values::{Faults, Object, text};
use super::Tracker;
use super::apps::App;
use super::production_url::looks_like_production;
use super::sha_source::{self, ShaSource};

/// The least that tells whose restricted account a production run uses.
const ACCOUNT_CHARACTERS: usize = 20;

/// What kind of environment it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EnvKind {
    /// For testers.
    Qa,
    /// Before release.
    Staging,
    /// Real users.
    Production,
}

impl EnvKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Qa => "qa",
            Self::Staging => "staging",
            Self::Production => "production",
        }
    }
}

/// How far evidence travels.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Upload {
    /// Traces are attached in the tracker.
    Tracker,
    /// The tracker names path and hash; the trace stays on the machine.
    Reference,
    /// Nothing of the application leaves the machine.
    Local,
}

impl Upload {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tracker => "tracker",
            Self::Reference => "reference",
            Self::Local => "local",
        }
    }

    /// Whether traces stay here and are held by their hash.
    pub fn is_pinned(self) -> bool {
        self != Self::Tracker
    }
}

/// A registered environment.
#[derive(Clone, Debug)]
pub struct Environment {
    /// What kind it is.
    pub kind: EnvKind,
    /// The URL of each app that is deployed there.
    pub apps: IndexMap<String, String>,
    /// Further origins that belong to it, such as a redirect's.
    pub origins: Vec<String>,
    /// What the profile says of evidence.
    pub upload: Option<Upload>,
    /// Whose restricted account runs there.
    pub test_account: Option<String>,
    /// Where the deployed build tells what it is.
    pub sha_source: ShaSource,
}

/// The upload that holds, whatever the environment says.
pub(super) fn effective_upload(tracker: Tracker, kind: EnvKind, explicit: Option<Upload>) -> Upload {
    if tracker == Tracker::None || kind == EnvKind::Production {
        Upload::Local
    } else {
        explicit.unwrap_or(Upload::Reference)
    }
}

/// An http or https URL with a host and without blanks.
pub(super) fn is_http_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some()
        && !text.contains(char::is_whitespace)
        && url::Url::parse(text).is_ok_and(|url| url.has_host())
}

/// Environments with faults are left out, their faults noted.
pub(super) fn read(
    root: &Object,
    apps: Option<&IndexMap<String, App>>,
    tracker: Option<Tracker>,
    faults: &mut Faults,
    warnings: &mut Faults,
) -> IndexMap<String, Environment> {
    let mut environments = IndexMap::new();
    let block = root.get("environments").and_then(Value::as_object).filter(|block| !block.is_empty());
    let Some(block) = block else {
        faults.add("environments", "must be a mapping with at least one environment");
        return environments;
    };
    if block.len() == 1 {
        warnings.add("environments", "only one is registered: a change cannot be tried elsewhere first");
    }
    for (name, value) in block {
        let at = format!("environments.{name}");
        let Some(env) = value.as_object() else {
            faults.add(at, "must be a mapping");
            continue;
        };
        if let Some(environment) = one(env, &at, apps, tracker, faults, warnings) {
            environments.insert(name.clone(), environment);
        }
    }
    environments
}

fn one(
    env: &Object,
    at: &str,
    apps: Option<&IndexMap<String, App>>,
    tracker: Option<Tracker>,
    faults: &mut Faults,
    warnings: &mut Faults,
) -> Option<Environment> {
    let words = [("qa", EnvKind::Qa), ("staging", EnvKind::Staging), ("production", EnvKind::Production)];
    let urls = app_urls(env, at, apps, faults);
    let kind = faults.word(env, at, "kind", &words);
    if env.contains_key("allow_production") {
        faults.add(format!("{at}.allow_production"), "is retired: say kind: production instead");
    }
    let upload = upload(env, at, kind, tracker, faults, warnings);
    let test_account = test_account(env, at, kind, faults);
    let origins = origins(env, at, faults);
    if kind.is_some_and(|kind| kind != EnvKind::Production) {
        for (app, url) in urls.iter().filter(|(_, url)| looks_like_production(url)) {
            warnings
                .add(format!("{at}.apps.{app}"), format!("{url} looks like production, and kind is another"));
        }
    }
    let sha_source = sha_source::read(env, at, faults, warnings);
    Some(Environment { kind: kind?, apps: urls, origins, upload, test_account, sha_source: sha_source? })
}

fn app_urls(
    env: &Object,
    at: &str,
    apps: Option<&IndexMap<String, App>>,
    faults: &mut Faults,
) -> IndexMap<String, String> {
    let mut urls = IndexMap::new();
    let Some(block) = env.get("apps").and_then(Value::as_object).filter(|block| !block.is_empty()) else {
        faults.add(format!("{at}.apps"), "must be a mapping from app to URL, at least one");
        return urls;
    };
    for (app, value) in block {
        let at = format!("{at}.apps.{app}");
        if apps.is_some_and(|apps| !apps.contains_key(app)) {
            faults.add(&at, "is no declared app");
        }
        match text(Some(value)).filter(|url| is_http_url(url)) {
            Some(url) => {
                urls.insert(app.clone(), url.to_owned());
            }
            None => faults.add(&at, "must be an http or https URL without blanks"),
        }
    }
    urls
}

fn upload(
    env: &Object,
    at: &str,
    kind: Option<EnvKind>,
    tracker: Option<Tracker>,
    faults: &mut Faults,
    warnings: &mut Faults,
) -> Option<Upload> {
    if !env.contains_key("evidence_upload") {
        return None;
    }
    let words = [("tracker", Upload::Tracker), ("reference", Upload::Reference), ("local", Upload::Local)];
    let upload = faults.word(env, at, "evidence_upload", &words)?;
    if kind == Some(EnvKind::Production) && upload != Upload::Local {
        faults.add(format!("{at}.evidence_upload"), "must be local or left out for production");
    } else if tracker == Some(Tracker::None) && upload == Upload::Tracker {
        warnings.add(format!("{at}.evidence_upload"), "is tracker, and there is none: evidence stays local");
    }
    Some(upload)
}

fn test_account(env: &Object, at: &str, kind: Option<EnvKind>, faults: &mut Faults) -> Option<String> {
    let path = format!("{at}.test_account");
    if !env.contains_key("test_account") {
        if kind == Some(EnvKind::Production) {
            faults.add(path, "is needed for production: say whose restricted account runs there");
        }
        return None;
    }
    let account = text(env.get("test_account")).map(str::trim);
    match account.filter(|account| account.chars().count() >= ACCOUNT_CHARACTERS) {
        Some(account) => Some(account.to_owned()),
        None => {
            faults
                .add(path, format!("must describe the account in at least {ACCOUNT_CHARACTERS} characters"));
            None
        }
    }
}

fn origins(env: &Object, at: &str, faults: &mut Faults) -> Vec<String> {
    let Some(value) = env.get("origins") else { return Vec::new() };
    let list: Option<Vec<String>> = value.as_array().and_then(|list| {
        list.iter().map(|item| text(Some(item)).filter(|url| is_http_url(url)).map(str::to_owned)).collect()
    });
    list.unwrap_or_else(|| {
        faults.add(format!("{at}.origins"), "must be a list of http or https URLs");
        Vec::new()
    })
}
