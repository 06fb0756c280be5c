//! Where records go in the run directory.

use crate::files::{self, FileError};
use std::path::{Component, Path, PathBuf};

/// The file name of every record that counts.
pub const WRITES: &str = "writes.json";

/// The file name of a record of harmless traffic outside attempts.
pub const OUTSIDE: &str = "outside.json";

/// Folders of the run directory that no attempt may write to.
const RESERVED: [&str; 4] = ["fixtures", "outside", "late", "unfinished"];

/// Why an `output_dir` is refused.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// It leads out of the run directory.
    #[error(
        "output_dir {output} is not in the run directory {run}; set `outputDir` of the Playwright config to a folder in it"
    )]
    Outside {
        /// As it was given.
        output: String,
        /// The run directory.
        run: String,
    },
    /// It is one of the guard's own folders.
    #[error(
        "output_dir {0} is in a folder that the guard keeps for itself; set `outputDir` of the Playwright config to another one"
    )]
    Reserved(String),
    /// It cannot be looked at or made.
    #[error("output_dir cannot be used: {0}")]
    File(#[from] FileError),
}

/// The real path of an attempt's output folder, which is made when it is missing. `run_dir` is a real path already.
///
/// # Errors
/// When it is outside the run directory, in a reserved folder, or cannot be made.
pub fn output_dir(run_dir: &Path, output: &str) -> Result<PathBuf, PlaceError> {
    let wanted = files::absolute(Path::new(output))?;
    let real = real_path(&wanted)?;
    let outside = || PlaceError::Outside { output: output.into(), run: run_dir.display().to_string() };
    if output.is_empty() {
        return Err(outside());
    }
    let inner = real.strip_prefix(run_dir).map_err(|_| outside())?;
    if let Some(Component::Normal(first)) = inner.components().next()
        && RESERVED.iter().any(|name| first.eq_ignore_ascii_case(name))
    {
        return Err(PlaceError::Reserved(output.into()));
    }
    files::create_folder(&real)?;
    Ok(real)
}

/// Makes the folder of the record at `path`, a path below the real path `run_dir` without links, and looks whether it is still
/// without any.
///
/// # Errors
/// When a link has taken a folder's place, or the folder cannot be made.
pub fn still_inside(run_dir: &Path, path: &Path) -> Result<(), FileError> {
    let folder = path.parent().unwrap_or(run_dir);
    let moved = || FileError::Escapes { path: path.display().to_string(), root: run_dir.to_owned() };
    // A link is seen before anything is made behind it.
    if real_path(folder)? != folder {
        return Err(moved());
    }
    files::create_folder(folder)?;
    if files::canonical(folder)? == folder { Ok(()) } else { Err(moved()) }
}

/// Follows the links of the part that exists; the rest holds none yet.
fn real_path(path: &Path) -> Result<PathBuf, FileError> {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        match files::canonical(existing) {
            Ok(real) => return Ok(missing.iter().rev().fold(real, |path, name| path.join(name))),
            Err(error @ FileError::Missing(_)) => match (existing.parent(), existing.file_name()) {
                (Some(parent), Some(name)) => {
                    missing.push(name.to_owned());
                    existing = parent;
                }
                _ => return Err(error),
            },
            Err(error) => return Err(error),
        }
    }
}

/// The file of the `n`th record in `folder`.
pub fn numbered(folder: &Path, n: u64, name: &str) -> PathBuf {
    match n {
        0 | 1 => folder.join(name),
        _ => folder.join(format!("writes-{n}")).join(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_run_directory_and_not_the_guards_folders() {
        let folder = tempfile::tempdir().unwrap();
        let run = files::canonical(folder.path()).unwrap().join("run");
        files::create_folder(&run).unwrap();
        let at = |path: &str| output_dir(&run, &run.join(path).display().to_string());
        assert_eq!(at("results/a b/../c").unwrap(), run.join("results/c"));
        assert!(run.join("results/c").is_dir());
        for path in
            ["..", "../other", "a/../../other", "fixtures", "Outside/x", "late/a", "unfinished", "a/../late"]
        {
            assert!(at(path).is_err(), "{path}");
        }
        assert!(!run.join("../other").exists());
        assert!(output_dir(&run, "").is_err());
        assert!(output_dir(&run, "relative").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_first() {
        let folder = tempfile::tempdir().unwrap();
        let root = files::canonical(folder.path()).unwrap();
        files::create_folder(&root.join("run")).unwrap();
        files::create_folder(&root.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere"), root.join("run/link")).unwrap();
        std::os::unix::fs::symlink(root.join("run"), root.join("alias")).unwrap();
        let at = |path: &str| output_dir(&root.join("run"), &root.join(path).display().to_string());
        assert!(at("run/link/a").is_err());
        assert_eq!(at("alias/a").unwrap(), root.join("run/a"));
    }

    #[test]
    fn later_records_have_folders_of_their_own() {
        let folder = Path::new("/r/a");
        assert_eq!(numbered(folder, 1, WRITES), Path::new("/r/a/writes.json"));
        assert_eq!(numbered(folder, 3, WRITES), Path::new("/r/a/writes-3/writes.json"));
    }
}
