//! `meta.json`, the identity of a run: `qa-pilot run` writes it, `qa-pilot report` copies it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::files::{self, DECLARED_CAP, FileError};
use crate::json;
use crate::model::Shard;

/// A run's identity. Key order is part of the format. What a run does not know is null; keys that we do not know are
/// left alone.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Meta {
    /// The run's id, also the name of its directory.
    pub run_id: Option<String>,
    /// `verdict`, `stabilization` or `ci`; only the first can publish.
    pub run_kind: Option<String>,
    /// The feature.
    pub feature: Option<String>,
    /// Which frontend.
    pub app: Option<String>,
    /// The registered environment.
    pub env_name: Option<String>,
    /// The URL of the app there.
    pub env_url: Option<String>,
    /// `qa`, `staging` or `production`.
    pub env_kind: Option<String>,
    /// `server`, or the host's sandbox value.
    pub api_mode: Option<String>,
    /// The deployed build, where it is not one of the next two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_sha: Option<String>,
    /// The build before the run.
    pub sha_before: Option<String>,
    /// The build after the run.
    pub sha_after: Option<String>,
    /// The URL that the build was read from.
    pub sha_source: Option<String>,
    /// `commit` or `build-id`.
    pub sha_format: Option<String>,
    /// `always`, `on-failure` or `off`.
    pub evidence_capture: Option<String>,
    /// The policy that the guard enforced.
    pub mutation_policy: Option<String>,
    /// The prefix under scoped-write; null otherwise.
    pub mutation_prefix: Option<String>,
    /// Who ran it.
    pub executor: Option<String>,
    /// The model that authored the specs.
    pub model_version: Option<String>,
    /// Playwright's version.
    pub playwright_version: Option<String>,
    /// The browser.
    pub browser: Option<String>,
    /// ISO 8601.
    pub started_at: Option<String>,
    /// ISO 8601.
    pub finished_at: Option<String>,
    /// Hosts whose certificates were not verified.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub upstream_insecure: Vec<String>,
    /// Which shard this is, as Playwright said at the end; none of a whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The shards that the run was merged from, in their order; none of a run that is its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<ShardMeta>,
}

/// A shard's run, kept whole below the directory of the merged run.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ShardMeta {
    /// The folder in the merged run's directory.
    pub directory: String,
    /// The id of the shard's run, which its records name.
    pub run_id: String,
    /// Where it was merged from; paths of its results.json may begin so.
    pub merged_from: String,
}

impl Meta {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read or is no object of this shape; the message names the place.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Self::parse(path, &files::read_capped(path, DECLARED_CAP)?)
    }

    /// Reads the bytes of the file at `path`.
    ///
    /// # Errors
    /// When they are no object of this shape.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, FileError> {
        // serde would read a list as the fields in their order.
        let value = json::parse(path, bytes)?;
        if !value.is_object() {
            return Err(FileError::Json { path: path.to_owned(), message: "is no object".to_owned() });
        }
        serde_path_to_error::deserialize(value).map_err(|error| FileError::Json {
            path: path.to_owned(),
            message: format!("{}: {}", error.path(), error.inner()),
        })
    }

    /// The deployed build: the one that is named, else the one after the run, else the one before.
    pub fn build(&self) -> Option<&str> {
        self.commit_sha.as_deref().or(self.sha_after.as_deref()).or(self.sha_before.as_deref())
    }

    /// The shard in whose directory a run-relative path lies; none where the run is no merged one.
    pub fn shard_of(&self, path: &str) -> Option<&ShardMeta> {
        self.shards
            .iter()
            .find(|shard| path.strip_prefix(&shard.directory).is_some_and(|rest| rest.starts_with('/')))
    }

    /// Whether the deployed build changed during the run: both are known and differ.
    pub fn sha_mismatch(&self) -> bool {
        sha_mismatch(self.sha_before.as_deref(), self.sha_after.as_deref())
    }
}

/// Whether two build ids are known and differ. A blank one is not known.
pub fn sha_mismatch(before: Option<&str>, after: Option<&str>) -> bool {
    let known = |sha: Option<&str>| sha.is_some_and(|sha| !sha.trim().is_empty());
    known(before) && known(after) && before != after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_leaves_unknown_keys_alone() {
        let meta = Meta { run_id: Some("r".into()), sha_before: Some("a".into()), ..Meta::default() };
        let bytes = files::json_bytes(&meta).unwrap();
        assert_eq!(Meta::parse(Path::new("meta.json"), &bytes).unwrap(), meta);
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("\"mutation_prefix\": null") && !text.contains("commit_sha"));
        let other =
            Meta::parse(Path::new("m"), br#"{"run_id":"r","sha_before":"a","ci":{"job":1}}"#).unwrap();
        assert_eq!(other, meta);
    }

    #[test]
    fn a_path_belongs_to_the_shard_whose_folder_it_begins_with() {
        let shard = |directory: &str, run_id: &str| ShardMeta {
            directory: directory.into(),
            run_id: run_id.into(),
            merged_from: "/x".into(),
        };
        let shards = vec![shard("shard-1", "a"), shard("shard-10", "b")];
        let meta = Meta { shards, ..Meta::default() };
        let run = |path: &str| meta.shard_of(path).map(|shard| shard.run_id.as_str());
        assert_eq!((run("shard-1/t/w.json"), run("shard-10/t/w.json")), (Some("a"), Some("b")));
        assert_eq!((run("t/shard-1/w.json"), run("shard-1"), run("")), (None, None, None));
    }

    #[test]
    fn wrong_shapes_name_their_place() {
        let error = |text: &str| Meta::parse(Path::new("m.json"), text.as_bytes()).unwrap_err().to_string();
        assert!(error(r#"{"run_id":7}"#).contains("run_id"), "{}", error(r#"{"run_id":7}"#));
        for text in ["[]", "null", "", "{", "\"x\""] {
            assert!(error(text).starts_with("m.json: "), "{text}");
        }
        let twice = error(r#"{"run_kind":"ci","run_kind":"verdict"}"#);
        assert!(twice.contains("\"run_kind\" stands twice"), "{twice}");
    }

    #[test]
    fn a_mismatch_needs_two_known_builds() {
        assert!(sha_mismatch(Some("a"), Some("b")));
        for (before, after) in
            [(Some("a"), Some("a")), (None, Some("a")), (Some(""), Some("a")), (None, None)]
        {
            assert!(!sha_mismatch(before, after));
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            let _ = Meta::parse(Path::new("m"), &bytes);
        }
    }
}
