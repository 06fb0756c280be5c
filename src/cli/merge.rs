//! `qa-pilot merge`: one run from the runs of its shards.

use std::path::PathBuf;

use clap::Args;

use crate::exit::Exit;
use crate::merge::{self, MergeError};

/// Makes one run from the runs of all its shards
///
/// Each shard ran under its own guard (`qa-pilot run ... -- npx playwright test --shard=1/2`). Their directories are kept
/// below the new one. They must agree on feature, environment, build, policy and kind, and none may be missing. Report and
/// gate the new directory as that of any run.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 merged, 1 they are not the shards of one run, 2 an input or the new directory cannot be used.\n\n\
    Example: qa-pilot merge --into runs/R runs/R1 runs/R2 && qa-pilot report runs/R/results.json runs/R/meta.json"
)]
pub(super) struct Merge {
    /// The new run directory; it must not exist yet
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// The run directories of all shards, in any order
    #[arg(required = true, value_name = "RUN_DIR")]
    shards: Vec<PathBuf>,
}

impl Merge {
    pub(super) fn run(self) -> Exit {
        match merge::merge(&self.into, &self.shards) {
            Ok(merged) => {
                super::talk(format!("merged {} shard(s) into the run {}", merged.shards, merged.run_id));
                super::data(format!("{}\n", merged.path.display()));
                Exit::Ok
            }
            Err(error) => {
                super::fault(&error);
                match error {
                    MergeError::NotOneRun(_) => Exit::Refused,
                    _ => Exit::Usage,
                }
            }
        }
    }
}
