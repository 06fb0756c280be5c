//! The command line: one file a subcommand, with arguments, wiring and exit code. No logic.

mod bugs;
mod cases;
mod ci;
mod completions;
mod env;
mod gate;
mod init;
mod inside;
mod merge;
mod profile;
mod proxy;
mod publish;
mod report;
mod rules;
mod run;
mod say;
mod sha;
mod upstream_args;
mod with_parent;

use crate::exit::Exit;
use clap::{CommandFactory, Parser, Subcommand};

pub(crate) use say::{data, fault, talk, talk_lines};

/// Guards Playwright suites on shared environments and gates what they claim.
#[derive(Debug, Parser)]
#[command(
    name = "qa-pilot",
    version,
    about,
    after_help = "Exit codes: 0 done or publishable, 1 refused, 2 an input fault (nothing ran), 130 and 143 on signals."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bugs(bugs::Bugs),
    Cases(cases::Cases),
    Ci(ci::Ci),
    Completions(completions::Completions),
    Env(env::Env),
    Gate(gate::Gate),
    Init(init::Init),
    Merge(merge::Merge),
    Profile(profile::Profile),
    Proxy(proxy::Proxy),
    Publish(publish::Publish),
    Report(report::Report),
    Rules(rules::Rules),
    Run(run::Run),
    Sha(sha::Sha),
    #[command(hide = true)]
    Inside(inside::Inside),
    #[command(hide = true)]
    WithParent(with_parent::WithParent),
}

/// Parses the arguments, runs the command, and says how it ended.
pub fn main() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
            // Nothing is left to tell anyone when even this cannot be printed.
            let _ = error.print();
            return exit;
        }
    };
    log();
    match cli.command {
        Command::Bugs(command) => command.run(),
        Command::Cases(command) => command.run(),
        Command::Ci(command) => command.run(),
        Command::Completions(command) => command.run(Cli::command()),
        Command::Env(command) => command.run(),
        Command::Gate(command) => command.run(),
        Command::Init(command) => command.run(),
        Command::Merge(command) => command.run(),
        Command::Profile(command) => command.run(),
        Command::Proxy(command) => command.run(),
        Command::Publish(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Rules(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::Sha(command) => command.run(),
        Command::Inside(command) => command.run(),
        Command::WithParent(command) => command.run(),
    }
}

/// What goes wrong beside the outcome goes to stderr; `QA_PILOT_LOG=debug` shows every upstream fault.
fn log() {
    use tracing_subscriber::EnvFilter;
    let filter = EnvFilter::try_from_env("QA_PILOT_LOG").unwrap_or_else(|_| EnvFilter::new("qa_pilot=warn"));
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let ansi = !plain && std::io::IsTerminal::is_terminal(&std::io::stderr());
    // Another subscriber can only be there when a program other than ours calls this.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(ansi)
        .with_target(false)
        // It would tell them on stderr, and panic where that is a file on a full disk.
        .log_internal_errors(false)
        .try_init();
}
