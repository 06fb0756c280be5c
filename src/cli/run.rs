//! `qa-pilot run`: a guarded run of a test command, with its report and the gate's decision.

use super::upstream_args::{Block, UpstreamArgs};
use crate::egress::Lock;
use crate::exit::Exit;
use crate::model::RunKind;
use crate::proxy;
use crate::render::{run_json, run_plan, run_text};
use crate::run::{self, Plan, Request, Screen, WireOptions};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Runs a test command under the guard, then reports and gates
///
/// Makes the run directory testing/FEATURE/runs/RUN_ID beside the profile, starts the guard with the policy that the
/// feature's cases.yaml declares, runs the command, reads the deployed build before and after, writes meta.json and
/// report.json, and gates. To a Playwright command it adds the JSON reporter, the output folder and the trace mode;
/// another command must leave Playwright's JSON report in $QA_PILOT_RUN_DIR/results.json.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 publishable and no case failed or was flaky; 1 refused, or a case failed or was flaky; 2 an input fault, nothing ran; 130 and 143 on signals.\n\n\
    Example: qa-pilot run --feature checkout --env qa -- npx playwright test specs/checkout"
)]
pub(super) struct Run {
    /// The feature: testing/FEATURE holds its cases.yaml
    #[arg(long)]
    feature: String,
    /// The environment, as registered in the profile
    #[arg(long)]
    env: String,
    /// The app; needed when the environment has several
    #[arg(long)]
    app: Option<String>,
    /// The host profile
    #[arg(long, value_name = "FILE", default_value = "qa-pilot.config.yaml")]
    profile: PathBuf,
    /// What the run is for [default: stabilization in the sandbox and on the profile's stabilization.env, else verdict]
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// The statuses that hold now [default: testing/FEATURE/runs/statuses.json, else testing/FEATURE/statuses.json]
    #[arg(long, value_name = "FILE")]
    statuses: Option<PathBuf>,
    /// Who runs it [default: the user's name]
    #[arg(long, value_name = "NAME")]
    executor: Option<String>,
    /// Run cases as well that were set aside as flaky
    #[arg(long)]
    include_quarantined: bool,
    /// Say what would run, and run nothing
    #[arg(long)]
    dry_run: bool,
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
    /// Whether the command runs in a network of its own that holds only loopback and the guard (Linux; default off)
    ///
    /// What goes past the proxy then reaches nothing: raw sockets, bypass lists, UDP, DNS. Servers that the command starts
    /// are reached on its own loopback; those outside only through the guard. Unix sockets in the file system (X11, D-Bus,
    /// Docker) still lead outside. `auto` says on stderr whether the kernel allows it; `on` runs nothing where it does not.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = LockEgress::Off, hide_default_value = true)]
    lock_egress: LockEgress,
    /// Tell the outcome as one JSON object on stdout
    #[arg(long)]
    json: bool,
    /// The test command
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// Its verdicts are meant to be published
    Verdict,
    /// Shows that new specs are stable; never publishable
    Stabilization,
    /// Guards a branch; never publishable
    Ci,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LockEgress {
    /// It shares the machine's network
    Off,
    /// Where the kernel allows it
    Auto,
    /// Always, or nothing runs
    On,
}

impl LockEgress {
    /// Makes the lock, where it is wanted and can be.
    fn lock(self) -> Result<Option<Lock>, String> {
        if self == Self::Off {
            return Ok(None);
        }
        match Lock::make() {
            Ok(lock) => {
                if self == Self::Auto {
                    super::talk("egress lock: on");
                }
                Ok(Some(lock))
            }
            Err(error) if self == Self::Auto => {
                super::talk(format_args!("egress lock: off: {error}"));
                Ok(None)
            }
            Err(error) => Err(format!("--lock-egress on: {error}")),
        }
    }
}

impl Run {
    pub(super) fn run(self) -> Exit {
        let kind = self.kind.map(|kind| match kind {
            Kind::Verdict => RunKind::Verdict,
            Kind::Stabilization => RunKind::Stabilization,
            Kind::Ci => RunKind::Ci,
        });
        let upstream = match self.upstream.options_like_node() {
            Ok(upstream) => upstream,
            Err(error) => return input_fault(error),
        };
        let insecure = upstream.insecure.iter().map(ToString::to_string).collect();
        let wire = WireOptions {
            upstream,
            max_body: self.max_body,
            drain: Duration::from_millis(self.drain_ms),
            on_block: self.on_block.into(),
        };
        let plan = Plan::of(Request {
            feature: self.feature,
            env: self.env,
            app: self.app,
            profile: self.profile,
            kind,
            statuses: self.statuses,
            executor: self.executor,
            include_quarantined: self.include_quarantined,
            insecure,
            command: self.command,
        });
        let plan = match plan {
            Ok(plan) => plan,
            Err(error) => return input_fault(error),
        };
        let lock = match self.lock_egress.lock() {
            Ok(lock) => lock,
            Err(error) => return input_fault(error),
        };
        if self.dry_run {
            let locked = lock.is_some();
            let plan = if self.json { run_plan::json(&plan, locked) } else { run_plan::text(&plan, locked) };
            super::data(plan);
            return Exit::Ok;
        }
        // The child must be started by the main thread, since the kernel tells it of that thread's end.
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return input_fault(error),
        };
        let outcome = match runtime.block_on(run::run(&plan, &wire, lock, Screen::of_stderr())) {
            Ok(outcome) => outcome,
            Err(error) => return input_fault(error),
        };
        super::talk_lines(run_text::outcome(&outcome));
        if self.json {
            super::data(run_json::outcome(&outcome));
        } else if outcome.report.is_some() {
            super::data(format_args!("{}\n", outcome.directory.path.join("report.json").display()));
        }
        match outcome.interrupted {
            Some(signal) => Exit::Signal(signal),
            None if outcome.is_success() => Exit::Ok,
            None => Exit::Refused,
        }
    }
}

fn input_fault(error: impl std::fmt::Display) -> Exit {
    super::fault(error);
    Exit::Usage
}
