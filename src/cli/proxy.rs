//! `qa-pilot proxy`: a guard that a person starts.

use super::upstream_args::{Block, UpstreamArgs};
use crate::exit::Exit;
use crate::files;
use crate::model::Policy;
use crate::policy::{MutationConfig, UnsafeMethods};
use crate::proxy::{self, Config, Guard, ProxyError};
use crate::run::page_script;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How often it is looked whether the guard still guards.
const LOOK: Duration = Duration::from_millis(250);

/// Guards requests until it is told to stop
#[derive(Debug, Args)]
#[command(
    after_help = "The policy comes from QA_PILOT_MUTATION and QA_PILOT_MUTATION_CONFIG; unset, it is read-only.\n\n\
    Example: qa-pilot proxy --run-dir testing/shop/runs/try --ready-file ready.json &"
)]
pub(super) struct Proxy {
    /// Where records go
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
    /// The main port's address, on loopback unless --allow-remote
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    #[command(flatten)]
    upstream: UpstreamArgs,
    /// The longest body in bytes that is held where a rule needs it
    #[arg(long, value_name = "BYTES", default_value_t = proxy::MAX_BODY)]
    max_body: usize,
    /// How long ends wait for what is under way
    #[arg(long, value_name = "MS", default_value_t = 2000)]
    drain_ms: u64,
    /// What a client sees of a blocked write: an answer, or a connection that fails
    #[arg(long, value_enum, default_value_t = Block::Answer)]
    on_block: Block,
    /// Let other machines in; every port then wants the user `run` with the token as the password
    #[arg(long)]
    allow_remote: bool,
    /// Writes the ready line to a file as well
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
    /// Stops when the process that started it ends
    #[arg(long)]
    exit_with_parent: bool,
}

/// Why it does not run.
enum Fault {
    /// Nothing was started.
    Input(String),
    /// It was started, or could have been.
    Work(String),
}

impl Proxy {
    pub(super) fn run(self) -> Exit {
        match self.guard() {
            Ok(exit) => exit,
            Err(Fault::Input(message)) => {
                super::fault(message);
                Exit::Usage
            }
            Err(Fault::Work(message)) => {
                super::fault(message);
                Exit::Refused
            }
        }
    }

    fn guard(self) -> Result<Exit, Fault> {
        let parent = self.exit_with_parent.then(follow_parent).transpose()?;
        let work = |error: std::io::Error| Fault::Work(error.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(work)?;
        let (ready_file, config) = (self.ready_file.clone(), self.config()?);
        let unsigned = config.mutation.write_signatures.is_empty()
            && config.mutation.unsafe_methods == UnsafeMethods::Ignore;
        // Signals count from before the port is bound.
        let mut signals = {
            let _entered = runtime.enter();
            Signals::listen().map_err(work)?
        };
        let guard = proxy::start(config).map_err(|error| match error {
            ProxyError::Config(error) => Fault::Input(error.to_string()),
            error => Fault::Work(error.to_string()),
        })?;
        if unsigned {
            super::talk(
                "warning: QA_PILOT_MUTATION_CONFIG names no write signature, so no request counts as a write; give it the profile's mutation block as JSON",
            );
        }
        let ready = serde_json::to_string(guard.ready()).map_err(|error| Fault::Work(error.to_string()))?;
        if let Some(path) = ready_file {
            let line = format!("{ready}\n");
            files::write_atomic(&path, line.as_bytes()).map_err(|error| Fault::Work(error.to_string()))?;
        }
        super::data(format_args!("{ready}\n"));
        if parent.is_some_and(|parent| parent.is_gone()) {
            return ended(guard.stop());
        }
        runtime.block_on(until_stopped(guard, &mut signals))
    }

    fn config(self) -> Result<Config, Fault> {
        let variable = |name: &str| match std::env::var(name) {
            Ok(text) => Ok(Some(text)),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => Err(Fault::Input(format!("{name} is not UTF-8"))),
        };
        let policy = Policy::from_env_json(variable("QA_PILOT_MUTATION")?.as_deref())
            .map_err(|error| Fault::Input(error.to_string()))?;
        let mutation = MutationConfig::from_env_json(variable("QA_PILOT_MUTATION_CONFIG")?.as_deref())
            .map_err(|faults| {
                let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
                Fault::Input(format!("QA_PILOT_MUTATION_CONFIG: {}", faults.join("; ")))
            })?;
        let script = page_script(&policy, &mutation);
        let drain = Duration::from_millis(self.drain_ms);
        Ok(Config {
            listen: self.listen,
            policy,
            mutation,
            upstream: self.upstream.options().map_err(|error| Fault::Input(error.to_string()))?,
            max_body: self.max_body,
            drain,
            on_block: self.on_block.into(),
            allow_remote: self.allow_remote,
            ..Config::new(self.run_dir, script.into())
        })
    }
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// The number of the next signal.
    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.terminate.recv() => 15,
            _ = self.interrupt.recv() => 2,
        }
    }
}

async fn until_stopped(guard: Guard, signals: &mut Signals) -> Result<Exit, Fault> {
    let mut look = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            _ = signals.next() => break,
            _ = look.tick() => {
                if !guard.is_sound() {
                    break;
                }
            }
        }
    }
    let stopping = tokio::task::spawn_blocking(move || guard.stop());
    tokio::select! {
        stopped = stopping => ended(stopped.unwrap_or(Err(ProxyError::BrokeDown))),
        // Whoever asks twice does not want to wait.
        number = signals.next() => exit_now(number),
    }
}

fn ended(stopped: Result<(), ProxyError>) -> Result<Exit, Fault> {
    stopped.map(|()| Exit::Ok).map_err(|error| Fault::Work(error.to_string()))
}

#[expect(clippy::exit, reason = "the runtime would wait for the thread that is still stopping")]
fn exit_now(number: u8) -> ! {
    std::process::exit(128 + i32::from(number))
}

/// The process that started this one.
struct Parent(Option<rustix::process::Pid>);

impl Parent {
    /// It ended before its end could be noticed.
    fn is_gone(&self) -> bool {
        rustix::process::getppid() != self.0
    }
}

#[cfg(target_os = "linux")]
fn follow_parent() -> Result<Parent, Fault> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    let parent = Parent(getppid());
    set_parent_process_death_signal(Some(Signal::TERM))
        .map_err(|error| Fault::Work(format!("cannot follow the parent process: {error}")))?;
    Ok(parent)
}

#[cfg(not(target_os = "linux"))]
fn follow_parent() -> Result<Parent, Fault> {
    Err(Fault::Input("--exit-with-parent works on Linux only".into()))
}
