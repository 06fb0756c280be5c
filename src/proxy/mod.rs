//! The wire: accept, CONNECT, TLS, judge, forward, and the control API by which tests open and close their attempts.
//!
//! All of it runs on one thread with a runtime of its own: shared state is plain `Rc` and `RefCell`, and what crosses to
//! other threads is only what [`Guard`] shows. In the order in which a request meets them: `listen`, `tunnel`, `head`,
//! `conn`, `target`, `judge`, `forward`, `upstream`, `web_socket`; `respond` is where refusals and errors become answers.

mod attempts;
mod body;
mod config;
mod conn;
mod control;
mod cork;
mod credentials;
mod forward;
mod head;
mod hold;
mod judge;
mod listen;
mod names;
mod network;
mod note;
mod prefixed;
mod respond;
mod serve;
mod sniff;
mod spoil;
mod stats;
mod target;
mod task;
mod tls;
mod tunnel;
mod upstream;
mod web_socket;

/// For the fuzz targets, which read what the wire brings.
#[doc(hidden)]
pub use head::framing;
#[doc(hidden)]
pub use sniff::{connect, first_line};
#[doc(hidden)]
pub use web_socket::frames;

pub use config::{Config, ConfigError, DRAIN, MAX_BODY, OnBlock};
pub use names::{Authority, NameError, Origin, Scheme};
pub use serve::{Guard, ProxyError, Ready, start};
pub use stats::{Begun, Counts};
pub use tls::CertificateError;
pub use upstream::{
    ClientCert, FetchError, Fetched, HostError, Trouble, TrustError, UpstreamError, UpstreamHost,
    UpstreamProxy, ViaError, Way, WayError, WayOptions, fetch,
};

use credentials::Credentials;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// What all connections of a proxy share.
struct Proxy {
    rules: Rc<crate::policy::Rules>,
    attempts: Rc<attempts::Attempts>,
    leaves: tls::Leaves,
    pool: upstream::Pool,
    network: network::Network,
    stats: Arc<stats::Stats>,
    spawner: task::Spawner,
    max_body: usize,
    drain: Duration,
    main_port: u16,
    /// The address that every port is bound to.
    address: IpAddr,
    token: String,
    /// What clients must send as `Proxy-Authorization`, where other machines reach the ports.
    credentials: Option<Credentials>,
    on_block: OnBlock,
    page_guard: Arc<str>,
}
