//! Files that one command reads, changes and puts back while another may do the same: ledgers, and the statuses where
//! there is no tracker.

use super::{FileError, create_folder, is_link, write_atomic};
use fs_err as fs;
use std::path::{Path, PathBuf};

/// A file that is held from its reading to its writing: who wants it meanwhile waits, so that no change is lost. Dropping
/// lets it go.
#[derive(Debug)]
pub struct Held {
    path: PathBuf,
    // The folder is locked and not the file, which every writing replaces by another.
    _folder: fs::File,
}

impl Held {
    /// Waits until nobody else holds the file at `path`, which may not be there yet; its folder is made.
    ///
    /// # Errors
    /// When it is a link, or its folder cannot be made or locked.
    pub fn take(path: &Path) -> Result<Self, FileError> {
        // A link would be replaced, and what it leads to would stay as it was.
        if is_link(path) {
            return Err(FileError::Link(path.to_owned()));
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        create_folder(folder)?;
        let folder = fs::File::open(folder)?;
        folder.file().lock()?;
        Ok(Self { path: path.to_owned(), _folder: folder })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces it in one step.
    ///
    /// # Errors
    /// When it cannot be written; then it is as it was.
    pub fn replace(&self, bytes: &[u8]) -> Result<(), FileError> {
        write_atomic(&self.path, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{FileError, read_capped};

    #[test]
    fn no_change_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/count");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let held = Held::take(&path).unwrap();
                        let mut bytes = read_capped(held.path(), 99).unwrap_or_default();
                        bytes.push(b'x');
                        held.replace(&bytes).unwrap();
                    }
                });
            }
        });
        assert_eq!(read_capped(&path, 99).unwrap().len(), 80);
    }

    #[test]
    fn a_link_and_a_folder_that_cannot_be_written_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        fs::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(matches!(Held::take(&link), Err(FileError::Link(_))), "one that leads nowhere");
        write_atomic(&target, b"1").unwrap();
        assert!(matches!(Held::take(&link), Err(FileError::Link(_))));
        assert_eq!(read_capped(&target, 9).unwrap(), b"1");
        // Nobody may write there, not even root.
        let error =
            Held::take(Path::new("/proc/ledger.json")).and_then(|held| held.replace(b"1")).unwrap_err();
        assert!(error.to_string().contains("/proc"), "{error}");
    }
}
