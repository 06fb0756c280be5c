//! The arguments that say how origins are reached, the same for every command that reaches them.

use crate::proxy::{OnBlock, WayError, WayOptions};
use clap::Args;
use std::path::PathBuf;

/// Says the proxy as `--upstream-proxy` does, for those who keep passwords out of the list of processes.
const PROXY: &str = "QA_PILOT_UPSTREAM_PROXY";

/// How origins are reached
#[derive(Args)]
pub(super) struct UpstreamArgs {
    /// Certificates (PEM) that origins may show beside those that the system trusts; may be given more than once
    #[arg(long, value_name = "FILE")]
    upstream_ca: Vec<PathBuf>,
    /// The proxy behind which origins are: http://[USER:PASSWORD@]HOST:PORT [default: $QA_PILOT_UPSTREAM_PROXY]
    ///
    /// This machine, and what NO_PROXY names, is reached directly.
    #[arg(long, value_name = "URL")]
    upstream_proxy: Option<String>,
    /// A certificate to show to a host, and its key (PEM, the chain behind the certificate); may be given more than once
    #[arg(long, value_name = "HOST=CERT,KEY")]
    client_cert: Vec<String>,
    /// A host whose certificate is not verified, never on production; may be given more than once
    #[arg(long, value_name = "HOST")]
    upstream_insecure: Vec<String>,
}

/// What a client sees of a blocked write.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum Block {
    /// 403 with the reason
    #[value(name = "403")]
    Answer,
    /// HTTP/2: the stream is reset; HTTP/1: a malformed head, then the end
    Reset,
}

impl From<Block> for OnBlock {
    fn from(block: Block) -> Self {
        match block {
            Block::Answer => Self::Answer,
            Block::Reset => Self::Reset,
        }
    }
}

impl UpstreamArgs {
    /// What they say, typed.
    pub(super) fn options(&self) -> Result<WayOptions, WayError> {
        let variable = |name| std::env::var(name).ok().filter(|text| !text.trim().is_empty());
        let proxy = self.upstream_proxy.clone().or_else(|| variable(PROXY));
        let no_proxy = variable("NO_PROXY").or_else(|| variable("no_proxy"));
        WayOptions::parse(
            self.upstream_ca.clone(),
            proxy.as_deref(),
            no_proxy.as_deref(),
            &self.client_cert,
            &self.upstream_insecure,
        )
    }

    /// As [`options`](Self::options), and what Node trusts beside the system's roots is trusted as well.
    pub(super) fn options_like_node(&self) -> Result<WayOptions, WayError> {
        let mut options = self.options()?;
        let extra = std::env::var_os("NODE_EXTRA_CA_CERTS").filter(|path| !path.is_empty());
        options.ca.extend(extra.map(PathBuf::from));
        Ok(options)
    }
}

impl std::fmt::Debug for UpstreamArgs {
    /// Without the proxy, whose URL may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpstreamArgs").field("upstream_ca", &self.upstream_ca).finish_non_exhaustive()
    }
}
