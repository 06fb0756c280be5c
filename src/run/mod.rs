//! The wrapper: build id, run directory, guard, test command, build id again, meta.json, report, gate.
//!
//! A run leaves one directory, `testing/<feature>/runs/<run id>/`. Whatever ends it early, no half-written file stays
//! there, and what stays is refused by the gate.

mod aftermath;
mod blocked;
pub mod build_id;
mod bundle;
mod child;
mod directory;
mod environment;
mod page_script;
mod plan;
mod playwright;
mod preflight;
mod run_log;
mod screen;
mod selection;
mod specs_file;
mod unguarded;
mod watch;

pub use blocked::{Blocked, BlockedEvent};
use build_id::BuildIdError;
pub use directory::RunDirectory;
pub use environment::GuardAddress;
pub use page_script::page_script;
pub use plan::{Plan, PlanError, Request};
pub use preflight::PreflightError;
pub use run_log::RunLog;
pub use screen::Screen;
pub use selection::Selection;

use crate::egress::Lock;
use crate::files::{self, FileError};
use crate::gate::{self, Decision};
use crate::host::spec_sha::SpecError;
use crate::model::{Fault, PolicyKind, RunId, RunKind, clock};
use crate::policy::{MutationConfig, UnsafeMethods};
use crate::proxy::{self, Config, Counts, Guard, OnBlock, ProxyError, TrustError, Way, WayOptions};
use crate::publish::ci::Ending;
use crate::report::{self, Report};
use child::Signals;
use directory::Facts;
use jiff::Timestamp;
use playwright::{CommandError, PlannedCommand};
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::Command;
use watch::watch;

/// As many seconds a run waits for one of its own to begin in.
const BEGUN_TOGETHER: u32 = 10;

/// What the guard of a run needs beyond the plan.
#[derive(Clone, Debug)]
pub struct WireOptions {
    /// How origins are reached.
    pub upstream: WayOptions,
    /// The most bytes of a body that are held to judge it.
    pub max_body: usize,
    /// How long requests in flight are waited for.
    pub drain: Duration,
    /// What a client sees of a blocked write.
    pub on_block: OnBlock,
}

/// Why nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// What is deployed is not known.
    #[error(transparent)]
    BuildId(#[from] BuildIdError),
    /// The run directory.
    #[error(transparent)]
    File(#[from] FileError),
    /// The feature's specs.json.
    #[error(transparent)]
    Specs(#[from] SpecError),
    /// The guard.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// Certificates to trust.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The host's signatures.
    #[error("the profile's mutation block cannot be used: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Mutation(Vec<Fault>),
    /// The test command.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// Signals cannot be listened to.
    #[error("cannot listen for signals: {0}")]
    Signals(io::Error),
    /// The egress lock is made, and there is no way to start a command in it.
    #[error("cannot find this program, which starts the command in the egress lock: {0}")]
    Own(io::Error),
    /// The test command did not start.
    #[error("cannot run `{program}`: {error}")]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        error: io::Error,
    },
}

/// How a run ended.
#[derive(Debug)]
pub struct Outcome {
    /// Its directory.
    pub directory: RunDirectory,
    /// What the run was for.
    pub kind: RunKind,
    /// Which cases it was for.
    pub selection: Selection,
    /// What the guard counted.
    pub counts: Counts,
    /// The derived report; none when the command left no results.
    pub report: Option<Report>,
    /// What the gate says; none when there is no report, or the run is one shard of several.
    pub decision: Option<Decision>,
    /// How a pipeline ends; only of a run of that kind.
    pub ending: Option<Ending>,
    /// Whether it ran only a part of the tests, so that the gate is left to the merged run.
    pub sharded: bool,
    /// What was blocked, test by test.
    pub blocked: Blocked,
    /// What a person should know, a line each.
    pub notes: Vec<String>,
    /// The signal that ended the run early.
    pub interrupted: Option<u8>,
    /// How the command ended.
    pub status: ExitStatus,
    /// Whether the tests had no way out but the guard.
    pub egress_locked: bool,
}

impl Outcome {
    /// Whether the run did what it was for: publishable without a failed or flaky case, or, for a kind that never
    /// publishes and for a shard, green; and the command said so too.
    pub fn is_success(&self) -> bool {
        let green = match (self.kind, &self.ending) {
            (RunKind::Ci, ending) => matches!(ending, Some(Ending::Ok(_))),
            _ => self.report.as_ref().is_some_and(aftermath::is_green),
        };
        let published = match (&self.decision, self.kind) {
            (Some(decision), RunKind::Verdict) => decision.is_ok(),
            (None, RunKind::Verdict) => self.sharded,
            (_, RunKind::Stabilization | RunKind::Ci) => true,
        };
        green && published && self.interrupted.is_none() && self.status.success()
    }
}

/// Runs the plan to its end, within `lock` where there is one: whatever happens to the tests, the directory is left whole.
///
/// # Errors
/// When nothing could be run. Then there is no run directory, or one without results, which the gate refuses.
pub async fn run(
    plan: &Plan,
    wire: &WireOptions,
    mut lock: Option<Lock>,
    screen: Option<Screen>,
) -> Result<Outcome, RunError> {
    let mutation = match &plan.mutation {
        Some(block) => MutationConfig::parse(block).map_err(RunError::Mutation)?,
        None => MutationConfig::default(),
    };
    let mut signals = Signals::listen().map_err(RunError::Signals)?;
    let unsigned = mutation.write_signatures.is_empty() && mutation.unsafe_methods == UnsafeMethods::Ignore;
    let bundles = bundle::named_in_environment();
    let way = Way::read(&wire.upstream)?;
    let sha_before = build_id::read(&plan.sha_source, &way, build_id::TIMEOUT).await?;
    let (started, directory) = begin(plan, &sha_before).await?;
    let planned = plan.command(&directory.path)?;
    let script = page_script(&plan.policy, &mutation);
    let guard = proxy::start(Config {
        run_id: Some(directory.id.to_string()),
        policy: plan.policy.clone(),
        mutation,
        upstream: wire.upstream.clone(),
        max_body: wire.max_body,
        drain: wire.drain,
        on_block: wire.on_block,
        inside: lock.as_ref().map(Lock::sockets),
        ..Config::new(directory.path.clone(), script.into())
    })?;
    let bundle = bundle::write(&directory.path, &guard.ready().ca, &bundles)?;
    let helper = lock.as_ref().map(Lock::helper);
    let command = command(plan, &planned, &directory, &guard, &bundle, helper)?;
    let ended = watch(command, &guard, helper, screen, &mut signals).await.map_err(|error| {
        RunError::Start { program: planned.words.first().cloned().unwrap_or_default(), error }
    })?;
    let counts = guard.counts();
    let mut notes = plan.notes.clone();
    if unsigned && plan.policy.kind() != PolicyKind::Unrestricted {
        notes.push(
            "the profile declares no write signature, so no request counted as a write; declare mutation.write_signatures, mutation.packs or unsafe_methods: deny"
                .to_owned(),
        );
    }
    if counts.unclassified > 0 {
        notes.push(format!(
            "{} request(s) by POST, PUT, PATCH or DELETE matched no signature and passed; the records count them as unclassified",
            counts.unclassified
        ));
    }
    if !ended.status.success() && ended.interrupted.is_none() {
        notes.push(format!("the command ended with {}", ended.status));
    }
    // A signal may still come while the build is read for the second time.
    let mut interrupted = ended.interrupted;
    let opened = guard.opened();
    let (egress_locked, lock_held) = (lock.is_some(), lock.as_mut().is_none_or(Lock::is_sound));
    let stopped = guard.stop();
    drop(lock);
    let sha_after = tokio::select! {
        sha = build_id::read(&plan.sha_source, &way, build_id::TIMEOUT) => sha.unwrap_or_else(|error| {
            notes.push(format!("after the run: {error}"));
            String::new()
        }),
        number = signals.number(), if interrupted.is_none() => {
            interrupted = Some(number);
            String::new()
        }
    };
    let mut whole = interrupted.is_none();
    if !whole {
        notes.push("the run was interrupted and cannot be published; what it left is kept, and the same command runs it anew".to_owned());
    }
    if let Err(error) = stopped {
        notes.push(format!("the guard did not hold to the end, so this run proves nothing: {error}"));
        whole = false;
    }
    if !lock_held {
        notes.push("the helper of the egress lock did not hold to the end, so that tests could not reach the guard and this run proves nothing; run again".to_owned());
        whole = false;
    }
    if plan.is_guarded() {
        let unguarded = unguarded::tests(&directory.results(), opened);
        if !unguarded.is_empty() {
            notes.push(format!(
                "ran without the guard, so that nothing shows what they wrote: {}; let them import `test` from write-guard.ts",
                unguarded.join(", ")
            ));
            whole = false;
        }
    }
    let finished_at = clock::iso(clock::now());
    let facts = Facts { sha_before, sha_after, started_at: clock::iso(started), finished_at, whole };
    let meta = directory.write_meta(plan, &facts)?;
    let (report, decision) = judge(plan, &planned, &directory, &meta, &mut notes);
    let mut ending = None;
    if let Some(report) = &report {
        notes.extend(aftermath::notes(plan, report, planned.sharded));
        if let Err(error) = specs_file::merge(plan, &directory.results()) {
            notes.push(format!("where specs are was not noted: {error}"));
        }
        match aftermath::stability(plan, report, directory.id.as_str(), whole) {
            Ok(told) => notes.extend(told),
            Err(why) => notes.push(why),
        }
        ending = (plan.kind == RunKind::Ci).then(|| aftermath::ending(report));
    }
    let blocked = blocked::of_run(&directory.path);
    Ok(Outcome {
        directory,
        kind: plan.kind,
        selection: plan.selection.clone(),
        counts,
        report,
        decision,
        ending,
        sharded: planned.sharded,
        blocked,
        notes,
        interrupted,
        status: ended.status,
        egress_locked,
    })
}

/// Makes the run directory. A run's id tells the second in which it began, so that a run which began in the same one as
/// another waits for the next.
async fn begin(plan: &Plan, sha: &str) -> Result<(Timestamp, RunDirectory), RunError> {
    let mut patience = BEGUN_TOGETHER;
    loop {
        let started = clock::now();
        match RunDirectory::make(plan, RunId::new(started, &plan.feature, sha)) {
            Err(SpecError::File(FileError::Exists(_))) if patience > 0 => {
                patience -= 1;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            made => return Ok((started, made?)),
        }
    }
}

/// The test command with its environment; on Linux it is told to end when we are killed. With a `helper` it runs in the
/// egress lock that this process keeps, or not at all.
fn command(
    plan: &Plan,
    planned: &PlannedCommand,
    directory: &RunDirectory,
    guard: &Guard,
    bundle: &Path,
    helper: Option<u32>,
) -> Result<Command, RunError> {
    let (program, arguments) =
        planned.words.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let mut command = match (std::env::current_exe(), helper) {
        (Ok(own), _) if cfg!(target_os = "linux") => {
            let mut command = Command::new(own);
            command.arg("with-parent");
            if let Some(helper) = helper {
                command.arg("--inside").arg(helper.to_string());
            }
            command.arg(std::process::id().to_string()).arg("--").arg(program);
            command
        }
        (Err(error), Some(_)) => return Err(RunError::Own(error)),
        _ => Command::new(program),
    };
    command.args(arguments);
    for name in environment::REMOVED {
        command.env_remove(name);
    }
    let ready = guard.ready();
    let address = GuardAddress {
        control: &ready.control,
        token: &ready.token,
        ca: &ready.ca,
        ca_spki: &ready.ca_spki,
        run_dir: &directory.path,
        run_proxy: &ready.run_proxy,
    };
    let no_proxy = std::env::var("NO_PROXY").or_else(|_| std::env::var("no_proxy")).ok();
    command
        .envs(address.variables())
        .envs(environment::declared(&plan.policy, plan.mutation.as_ref(), &plan.feature, &directory.path))
        .envs(environment::proxies(&ready.run_proxy, no_proxy.as_deref()))
        .envs(bundle::VARIABLES.map(|name| (name, bundle)));
    if planned.playwright {
        command.env("PLAYWRIGHT_JSON_OUTPUT_FILE", directory.results());
    }
    // stdout is ours, for data; what the command prints is talk.
    command.stdout(Stdio::from(io::stderr()));
    Ok(command)
}

/// Report and gate over the finished directory.
fn judge(
    plan: &Plan,
    planned: &PlannedCommand,
    directory: &RunDirectory,
    meta: &Path,
    notes: &mut Vec<String>,
) -> (Option<Report>, Option<Decision>) {
    if !files::is_file(&directory.results()) {
        notes.push(if planned.playwright {
            "Playwright wrote no results.json (it does not when its config throws or it is killed), so there is nothing to report".to_owned()
        } else {
            format!(
                "the command left no results.json; let it write Playwright's JSON report to {}",
                directory.results().display()
            )
        });
        return (None, None);
    }
    let written = match report::write(&directory.results(), meta, None, None) {
        Ok(written) => written,
        Err(error) => {
            notes.push(error.to_string());
            return (None, None);
        }
    };
    // The gate says again what the report warned of, except where there is no gate.
    if planned.sharded {
        notes.extend(written.warnings);
        notes.push("this is one shard of a run; make one run of all shards with `qa-pilot merge`, then report and gate that".to_owned());
        return (Some(written.report), None);
    }
    let inputs = gate::Inputs {
        report: written.path,
        profile: plan.profile_path.clone(),
        statuses: Some(directory.path.join("statuses.json")),
        cases: Some(plan.cases_path.clone()),
        map: plan.map_path.clone(),
        base: None,
    };
    match gate::run(&inputs) {
        Ok(decision) => (Some(written.report), Some(decision)),
        Err(error) => {
            notes.push(format!("the gate cannot decide: {error}"));
            (Some(written.report), None)
        }
    }
}
