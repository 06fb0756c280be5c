//! `qa-pilot rules`: signature packs, how requests are judged, and a first list from a run.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::exit::Exit;
use crate::files;
use crate::host::profile::Profile;
use crate::model::{Policy, PolicyKind};
use crate::policy::{self, MutationConfig, packs};
use crate::render::{rules_json, rules_text, rules_yaml};
use crate::rules::check::{self, CheckError, Checked};
use crate::rules::{self, Described, Payload};

/// The largest body that `--body @FILE` reads, in bytes.
const BODY_CAP: u64 = 64 << 20;

/// Shows and checks signature packs, judges requests, suggests signatures
#[derive(Debug, Args)]
pub(super) struct Rules {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Lists the packs that a profile can take with mutation.packs
    #[command(after_help = "Exit codes: 0 printed.\n\nExample: qa-pilot rules list")]
    List,
    /// Prints a pack as it is shipped
    #[command(
        after_help = "Exit codes: 0 printed, 2 there is no such pack.\n\nExample: qa-pilot rules show graphql > my-graphql.yaml"
    )]
    Show {
        /// Its name, from `rules list`
        pack: String,
    },
    /// Holds packs against their own examples
    #[command(
        after_help = "Exit codes: 0 every example is judged as it says, 1 one is not, 2 a file cannot be read or is no pack.\n\n\
        Example: qa-pilot rules check my-graphql.yaml"
    )]
    Check {
        /// Pack files [default: the packs that are shipped]
        files: Vec<PathBuf>,
    },
    Judge(Judge),
    /// Prints a first list of signatures from the requests of a run that none named
    ///
    /// Each channel (an origin and the first segment of its paths) is denied as a whole, and what is named as a read is allowed.
    /// The output is YAML for a person to edit and to paste into the profile.
    #[command(
        after_help = "Exit codes: 0 printed (also when there is nothing to name), 2 the run left no list of such requests.\n\n\
        Example: qa-pilot rules suggest testing/checkout/runs/20261130T101500Z-checkout-3f2a91c > suggested.yaml"
    )]
    Suggest {
        /// The run directory
        run_dir: PathBuf,
    },
}

/// Says what the guard would do with requests, and which signatures spoke
///
/// What it refuses before it judges (two names for one host, framing that two servers would read differently) is not in a HAR.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 judged, 2 an input cannot be used.\n\n\
    Examples:\n  qa-pilot rules judge --profile qa-pilot.config.yaml --har trace.har\n  \
    qa-pilot rules judge --profile qa-pilot.config.yaml --request 'POST https://qa.shop.example/graphql' \\\n      \
    --header 'Content-Type: application/json' --body '{\"query\":\"{ orders { id } }\"}'")]
struct Judge {
    /// The host profile, for its mutation block
    #[arg(long, value_name = "FILE")]
    profile: PathBuf,
    /// What is declared: read-only, scoped-write or unrestricted
    #[arg(long, value_name = "POLICY", default_value = "read-only", value_parser = policy_kind)]
    policy: PolicyKind,
    /// The prefix, under scoped-write
    #[arg(long)]
    prefix: Option<String>,
    /// Judge every request of a HAR
    #[arg(long, value_name = "FILE", conflicts_with = "request", required_unless_present = "request")]
    har: Option<PathBuf>,
    /// Judge one request, as 'METHOD URL'
    #[arg(long, value_name = "REQUEST")]
    request: Option<String>,
    /// A header of it, as 'Name: value'; may be given more than once
    #[arg(long, value_name = "HEADER", conflicts_with = "har")]
    header: Vec<String>,
    /// Its body; @FILE reads it from a file
    #[arg(long, value_name = "TEXT", conflicts_with = "har")]
    body: Option<String>,
    /// One JSON object on stdout
    #[arg(long)]
    json: bool,
}

fn policy_kind(text: &str) -> Result<PolicyKind, String> {
    PolicyKind::parse(text).ok_or_else(|| "use read-only, scoped-write or unrestricted".to_owned())
}

impl Rules {
    pub(super) fn run(self) -> Exit {
        match self.command {
            Command::List => list(),
            Command::Show { pack } => show(&pack),
            Command::Check { files } => check(&files),
            Command::Judge(judge) => judge.run().unwrap_or_else(fault),
            Command::Suggest { run_dir } => suggest(&run_dir),
        }
    }
}

fn list() -> Exit {
    for name in packs::names() {
        match check::shipped(name) {
            Some(Ok(checked)) => super::data(rules_text::pack(name, &checked)),
            Some(Err(error)) => return fault(error.to_string()),
            None => {}
        }
    }
    Exit::Ok
}

fn show(name: &str) -> Exit {
    match packs::text(name) {
        Some(text) => {
            super::data(text);
            Exit::Ok
        }
        None => {
            let known: Vec<&str> = packs::names().collect();
            fault(format!("no signature pack is named {name}; there are {}", known.join(", ")))
        }
    }
}

fn check(paths: &[PathBuf]) -> Exit {
    let shipped = |name| Some((format!("proxy-rules/{name}.yaml"), check::shipped(name)?));
    let checked: Vec<(String, Result<Checked, CheckError>)> = if paths.is_empty() {
        packs::names().filter_map(shipped).collect()
    } else {
        paths.iter().map(|path| (path.display().to_string(), check::file(path))).collect()
    };
    let mut exit = Exit::Ok;
    for (file, checked) in &checked {
        match checked {
            Err(error) => {
                super::fault(error);
                exit = Exit::Usage;
            }
            Ok(checked) => {
                for failure in &checked.failures {
                    super::talk(rules_text::failure(file, failure));
                }
                match checked.failures.len() {
                    0 => super::data(format_args!("{file}: {} examples hold\n", checked.examples)),
                    _ if exit == Exit::Ok => exit = Exit::Refused,
                    _ => {}
                }
            }
        }
    }
    exit
}

fn suggest(run_dir: &Path) -> Exit {
    match rules::suggest(run_dir) {
        Ok(suggestion) => {
            super::data(rules_yaml::suggestion(&suggestion));
            if suggestion.channels.is_empty() {
                super::talk("every request by POST, PUT, PATCH or DELETE matched a signature");
            }
            Exit::Ok
        }
        Err(error) => fault(error.to_string()),
    }
}

impl Judge {
    fn run(&self) -> Result<Exit, String> {
        let policy = Policy::new(self.policy, self.prefix.clone()).map_err(|error| told(&error))?;
        let config = self.config()?;
        let write_signatures = config.write_signatures.len();
        let rules = policy::Rules::new(policy, config);
        let mut skipped = 0;
        let (places, requests): (Vec<Option<usize>>, Vec<Described>) = match (&self.har, &self.request) {
            (Some(har), _) => {
                let entries = rules::read_har(har).map_err(|error| error.to_string())?;
                skipped = entries.skipped;
                entries.requests.into_iter().map(|(index, request)| (Some(index), request)).unzip()
            }
            (None, Some(request)) => (vec![None], vec![self.described(request)?]),
            (None, None) => return Err("give --har or --request".to_owned()),
        };
        let judgements: Vec<_> = requests.iter().map(|request| rules::judge(&rules, request)).collect();
        if self.json {
            let bytes =
                rules_json::judgements(rules.policy(), write_signatures, &places, &judgements, skipped)
                    .map_err(|error| error.to_string())?;
            super::data(String::from_utf8_lossy(&bytes));
            return Ok(Exit::Ok);
        }
        judgements.iter().for_each(|judgement| super::data(rules_text::judgement(judgement)));
        if self.har.is_some() {
            super::talk_lines(rules_text::summary(&judgements, skipped));
        }
        Ok(Exit::Ok)
    }

    fn config(&self) -> Result<MutationConfig, String> {
        let checked = Profile::load(&self.profile).map_err(|error| error.to_string())?;
        checked.warnings.iter().for_each(|warning| super::talk(format!("warning: {warning}")));
        Ok(checked.profile.mutation.unwrap_or_default())
    }

    fn described(&self, request: &str) -> Result<Described, String> {
        let mut described = Described::parse(request).map_err(|error| error.to_string())?;
        for line in &self.header {
            described.header_line(line).map_err(|error| error.to_string())?;
        }
        match self.body.as_deref() {
            None => {}
            Some(text) => match text.strip_prefix('@') {
                Some(file) => {
                    let bytes = files::read_capped(Path::new(file), BODY_CAP);
                    described.body(Payload::Bytes(bytes.map_err(|error| error.to_string())?));
                }
                None => described.body(Payload::Bytes(text.as_bytes().to_vec())),
            },
        }
        Ok(described)
    }
}

/// What is wrong with the policy, in the words of the arguments.
fn told(error: &crate::model::PolicyError) -> String {
    error.to_string().replace("QA_PILOT_MUTATION.prefix", "--prefix")
}

fn fault(error: String) -> Exit {
    super::fault(error);
    Exit::Usage
}
