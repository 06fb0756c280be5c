//! The only door to disk: capped reads, atomic writes, paths that stay inside a root.
//!
//! Every error names the path. A file that is not regular (a directory, a pipe, a device) is never read.

use crate::model::{Digest, Hasher};
use fs_err as fs;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

mod held;

pub use held::Held;

/// Files that people write: profiles, cases, statuses. Bytes.
pub const DECLARED_CAP: u64 = 8 << 20;
/// results.json and report.json: 512 MiB hold some 250,000 attempts.
pub const RESULTS_CAP: u64 = 512 << 20;
/// One writes.json: 10,000 events with long URLs fit many times over.
pub const RECORD_CAP: u64 = 64 << 20;

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is not there.
    #[error("{}: no such file", .0.display())]
    Missing(PathBuf),
    /// A directory, a pipe or a device.
    #[error("{}: is not a regular file", .0.display())]
    NotRegular(PathBuf),
    /// Larger than what is read at most; the cap in bytes.
    #[error("{}: is larger than {} MiB, the most that is read", .0.display(), .1 >> 20)]
    TooLarge(PathBuf, u64),
    /// Not UTF-8.
    #[error("{}: is not UTF-8 text", .0.display())]
    NotText(PathBuf),
    /// JSON that does not parse or has the wrong shape, with the place.
    #[error("{}: {message}", .path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The place and what is wrong.
        message: String,
    },
    /// A relative path that would leave its root.
    #[error("{path}: leaves {}", .root.display())]
    Escapes {
        /// The path as it was given.
        path: String,
        /// The folder in which it must stay.
        root: PathBuf,
    },
    /// The file is there and must not be replaced.
    #[error("{}: already exists and is never replaced", .0.display())]
    Exists(PathBuf),
    /// A link where a file of its own must be.
    #[error("{}: is a link and is not written through; name the file that it leads to", .0.display())]
    Link(PathBuf),
    /// Anything else; the message names the path.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Opens a regular file for reading, and says how large it is.
fn open(path: &Path) -> Result<(fs::File, u64), FileError> {
    // Asked before opening: opening a pipe would wait for its writer.
    let before = fs::metadata(path).map_err(|error| missing(error, path))?;
    if !before.is_file() {
        return Err(FileError::NotRegular(path.to_owned()));
    }
    let file = fs::File::open(path).map_err(|error| missing(error, path))?;
    let opened = file.metadata()?;
    if !opened.is_file() {
        return Err(FileError::NotRegular(path.to_owned()));
    }
    Ok((file, opened.len()))
}

fn missing(error: io::Error, path: &Path) -> FileError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileError::Missing(path.to_owned()),
        _ => FileError::Io(error),
    }
}

/// Reads a whole file of at most `cap` bytes.
///
/// # Errors
/// When it is missing, not regular, larger than `cap`, or unreadable.
pub fn read_capped(path: &Path, cap: u64) -> Result<Vec<u8>, FileError> {
    let (file, length) = open(path)?;
    if length > cap {
        return Err(FileError::TooLarge(path.to_owned(), cap));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(cap + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > cap {
        return Err(FileError::TooLarge(path.to_owned(), cap));
    }
    Ok(bytes)
}

/// Reads a whole UTF-8 file of at most `cap` bytes; a byte order mark is dropped.
///
/// # Errors
/// As [`read_capped`], or when the bytes are not UTF-8.
pub fn read_text(path: &Path, cap: u64) -> Result<String, FileError> {
    let text = String::from_utf8(read_capped(path, cap)?).map_err(|_| FileError::NotText(path.to_owned()))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Reads a JSON file of at most `cap` bytes into `T`.
///
/// # Errors
/// As [`read_capped`], or when it is no JSON of that shape; then the message names the place in the file.
pub fn read_json<T: DeserializeOwned>(path: &Path, cap: u64) -> Result<T, FileError> {
    parse_json(path, &read_capped(path, cap)?)
}

/// Reads JSON that was read from `path`.
///
/// # Errors
/// When it is no JSON of that shape; the message names the place in the file.
pub fn parse_json<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, FileError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let fault = |message| FileError::Json { path: path.to_owned(), message };
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let place = error.path().to_string();
        let inner = error.into_inner();
        fault(if place == "." { inner.to_string() } else { format!("{place}: {inner}") })
    })?;
    json.end().map_err(|error| fault(error.to_string()))?;
    Ok(value)
}

/// Whether anything is at `path`, be it a link that leads nowhere.
pub fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Whether a link is at `path`, wherever it leads.
pub fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_symlink())
}

/// Whether there is a regular file at `path`, links followed.
pub fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file())
}

/// Whether there is a folder at `path`, links followed.
pub fn is_folder(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_dir())
}

/// The size of a regular file in bytes.
///
/// # Errors
/// When it is missing or not regular.
pub fn size(path: &Path) -> Result<u64, FileError> {
    let found = fs::metadata(path).map_err(|error| missing(error, path))?;
    if found.is_file() { Ok(found.len()) } else { Err(FileError::NotRegular(path.to_owned())) }
}

/// What tells a file from every other, whatever its names: its device and its number there.
pub type FileId = (u64, u64);

/// The identity of a file, links followed: hard links to one file share it.
///
/// # Errors
/// When it is missing.
pub fn identity(path: &Path) -> Result<FileId, FileError> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(path).map_err(|error| missing(error, path))?;
    Ok((found.dev(), found.ino()))
}

/// Whether `path` is a regular file that may be executed, links followed.
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The digest of a regular file, read once in pieces.
///
/// # Errors
/// When it is missing, not regular, or unreadable.
pub fn sha256(path: &Path) -> Result<Digest, FileError> {
    let (mut file, _) = open(path)?;
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finish()),
            length => hasher.update(&buffer[..length]),
        }
    }
}

/// Replaces the file at `path` by `bytes` in one step: whoever reads it sees the old bytes or the new, never a part.
/// Missing parent folders are made.
///
/// # Errors
/// When the folder cannot be made or written; then nothing of the new file is left.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let (file, _) = written_beside(path, bytes)?;
    file.persist(path).map_err(|error| io::Error::other(format!("{}: {}", path.display(), error.error)))?;
    Ok(())
}

/// Writes a new file at `path` in one step and never replaces one.
///
/// # Errors
/// When a file is there already, or the folder cannot be made or written.
pub fn write_once(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let (file, _) = written_beside(path, bytes)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(FileError::Exists(path.to_owned()))
        }
        Err(error) => Err(io::Error::other(format!("{}: {}", path.display(), error.error)).into()),
    }
}

/// A finished, flushed temporary file in the folder of `path`.
fn written_beside<'a>(
    path: &'a Path,
    bytes: &[u8],
) -> Result<(tempfile::NamedTempFile, &'a Path), FileError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::create_dir_all(folder)?;
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".qa-pilot-").suffix(".tmp");
    // A temporary file is private by default; a record is as readable as the umask says.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(named)?;
    file.write_all(bytes).map_err(named)?;
    file.as_file().sync_data().map_err(named)?;
    Ok((file, folder))
}

/// Pretty JSON with a final newline: how every JSON file of ours is laid out.
pub fn json_bytes<T: serde::Serialize>(value: &T) -> Result<Vec<u8>, FileError> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(io::Error::from)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Makes a folder and its parents.
///
/// # Errors
/// When it cannot be made.
pub fn create_folder(path: &Path) -> Result<(), FileError> {
    Ok(fs::create_dir_all(path)?)
}

/// Makes a folder that must not exist yet; its parent must.
///
/// # Errors
/// When something is there already, or it cannot be made.
pub fn create_new_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => FileError::Exists(path.to_owned()),
        _ => FileError::Io(error),
    })
}

/// An empty folder beside `path`, which [`publish`] moves there once it is whole; dropped before, it goes away.
///
/// # Errors
/// When it cannot be made.
pub fn stage(path: &Path) -> Result<tempfile::TempDir, FileError> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    create_folder(parent)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".qa-pilot-").suffix(".tmp");
    // A temporary folder is private by default; a run directory is as readable as the umask says.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", parent.display()));
    Ok(builder.tempdir_in(parent).map_err(named)?)
}

/// Moves a folder that was staged to its place, where nothing may be.
///
/// # Errors
/// When something is there, or it cannot be moved.
pub fn publish(staged: tempfile::TempDir, path: &Path) -> Result<(), FileError> {
    if is_there(path) {
        return Err(FileError::Exists(path.to_owned()));
    }
    fs::rename(staged.path(), path)?;
    // Nothing of that name is left to be cleared away.
    let _ = staged.keep();
    Ok(())
}

/// Opens a new file for writing; its folder must exist.
///
/// # Errors
/// When something is there already, or it cannot be made.
pub fn create_new_file(path: &Path) -> Result<io::BufWriter<fs::File>, FileError> {
    match fs::File::create_new(path) {
        Ok(file) => Ok(io::BufWriter::new(file)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(FileError::Exists(path.to_owned())),
        Err(error) => Err(FileError::Io(error)),
    }
}

/// Copies a folder with all that is in it to `to`, which must not exist.
///
/// # Errors
/// When something cannot be read or written, or is neither a folder nor a regular file: a link is not followed.
pub fn copy_folder(from: &Path, to: &Path) -> Result<(), FileError> {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.map_err(io::Error::from)?;
        let target = match entry.path().strip_prefix(from) {
            Ok(inner) if inner.as_os_str().is_empty() => to.to_owned(),
            Ok(inner) => to.join(inner),
            Err(_) => return Err(FileError::NotRegular(entry.path().to_owned())),
        };
        if entry.file_type().is_dir() {
            create_new_folder(&target)?;
        } else if entry.file_type().is_file() {
            fs::copy(entry.path(), target)?;
        } else {
            return Err(FileError::NotRegular(entry.path().to_owned()));
        }
    }
    Ok(())
}

/// The real path of `path`, every link followed.
///
/// # Errors
/// When it does not exist.
pub fn canonical(path: &Path) -> Result<PathBuf, FileError> {
    fs::canonicalize(path).map_err(|error| missing(error, path))
}

/// Whether `text` is a path that, joined to a folder, stays below it: relative on POSIX and on Windows, and without a
/// `..` segment by either separator.
pub fn is_inner(text: &str) -> bool {
    let drive = text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic();
    !text.is_empty()
        && !text.starts_with(['/', '\\'])
        && !drive
        && !text.split(['/', '\\']).any(|segment| segment == "..")
}

/// A folder that paths must stay in; where it really is is asked once, for a run directory has thousands of files.
#[derive(Clone, Debug)]
pub struct Root {
    given: PathBuf,
    real: Option<PathBuf>,
}

impl Root {
    /// The folder `path`.
    pub fn new(path: &Path) -> Self {
        Self { given: path.to_owned(), real: canonical(path).ok() }
    }

    /// The path of `relative` below it, every link followed.
    ///
    /// # Errors
    /// When it does not exist, is absolute, has a `..` segment, or a link leads it out of the folder.
    pub fn resolve(&self, relative: &str) -> Result<PathBuf, FileError> {
        let escapes = || FileError::Escapes { path: relative.to_owned(), root: self.given.clone() };
        if !is_inner(relative) {
            return Err(escapes());
        }
        let root = self.real.as_ref().ok_or_else(|| FileError::Missing(self.given.clone()))?;
        let found = canonical(&root.join(relative))?;
        if found.starts_with(root) { Ok(found) } else { Err(escapes()) }
    }

    /// Whether a path that is there leads out of it, by a link.
    pub fn is_left_by(&self, path: &Path) -> bool {
        match (canonical(path), &self.real) {
            (Ok(found), Some(root)) => !found.starts_with(root),
            _ => true,
        }
    }
}

/// The path of `relative` below `root`, as [`Root::resolve`] gives it.
///
/// # Errors
/// As there.
pub fn resolve_inside(root: &Path, relative: &str) -> Result<PathBuf, FileError> {
    Root::new(root).resolve(relative)
}

/// `path` made absolute by the current folder, with `.` and `..` resolved by text alone, so that it may not exist yet.
///
/// # Errors
/// When the current folder is gone.
pub fn absolute(path: &Path) -> Result<PathBuf, FileError> {
    let mut out = PathBuf::new();
    for component in std::path::absolute(path)?.components() {
        match component {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_and_kinds() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        write_atomic(&file, b"hello").unwrap();
        assert_eq!(read_capped(&file, 5).unwrap(), b"hello");
        assert!(matches!(read_capped(&file, 4), Err(FileError::TooLarge(_, 4))));
        assert!(matches!(read_capped(folder.path(), 4), Err(FileError::NotRegular(_))));
        assert!(matches!(read_capped(&folder.path().join("b"), 4), Err(FileError::Missing(_))));
        assert!(matches!(read_capped(&file.join("b"), 4), Err(FileError::Missing(_))));
        assert_eq!(sha256(&file).unwrap(), Digest::of(b"hello"));
    }

    #[test]
    fn writes_make_folders_and_once_means_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x/y/z.json");
        write_once(&file, b"1").unwrap();
        assert!(matches!(write_once(&file, b"2"), Err(FileError::Exists(_))));
        assert_eq!(read_capped(&file, 9).unwrap(), b"1");
        write_atomic(&file, b"3").unwrap();
        assert_eq!(read_capped(&file, 9).unwrap(), b"3");
        let left: Vec<_> = fs::read_dir(file.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "no temporary file is left");
    }

    #[test]
    fn json_names_the_place() {
        #[derive(Debug, serde::Deserialize)]
        struct Shape {
            #[expect(dead_code)]
            list: Vec<u8>,
        }
        let error = parse_json::<Shape>(Path::new("f.json"), br#"{"list":[1,"x"]}"#).unwrap_err().to_string();
        assert!(error.starts_with("f.json: list[1]: "), "{error}");
        let error = parse_json::<Shape>(Path::new("f.json"), br#"{"list":[]} x"#).unwrap_err().to_string();
        assert!(error.contains("trailing characters"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn nothing_leaves_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("run");
        write_atomic(&root.join("in/a"), b"1").unwrap();
        write_atomic(&folder.path().join("out"), b"2").unwrap();
        fs::os::unix::fs::symlink(folder.path().join("out"), root.join("link")).unwrap();
        assert!(resolve_inside(&root, "in/a").is_ok());
        for path in ["../out", "in/../../out", "/etc/passwd", "link", "in\\..\\..\\out", "C:\\x", "", "\\x"] {
            assert!(resolve_inside(&root, path).is_err(), "{path}");
        }
    }
}
