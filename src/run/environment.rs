//! The variables that the test command gets: how it finds the guard, and what it may write.

use crate::model::Policy;
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;

/// How test processes find the guard: the values behind the ready line of `qa-pilot proxy`.
#[derive(Clone, Debug)]
pub struct GuardAddress<'a> {
    /// The control API's URL.
    pub control: &'a str,
    /// Its token.
    pub token: &'a str,
    /// The CA certificate, a PEM file.
    pub ca: &'a Path,
    /// The base64 SHA-256 of the CA's public key.
    pub ca_spki: &'a str,
    /// The run directory.
    pub run_dir: &'a Path,
    /// The proxy for what runs outside any attempt.
    pub run_proxy: &'a str,
}

impl GuardAddress<'_> {
    /// The variables by which the fixture finds the guard.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        vec![
            ("QA_PILOT_CONTROL", self.control.into()),
            ("QA_PILOT_TOKEN", self.token.into()),
            ("QA_PILOT_CA", self.ca.into()),
            ("QA_PILOT_CA_SPKI", self.ca_spki.into()),
            ("QA_PILOT_RUN_DIR", self.run_dir.into()),
            ("QA_PILOT_RUN_PROXY", self.run_proxy.into()),
        ]
    }
}

/// The variables that declare what a run may write.
pub fn declared(
    policy: &Policy,
    mutation: Option<&Value>,
    feature: &str,
    run_dir: &Path,
) -> Vec<(&'static str, OsString)> {
    let mut out = vec![
        ("QA_PILOT_MUTATION", policy.to_env_json().into()),
        ("QA_PILOT_FEATURE", feature.into()),
        ("QA_PILOT_FIXTURE_DIR", run_dir.join("fixtures").into_os_string()),
    ];
    if let Some(mutation) = mutation {
        out.push(("QA_PILOT_MUTATION_CONFIG", mutation.to_string().into()));
    }
    out
}

/// The variables by which clients that know nothing of the guard go through the run's port.
pub fn proxies(run_proxy: &str, no_proxy_before: Option<&str>) -> Vec<(&'static str, OsString)> {
    let loopback = "localhost,127.0.0.1,::1";
    let no_proxy = match no_proxy_before.map(str::trim).filter(|text| !text.is_empty()) {
        Some(before) => format!("{before},{loopback}"),
        None => loopback.to_owned(),
    };
    ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]
        .into_iter()
        .map(|name| (name, run_proxy.into()))
        .chain(["NO_PROXY", "no_proxy"].into_iter().map(|name| (name, no_proxy.clone().into())))
        .collect()
}

/// Variables of the user's that would take the browser past the guard, belong to another run, or are for the guard alone.
pub const REMOVED: [&str; 8] = [
    "PLAYWRIGHT_DISABLE_FORCED_CHROMIUM_PROXIED_LOOPBACK",
    "PLAYWRIGHT_JSON_OUTPUT_NAME",
    "PLAYWRIGHT_JSON_OUTPUT_DIR",
    "QA_PILOT_MUTATION_CONFIG",
    "ALL_PROXY",
    "all_proxy",
    "QA_PILOT_MUTATION",
    "QA_PILOT_UPSTREAM_PROXY",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_exceptions_stay() {
        let found = |before| {
            proxies("http://127.0.0.1:1", before).into_iter().find(|(name, _)| *name == "NO_PROXY").unwrap().1
        };
        assert_eq!(found(Some("intra.test")), "intra.test,localhost,127.0.0.1,::1");
        assert_eq!(found(Some(" ")), "localhost,127.0.0.1,::1");
        assert_eq!(found(None), "localhost,127.0.0.1,::1");
    }

    #[test]
    fn a_run_without_signatures_sets_none() {
        let names = |mutation: Option<&Value>| {
            declared(&Policy::read_only(), mutation, "f", Path::new("/run"))
                .into_iter()
                .map(|(name, _)| name)
                .collect::<Vec<_>>()
        };
        assert!(!names(None).contains(&"QA_PILOT_MUTATION_CONFIG"));
        assert!(names(Some(&serde_json::json!({}))).contains(&"QA_PILOT_MUTATION_CONFIG"));
    }
}
