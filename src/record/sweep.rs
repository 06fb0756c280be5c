//! Whether every record on the disk belongs to an attempt that the run reports.
//!
//! Playwright copies what is attached, so an original writes.json lies beside its attached copy. Each must pair off with a
//! listed file of the same bytes; one that does not belongs to an attempt that somebody dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::read::Records;
use crate::files::{self, FileId, RECORD_CAP, Root};
use crate::model::Digest;

/// The name of a record file.
const NAME: &str = "writes.json";
/// Where specs keep what they share; not records of attempts.
pub const FIXTURES: &str = "fixtures";

/// A record that no listed file accounts for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stray {
    /// Relative to the run directory, with `/`.
    pub path: String,
    /// Why it counts.
    pub why: String,
}

/// The strays below `run_dir`, in the order of their paths. `listed` are the paths that cases and fixtures name;
/// what lies in the folders `shared` is of no attempt.
pub fn sweep(run_dir: &Path, shared: &[String], listed: &[String], records: &mut Records) -> Vec<Stray> {
    let mut free: BTreeMap<Digest, usize> = BTreeMap::new();
    let mut own: BTreeSet<FileId> = BTreeSet::new();
    // A file that is listed twice is one file, and pairs once.
    for path in BTreeSet::from_iter(listed) {
        let reading = records.load(path);
        if let Some(digest) = reading.digest {
            *free.entry(digest).or_default() += 1;
        }
        own.extend(reading.file);
    }
    let root = Root::new(run_dir);
    let shared: Vec<PathBuf> = shared.iter().map(|folder| run_dir.join(folder)).collect();
    let mut strays = Vec::new();
    for entry in WalkDir::new(run_dir).sort_by_file_name() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().map(|path| relative(run_dir, path)).unwrap_or_default();
                strays.push(Stray { path, why: format!("cannot be looked into: {error}") });
                continue;
            }
        };
        // Records may lie behind it, and nobody looks there.
        if entry.path_is_symlink() && files::is_folder(entry.path()) && root.is_left_by(entry.path()) {
            let path = relative(run_dir, entry.path());
            strays.push(Stray { path, why: "is a link to a folder outside the run directory".to_owned() });
            continue;
        }
        if entry.file_name() != NAME
            || entry.file_type().is_dir()
            || shared.iter().any(|folder| entry.path().starts_with(folder))
        {
            continue;
        }
        let path = relative(run_dir, entry.path());
        if !entry.file_type().is_file() {
            strays.push(Stray { path, why: "is no regular file".to_owned() });
            continue;
        }
        if files::identity(entry.path()).is_ok_and(|file| own.contains(&file)) {
            continue;
        }
        match files::read_capped(entry.path(), RECORD_CAP).map(|bytes| Digest::of(&bytes)) {
            Ok(digest) => match free.get_mut(&digest).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None => {
                    let mut why = "is a record that no reported attempt accounts for".to_owned();
                    let record = records.load(&path).record.as_ref();
                    if let Some(event) = record.and_then(|record| record.first_event.as_deref()) {
                        why.push_str(&format!("; it begins with: {event}"));
                    }
                    strays.push(Stray { path, why });
                }
            },
            Err(error) => strays.push(Stray { path, why: error.to_string() }),
        }
    }
    strays
}

fn relative(run_dir: &Path, path: &Path) -> String {
    let inner = path.strip_prefix(run_dir).unwrap_or(path);
    inner.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strays(tree: &[(&str, &str)], listed: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in tree {
            files::write_atomic(&folder.path().join(path), text.as_bytes()).unwrap();
        }
        let listed: Vec<String> = listed.iter().map(|path| (*path).to_owned()).collect();
        let mut records = Records::new(folder.path());
        sweep(folder.path(), &[FIXTURES.to_owned()], &listed, &mut records)
            .into_iter()
            .map(|stray| stray.path)
            .collect()
    }

    #[test]
    fn an_original_pairs_with_its_copy() {
        let tree = [("a/writes.json", "1"), ("a/attachments/writes-json-x.json", "1")];
        assert!(strays(&tree, &["a/attachments/writes-json-x.json"]).is_empty());
        assert_eq!(strays(&tree, &[]), ["a/writes.json"]);
    }

    #[test]
    fn a_stray_says_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let record = r#"{"blocked":2,"observed":0,"events":[
            {"action":"block","kind":"request","method":"POST","url":"https://a.test/x","reason":"unsafe method POST"},
            {"action":"block","kind":"control","label":"Pay","reason":"pay"}]}"#;
        files::write_atomic(&folder.path().join("outside/writes.json"), record.as_bytes()).unwrap();
        let strays = sweep(folder.path(), &[], &[], &mut Records::new(folder.path()));
        assert_eq!(
            strays[0].why,
            "is a record that no reported attempt accounts for; it begins with: block POST https://a.test/x (unsafe method POST)"
        );
    }

    #[test]
    fn one_copy_accounts_for_one_original() {
        let tree = [("a/writes.json", "1"), ("b/writes.json", "1"), ("a/copy.json", "1")];
        assert_eq!(strays(&tree, &["a/copy.json"]), ["b/writes.json"]);
        assert_eq!(
            strays(&tree, &["a/copy.json", "a/copy.json"]),
            ["b/writes.json"],
            "listing it twice is no help"
        );
    }

    #[test]
    fn a_listed_record_is_its_own_account() {
        assert!(strays(&[("a/writes.json", "1")], &["a/writes.json"]).is_empty());
        assert!(strays(&[("a/writes.json", "1")], &["./a/writes.json"]).is_empty());
    }

    #[test]
    fn other_bytes_do_not_account() {
        let tree = [("a/writes.json", "1"), ("a/copy.json", "2")];
        assert_eq!(strays(&tree, &["a/copy.json"]), ["a/writes.json"]);
    }

    #[test]
    fn only_the_top_fixtures_folder_is_left_out() {
        let tree = [
            ("fixtures/writes.json", "1"),
            ("a/fixtures/writes.json", "1"),
            ("outside/x/writes.json", "1"),
            ("outside/y/outside.json", "1"),
        ];
        assert_eq!(strays(&tree, &[]), ["a/fixtures/writes.json", "outside/x/writes.json"]);
    }

    #[test]
    fn what_is_larger_than_any_record_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("writes.json");
        fs_err::File::create(path).unwrap().set_len(1 << 40).unwrap();
        let found = sweep(folder.path(), &[], &[], &mut Records::new(folder.path()));
        assert!(found[0].why.contains("is larger than 64 MiB"), "{found:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_a_link_out_hides_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        files::write_atomic(&folder.path().join("there/writes.json"), b"1").unwrap();
        files::write_atomic(&run.join("a/here.json"), b"1").unwrap();
        fs_err::os::unix::fs::symlink("a", run.join("latest")).unwrap();
        let links = || -> Vec<String> {
            let found = sweep(&run, &[], &["a/here.json".to_owned()], &mut Records::new(&run));
            found.into_iter().map(|stray| stray.path).collect()
        };
        assert!(links().is_empty(), "a link within the run directory leads to what is swept anyway");
        fs_err::os::unix::fs::symlink("../there", run.join("b")).unwrap();
        assert_eq!(links(), ["b"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_no_record() {
        let folder = tempfile::tempdir().unwrap();
        files::write_atomic(&folder.path().join("a.json"), b"1").unwrap();
        fs_err::os::unix::fs::symlink("a.json", folder.path().join("writes.json")).unwrap();
        let found = sweep(folder.path(), &[], &["a.json".to_owned()], &mut Records::new(folder.path()));
        assert_eq!(found.len(), 1);
    }
}
