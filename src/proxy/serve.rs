//! Starting and stopping: one thread with a runtime of its own, and a [`Guard`] by which the rest of the program holds it.

use super::attempts::{Attempts, Port, Route, RunFacts, secret};
use super::config::{Checked, Config, ConfigError};
use super::control;
use super::credentials::Credentials;
use super::names::is_own_machine;
use super::network::Network;
use super::stats::{Begun, Counts, Stats};
use super::task::Spawner;
use super::tls::{CertificateAuthority, CertificateError, Leaves};
use super::upstream::{Dialer, Pool};
use super::{Proxy, listen};
use crate::files::{self, FileError};
use crate::policy::Rules;
use serde::Serialize;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, LocalOptions};
use tokio_util::sync::CancellationToken;

/// Where a running proxy is found.
#[derive(Clone, Debug, Serialize)]
pub struct Ready {
    /// The main port, which takes no proxy requests.
    pub proxy: String,
    /// The control API.
    pub control: String,
    /// Its bearer token.
    pub token: String,
    /// The proxy for what runs outside any attempt.
    pub run_proxy: String,
    /// The certificate to trust, as PEM.
    pub ca: PathBuf,
    /// The base64 SHA-256 of its public key.
    pub ca_spki: String,
    /// This process.
    pub pid: u32,
}

/// Why a proxy does not run, or did not end well.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// The configuration cannot be used; no port was bound.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No keys.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// No port, or no thread.
    #[error("cannot start the proxy: {0}")]
    Start(std::io::Error),
    /// The certificate, or a record at the end, cannot be written.
    #[error("cannot write to the run directory: {0}")]
    Write(FileError),
    /// No randomness for the token.
    #[error("cannot make a token: no randomness")]
    Token,
    /// Part of it panicked: what it guarded since then is not known.
    #[error("the proxy broke down while it was guarding; its records are not to be trusted")]
    BrokeDown,
}

/// A running proxy.
pub struct Guard {
    ready: Ready,
    stats: Arc<Stats>,
    stop: CancellationToken,
    panicked: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<FileError>>>,
}

/// Starts a proxy on a thread of its own.
///
/// # Errors
/// When the configuration cannot be used (then no port was bound), or the system refuses ports, threads or files.
pub fn start(config: Config) -> Result<Guard, ProxyError> {
    let checked = config.check()?;
    listen::raise_file_limit();
    let leaves = Leaves::new(CertificateAuthority::new()?)?;
    let token = secret().map_err(|_| ProxyError::Token)?;
    let (stats, stop, panicked) =
        (Arc::new(Stats::default()), CancellationToken::new(), Arc::new(AtomicBool::new(false)));
    let (report, reported) = mpsc::sync_channel(1);
    let (shared, ending, noted) = (stats.clone(), stop.clone(), panicked.clone());
    let thread = std::thread::Builder::new()
        .name("proxy".into())
        .spawn(move || run(checked, leaves, token, shared, ending, noted, report))
        .map_err(ProxyError::Start)?;
    match reported.recv() {
        Ok(Ok(ready)) => Ok(Guard { ready, stats, stop, panicked, thread: Some(thread) }),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(ProxyError::BrokeDown),
    }
}

impl Guard {
    /// Where it is found.
    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        self.stats.counts()
    }

    /// The attempts that tests opened so far.
    pub fn opened(&self) -> Vec<Begun> {
        self.stats.opened()
    }

    /// Whether it still guards. Once it does not, the run is not to be trusted.
    pub fn is_sound(&self) -> bool {
        !self.panicked.load(Ordering::Relaxed)
            && self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Stops accepting, waits for what is under way as long as the drain allows, writes what is unfinished, late and outside,
    /// and ends the thread.
    ///
    /// # Errors
    /// When a record could not be written, or the proxy had broken down.
    pub fn stop(mut self) -> Result<(), ProxyError> {
        let sound = self.is_sound();
        self.stop.cancel();
        let Some(thread) = self.thread.take() else { return Err(ProxyError::BrokeDown) };
        match thread.join() {
            Ok(errors) => match errors.into_iter().next() {
                Some(error) => Err(ProxyError::Write(error)),
                None if sound && !self.panicked.load(Ordering::Relaxed) => Ok(()),
                None => Err(ProxyError::BrokeDown),
            },
            Err(_) => Err(ProxyError::BrokeDown),
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // A guard that is dropped without `stop` has no one left to tell.
            let _ = thread.join();
        }
    }
}

fn run(
    checked: Checked,
    leaves: Leaves,
    token: String,
    stats: Arc<Stats>,
    stop: CancellationToken,
    panicked: Arc<AtomicBool>,
    report: mpsc::SyncSender<Result<Ready, ProxyError>>,
) -> Vec<FileError> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(4)
        .thread_keep_alive(Duration::from_secs(5))
        .build_local(LocalOptions::default());
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(async {
            match open(checked, leaves, token, stats, Spawner::new(panicked)).await {
                Ok(opened) => {
                    let ready = opened.ready.clone();
                    Ok((report.send(Ok(ready)).is_ok(), serve(opened, stop).await))
                }
                Err(error) => Err(error),
            }
        }),
        Err(error) => Err(ProxyError::Start(error)),
    };
    match outcome {
        Ok((_, errors)) => errors,
        Err(error) => {
            // Whoever started it is waiting for this.
            let _ = report.send(Err(error));
            Vec::new()
        }
    }
}

struct Opened {
    proxy: Rc<Proxy>,
    ready: Ready,
    main: TcpListener,
}

async fn open(
    checked: Checked,
    leaves: Leaves,
    token: String,
    stats: Arc<Stats>,
    spawner: Spawner,
) -> Result<Opened, ProxyError> {
    let Checked { config, run_dir, way } = checked;
    let network = Network::new(config.inside);
    let main = network.listen(config.listen).await.map_err(ProxyError::Start)?;
    let main_address = main.local_addr().map_err(ProxyError::Start)?;
    let bound = listen::bind_any(&network, config.listen.ip()).await;
    let (run_listener, run_number) = bound.map_err(ProxyError::Start)?;
    let ca = run_dir.join("ca.pem");
    files::write_atomic(&ca, leaves.authority().pem().as_bytes()).map_err(ProxyError::Write)?;
    let rules = Rc::new(Rules::new(config.policy, config.mutation));
    let main_port = main_address.port();
    let attempts = Rc::new(Attempts::new(
        RunFacts { dir: run_dir, id: config.run_id, egress_locked: network.is_locked() },
        config.drain,
        rules.clone(),
        stats.clone(),
        spawner.clone(),
        main_port,
    ));
    let owned = attempts.clone();
    let allow_remote = config.allow_remote;
    let is_own = move |address: SocketAddr| {
        let here = is_own_machine(address) || (allow_remote && is_local(address.ip()));
        here && owned.is_own(address.port())
    };
    // An address that stands for all of them is nowhere to connect to.
    let near = match main_address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let ready = Ready {
        proxy: format!("http://{}", SocketAddr::new(near, main_port)),
        control: format!("http://{}{}", SocketAddr::new(near, main_port), control::BASE),
        token: token.clone(),
        run_proxy: format!("http://{}", SocketAddr::new(near, run_number)),
        ca,
        ca_spki: leaves.authority().spki().to_owned(),
        pid: std::process::id(),
    };
    let proxy = Rc::new(Proxy {
        pool: Pool::new(Dialer::new(way, network.clone(), is_own), spawner.clone()),
        network,
        rules,
        attempts: attempts.clone(),
        leaves,
        stats,
        spawner,
        max_body: config.max_body,
        drain: config.drain,
        main_port,
        address: config.listen.ip(),
        credentials: config.allow_remote.then(|| Credentials::new(&token)),
        on_block: config.on_block,
        token,
        page_guard: config.page_guard,
    });
    let run_port = Port::new(run_number, Route::Run(attempts.outside().clone()));
    attempts.register(&run_port);
    control::open(&proxy, run_listener, run_port);
    Ok(Opened { proxy, ready, main })
}

/// Whether an address is one of this machine's: only those can be bound.
fn is_local(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

async fn serve(opened: Opened, stop: CancellationToken) -> Vec<FileError> {
    let Opened { proxy, main, .. } = opened;
    let sweeper = proxy.clone();
    proxy.spawner.spawn(async move { sweeper.pool.sweep().await });
    let calls = tokio_util::task::TaskTracker::new();
    let serving = proxy.clone();
    let (tracker, closed) = (calls.clone(), stop.clone());
    listen::accept(main, stop, move |socket| {
        let call = control::serve(serving.clone(), socket, closed.clone());
        serving.spawner.spawn(tracker.track_future(call));
    })
    .await;
    calls.close();
    drain(&proxy, &calls).await;
    proxy.attempts.stop()
}

/// Lets calls and requests that are under way come to their end, as long as the drain allows.
async fn drain(proxy: &Proxy, calls: &tokio_util::task::TaskTracker) {
    let deadline = tokio::time::Instant::now() + proxy.drain;
    let _ = tokio::time::timeout_at(deadline, calls.wait()).await;
    for port in proxy.attempts.ports() {
        port.close_when_idle(deadline.saturating_duration_since(tokio::time::Instant::now())).await;
    }
}
