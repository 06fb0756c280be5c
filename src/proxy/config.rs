//! What a proxy needs to start, typed before a port is bound.

use super::upstream::{TrustError, Way, WayOptions};
use crate::egress::Sockets;
use crate::files::{self, FileError};
use crate::model::Policy;
use crate::policy::MutationConfig;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The cap on held bodies when none is set: 8 MiB.
pub const MAX_BODY: usize = 8 << 20;

/// The drain when none is set: two seconds.
pub const DRAIN: Duration = Duration::from_millis(2000);

/// What a client sees of a blocked write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBlock {
    /// A 403 that says why.
    #[default]
    Answer,
    /// A failed connection: a reset stream on HTTP/2, an answer that is none on HTTP/1.
    Reset,
}

/// How to guard one run.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where records go; it is made when it is missing.
    pub run_dir: PathBuf,
    /// The run that records name; none where nobody gave it an id.
    pub run_id: Option<String>,
    /// The main port's address: loopback, port 0 for any.
    pub listen: SocketAddr,
    /// What is enforced.
    pub policy: Policy,
    /// What counts as a write.
    pub mutation: MutationConfig,
    /// How origins are reached.
    pub upstream: WayOptions,
    /// The longest body in bytes that is held to be judged.
    pub max_body: usize,
    /// How long ends wait for what is still under way.
    pub drain: Duration,
    /// What a client sees of a blocked write.
    pub on_block: OnBlock,
    /// Whether `listen` may be an address that other machines reach. Every port then wants credentials.
    pub allow_remote: bool,
    /// The script that fixtures install in pages.
    pub page_guard: Arc<str>,
    /// Sockets of the network in which the tests are locked, when they are: the guard listens there.
    pub inside: Option<Sockets>,
}

/// Why a proxy does not start with a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Anyone on the network could use it.
    #[error(
        "cannot listen on {0}: only loopback addresses are allowed, such as 127.0.0.1:0, unless --allow-remote opens the guard to other machines"
    )]
    NotLoopback(SocketAddr),
    /// The run directory cannot be used.
    #[error("cannot use the run directory: {0}")]
    RunDir(FileError),
    /// A file of certificates cannot be used.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

/// A configuration that was checked.
pub(super) struct Checked {
    pub(super) config: Config,
    pub(super) run_dir: PathBuf,
    pub(super) way: Way,
}

impl Config {
    /// A configuration with the defaults: read-only, no signatures, any loopback port.
    pub fn new(run_dir: PathBuf, page_guard: Arc<str>) -> Self {
        Self {
            run_dir,
            run_id: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            policy: Policy::read_only(),
            mutation: MutationConfig::default(),
            upstream: WayOptions::default(),
            max_body: MAX_BODY,
            drain: DRAIN,
            on_block: OnBlock::default(),
            allow_remote: false,
            page_guard,
            inside: None,
        }
    }

    pub(super) fn check(self) -> Result<Checked, ConfigError> {
        if !self.allow_remote && !self.listen.ip().is_loopback() {
            return Err(ConfigError::NotLoopback(self.listen));
        }
        let way = Way::read(&self.upstream)?;
        files::create_folder(&self.run_dir).map_err(ConfigError::RunDir)?;
        let run_dir = files::canonical(&self.run_dir).map_err(ConfigError::RunDir)?;
        Ok(Checked { config: self, run_dir, way })
    }
}
