//! `qa-pilot sha`: which build is deployed.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::upstream_args::UpstreamArgs;
use crate::exit::Exit;
use crate::files;
use crate::host::profile::{Environment, Profile};
use crate::model::clock;
use crate::proxy::Way;
use crate::run::build_id;

/// Says which build is deployed in an environment
///
/// Asks the environment's sha_source, as a run does before and after its tests: a JSON path or a pattern, a commit or
/// another fingerprint of the build.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 printed, 1 the environment does not tell, 2 an input cannot be used.\n\n\
    Example: qa-pilot sha qa-pilot.config.yaml staging --sha-only"
)]
pub(super) struct Sha {
    /// The host profile
    profile: PathBuf,
    /// The environment, as registered in the profile
    env: String,
    /// The app; it must have a URL there
    app: Option<String>,
    /// How long the answer may take, redirects included
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    timeout_ms: u64,
    /// Print the build id alone
    #[arg(long)]
    sha_only: bool,
    #[command(flatten)]
    upstream: UpstreamArgs,
}

/// What is printed; the order of keys is part of the format.
#[derive(Serialize)]
struct Shape<'a> {
    sha: &'a str,
    format: &'static str,
    source: &'a str,
    app: Option<&'a str>,
    env: &'a str,
    fetched_at: String,
}

impl Sha {
    pub(super) fn run(self) -> Exit {
        let profile = match Profile::load(&self.profile) {
            Ok(checked) => checked.profile,
            Err(error) => return fault(error),
        };
        let environment = match self.environment(&profile) {
            Ok(environment) => environment,
            Err(error) => return fault(error),
        };
        let way = match self.upstream.options_like_node() {
            Ok(options) => Way::read(&options).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let way = match way {
            Ok(way) => way,
            Err(error) => return fault(error),
        };
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return fault(error),
        };
        let limit = Duration::from_millis(self.timeout_ms);
        match runtime.block_on(build_id::read(&environment.sha_source, &way, limit)) {
            Ok(sha) => self.print(&sha, environment),
            Err(error) => {
                super::fault(error);
                Exit::Refused
            }
        }
    }

    fn environment<'a>(&self, profile: &'a Profile) -> Result<&'a Environment, String> {
        let known =
            |names: Vec<&String>| names.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let environment = profile.environment(&self.env).ok_or_else(|| {
            format!(
                "environment `{}` is not registered in {}; it has {}",
                self.env,
                self.profile.display(),
                known(profile.environments.keys().collect())
            )
        })?;
        match &self.app {
            Some(app) if !environment.apps.contains_key(app) => Err(format!(
                "environment `{}` has no app `{app}`; it has {}",
                self.env,
                known(environment.apps.keys().collect())
            )),
            _ => Ok(environment),
        }
    }

    fn print(&self, sha: &str, environment: &Environment) -> Exit {
        if self.sha_only {
            super::data(format_args!("{sha}\n"));
            return Exit::Ok;
        }
        let shape = Shape {
            sha,
            format: environment.sha_source.format.as_str(),
            source: &environment.sha_source.url,
            app: self.app.as_deref(),
            env: &self.env,
            fetched_at: clock::iso(clock::now()),
        };
        match files::json_bytes(&shape) {
            Ok(bytes) => {
                super::data(String::from_utf8_lossy(&bytes));
                Exit::Ok
            }
            Err(error) => fault(error),
        }
    }
}

fn fault(error: impl std::fmt::Display) -> Exit {
    super::fault(error);
    Exit::Usage
}
