//! Paths of results.json, made relative to the run directory.
//!
//! Playwright writes the absolute paths of the machine that ran, POSIX or Windows. A run directory may since have moved:
//! a path below a folder named as the run is taken relative to that folder. Paths in a report always use `/`.

use std::path::Path;

use crate::files;

/// Where a run directory is, and what it was called where the tests ran.
#[derive(Clone, Debug)]
pub struct RunPaths {
    /// The directory as given and as the links lead, each as segments.
    roots: Vec<Vec<String>>,
    run_id: String,
}

impl RunPaths {
    /// Paths of the run `run_id` whose directory is now `run_dir`.
    pub fn new(run_dir: &Path, run_id: &str) -> Self {
        let mut roots = Vec::new();
        for root in [files::absolute(run_dir).ok(), files::canonical(run_dir).ok()].into_iter().flatten() {
            let root = segments(&root.to_string_lossy(), false);
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        Self { roots, run_id: run_id.to_owned() }
    }

    /// The same, and paths below `directory`, where the run was before.
    pub fn formerly(mut self, directory: &str) -> Self {
        self.roots.push(segments(directory, false));
        self
    }

    /// The run-relative form of a path. One that leads out of the run directory stays recognisable as such: it begins
    /// with `..` or with a drive.
    pub fn relative(&self, raw: &str) -> String {
        match Kind::of(raw) {
            Kind::Relative { windows } => segments(raw, windows).join("/"),
            Kind::Posix => {
                self.inside(&segments(raw, false)).unwrap_or_else(|| self.outside(&segments(raw, false)))
            }
            Kind::Windows => {
                let all = segments(raw, true);
                self.below_run_id(&all).unwrap_or_else(|| all.join("/"))
            }
        }
    }

    fn inside(&self, path: &[String]) -> Option<String> {
        let below_root = self.roots.iter().find_map(|root| path.strip_prefix(root.as_slice()));
        match below_root.filter(|rest| !rest.is_empty()) {
            Some(rest) => Some(rest.join("/")),
            None => self.below_run_id(path),
        }
    }

    fn below_run_id(&self, path: &[String]) -> Option<String> {
        if self.run_id.is_empty() {
            return None;
        }
        let at = path.iter().rposition(|segment| *segment == self.run_id)?;
        path.get(at + 1..).filter(|rest| !rest.is_empty()).map(|rest| rest.join("/"))
    }

    /// The way out of the run directory to `path`.
    fn outside(&self, path: &[String]) -> String {
        let root = self.roots.first().map(Vec::as_slice).unwrap_or_default();
        let shared = root.iter().zip(path).take_while(|(a, b)| a == b).count();
        let up = std::iter::repeat_n("..", root.len() - shared);
        let down = path.iter().skip(shared).map(String::as_str);
        // A path that is the run directory itself, or the root of the disk, names no file in it.
        let way: Vec<&str> = up.chain(down).collect();
        if way.is_empty() { "..".to_owned() } else { way.join("/") }
    }
}

/// What a path looks like, whatever machine this is.
enum Kind {
    Posix,
    Windows,
    Relative { windows: bool },
}

impl Kind {
    fn of(raw: &str) -> Self {
        let bytes = raw.as_bytes();
        let has_drive = matches!(bytes, [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
        if has_drive || raw.starts_with("\\\\") {
            Self::Windows
        } else if raw.starts_with('/') {
            Self::Posix
        } else {
            Self::Relative { windows: raw.contains('\\') && !raw.contains('/') }
        }
    }
}

/// The segments of a path without `.` and with `..` resolved; what leads above the start keeps its `..` when the path is
/// relative.
fn segments(raw: &str, windows: bool) -> Vec<String> {
    let absolute = raw.starts_with('/');
    let mut out: Vec<String> = Vec::new();
    for segment in raw.split(|c| c == '/' || (windows && c == '\\')) {
        match segment {
            "" | "." => {}
            ".." if out.last().is_some_and(|last| last != "..") => {
                out.pop();
            }
            ".." if absolute => {}
            other => out.push(other.to_owned()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(raw: &str) -> String {
        RunPaths::new(Path::new("/srv/runs/RUN-1"), "RUN-1").relative(raw)
    }

    #[test]
    fn below_the_directory_and_below_its_former_place() {
        assert_eq!(relative("/srv/runs/RUN-1/test-results/a/trace.zip"), "test-results/a/trace.zip");
        assert_eq!(relative("/home/ci/x/RUN-1/test-results/a/trace.zip"), "test-results/a/trace.zip");
        assert_eq!(relative("/srv/runs/RUN-1/./a/../b/trace.zip"), "b/trace.zip");
        assert_eq!(
            relative("/srv/runs/RUN-1/x/RUN-1/trace.zip"),
            "x/RUN-1/trace.zip",
            "where it is now comes first"
        );
    }

    #[test]
    fn below_a_place_that_is_named_otherwise() {
        let paths = RunPaths::new(Path::new("/srv/merged/shard-1"), "RUN-1").formerly("/home/ci/one");
        assert_eq!(paths.relative("/home/ci/one/test-results/a/trace.zip"), "test-results/a/trace.zip");
        assert_eq!(paths.relative("/x/RUN-1/a/trace.zip"), "a/trace.zip");
        assert!(!files::is_inner(&paths.relative("/home/ci/two/trace.zip")));
    }

    #[test]
    fn windows_paths() {
        assert_eq!(relative(r"C:\Users\x\runs\RUN-1\test-results\a\trace.zip"), "test-results/a/trace.zip");
        assert_eq!(relative(r"\\server\share\RUN-1\a\trace.zip"), "a/trace.zip");
        assert_eq!(relative("C:/Users/RUN-1/a/trace.zip"), "a/trace.zip");
        assert_eq!(relative(r"C:\Users\x\trace.zip"), "C:/Users/x/trace.zip");
        assert_eq!(relative(r"test-results\a\trace.zip"), "test-results/a/trace.zip");
    }

    #[test]
    fn what_leads_out_stays_recognisable() {
        for raw in [
            "/srv/runs/RUN-2/trace.zip",
            "../RUN-2/trace.zip",
            "a/../../x",
            "/etc/passwd",
            "/srv/runs/RUN-1/../RUN-2/t",
            "/srv/runs/RUN-1",
            "/",
            "/home/RUN-1/../x",
            r"C:\x",
            r"..\..\x",
        ] {
            assert!(!files::is_inner(&relative(raw)), "{raw} became {}", relative(raw));
        }
        assert_eq!(relative("/srv/runs/RUN-2/trace.zip"), "../RUN-2/trace.zip");
    }

    #[test]
    fn relative_paths_stay() {
        assert_eq!(relative("./test-results/a/trace.zip"), "test-results/a/trace.zip");
        assert_eq!(relative("a\\b/c"), "a\\b/c", "a backslash is a letter on POSIX");
    }

    proptest::proptest! {
        #[test]
        fn no_path_panics_or_has_odd_segments(raw in r"[/\\:.a-cRUN\-1]{0,40}") {
            let way = relative(&raw);
            proptest::prop_assert!(!way.split('/').any(|segment| segment == "."), "{}", way);
        }

        #[test]
        fn twice_is_once(raw in r"[/.a-cRUN\-1]{0,40}") {
            let once = relative(&raw);
            if files::is_inner(&once) {
                proptest::prop_assert_eq!(relative(&once), once);
            }
        }
    }
}
