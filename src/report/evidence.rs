//! Digests of traces. They are the bulk of a run directory, so all cores share the work; each file is read once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::files::{self, FileError, Root};
use crate::model::Digest;

/// The digest of each file at a path relative to `run_dir`. A path that leaves the directory is not followed.
pub fn digests(
    run_dir: &Path,
    paths: impl IntoIterator<Item = String>,
) -> BTreeMap<String, Result<Digest, FileError>> {
    let paths: Vec<String> = paths.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let workers = thread::available_parallelism().map_or(1, usize::from).min(paths.len());
    let root = Root::new(run_dir);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            let digest = root.resolve(path).and_then(|found| files::sha256(&found));
            done.push((path.clone(), digest));
        }
        done
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut all: BTreeMap<_, _> = work().into_iter().collect();
        for other in others {
            // A worker holds no code that panics; one that did would leave its paths without a digest.
            all.extend(other.join().unwrap_or_default());
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_gets_its_own_digest() {
        let folder = tempfile::tempdir().unwrap();
        let mut paths: Vec<String> = (0..50).map(|n| format!("{n}/trace.zip")).collect();
        for path in &paths {
            files::write_atomic(&folder.path().join(path), path.as_bytes()).unwrap();
        }
        paths.extend(["gone".to_owned(), "../x".to_owned(), "0/trace.zip".to_owned()]);
        let found = digests(folder.path(), paths.clone());
        assert_eq!(found.len(), 52);
        for (path, digest) in found {
            match digest {
                Ok(digest) => assert_eq!(digest, Digest::of(path.as_bytes())),
                Err(_) => assert!(path == "gone" || path == "../x"),
            }
        }
        assert!(digests(folder.path(), []).is_empty());
    }
}
