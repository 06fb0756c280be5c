//! Where a shard's files are in the merged run.

use std::path::Path;

use crate::files;
use crate::host::meta::ShardMeta;
use crate::report::RunPaths;

/// A shard's folder and the paths that its results.json may use for it.
pub(super) struct Place {
    directory: String,
    paths: RunPaths,
}

impl Place {
    pub(super) fn new(run_dir: &Path, shard: &ShardMeta) -> Self {
        let paths =
            RunPaths::new(&run_dir.join(&shard.directory), &shard.run_id).formerly(&shard.merged_from);
        Self { directory: shard.directory.clone(), paths }
    }

    /// A path of the shard's results.json, relative to the merged run. None when it leads out of the shard's directory: it
    /// stays as it is, and the gate refuses it where it matters.
    pub(super) fn of(&self, raw: &str) -> Option<String> {
        let inner = self.paths.relative(raw);
        files::is_inner(&inner).then(|| format!("{}/{inner}", self.directory))
    }
}
