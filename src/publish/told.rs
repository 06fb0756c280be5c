//! A report, or the reduced record that stands in for one, read with types: whatever is told about a run is told from
//! here. A field that is there and not of its form is refused, never passed on.

use std::path::Path;

use super::PublishError;
use super::plain::{BuildId, InnerPath, Moment, SpecSha, Word};
use crate::files::{self, RESULTS_CAP};
use crate::gate::{Claim, Entry};
use crate::json;
use crate::model::{CaseId, Digest, RunId, Verdict};

/// What a run says about itself.
#[derive(Clone, Debug)]
pub struct Told {
    /// The run.
    pub run_id: RunId,
    /// The feature; the name of a folder.
    pub feature: String,
    /// The environment.
    pub env_name: Word,
    /// The environment's kind as the report says.
    pub env_kind: Option<Word>,
    /// Its URL, when it is http or https and names no user.
    pub env_url: Option<String>,
    /// The deployed build.
    pub build: Option<BuildId>,
    /// Whether the build is no commit.
    pub is_build_id: bool,
    /// Which frontend.
    pub app: Option<Word>,
    /// `server`, or the host's sandbox value.
    pub api_mode: Option<Word>,
    /// Who ran it.
    pub executor: Option<Word>,
    /// The model that wrote the specs.
    pub model_version: Option<Word>,
    /// The browser.
    pub browser: Option<Word>,
    /// When it began.
    pub started_at: Option<Moment>,
    /// When it ended.
    pub finished_at: Option<Moment>,
    /// The cases, in the order of the report.
    pub cases: Vec<ToldCase>,
}

/// What a run says about a case.
#[derive(Clone, Debug)]
pub struct ToldCase {
    /// The case.
    pub id: CaseId,
    /// What it came to.
    pub verdict: Verdict,
    /// Tries after the first.
    pub retries: u64,
    /// The evidence, run-relative.
    pub trace: Option<InnerPath>,
    /// The digest of its bytes.
    pub trace_sha256: Option<Digest>,
    /// What the verdict was about.
    pub spec_sha: Option<SpecSha>,
    /// Playwright's words: data of the application, which never leave the machine where evidence stays local.
    pub failure: Option<String>,
}

impl Told {
    /// Reads the report or record at `path`.
    ///
    /// # Errors
    /// When it cannot be read or is no JSON; and as [`Self::of`].
    pub fn read(path: &Path) -> Result<Self, PublishError> {
        Self::of(&Claim::new(json::parse(path, &files::read_capped(path, RESULTS_CAP)?)?))
    }

    /// Types a report.
    ///
    /// # Errors
    /// When it lacks run, feature, environment or cases, or a field is not of its form.
    pub fn of(claim: &Claim) -> Result<Self, PublishError> {
        let fields = Fields(claim);
        let list =
            claim.case_list().ok_or_else(|| fault("cases", "is no list: this is no report of a run"))?;
        let mut cases: Vec<ToldCase> = Vec::with_capacity(list.len());
        for entry in claim.cases() {
            let case = ToldCase::of(entry)?;
            if cases.iter().any(|other| other.id == case.id) {
                return Err(fault(&entry.place(), "stands twice in the report"));
            }
            cases.push(case);
        }
        let url = fields.optional("env_url", |text| is_plain_url(text).then(|| text.to_owned()))?;
        Ok(Self {
            run_id: fields.needed("run_id", RunId::parse)?,
            feature: fields.needed("feature", |text| RunId::parse(text).map(|_| text.to_owned()))?,
            env_name: fields.needed("env_name", Word::parse)?,
            env_kind: fields.optional("env_kind", Word::parse)?,
            env_url: url,
            build: fields.optional("commit_sha", BuildId::parse)?,
            is_build_id: claim.text("sha_format") == Some("build-id"),
            app: fields.optional("app", Word::parse)?,
            api_mode: fields.optional("api_mode", Word::parse)?,
            executor: fields.optional("executor", Word::parse)?,
            model_version: fields.optional("model_version", Word::model)?,
            browser: fields.optional("browser", Word::parse)?,
            started_at: fields.optional("started_at", Moment::parse)?,
            finished_at: fields.optional("finished_at", Moment::parse)?,
            cases,
        })
    }

    /// The case with the id `id`.
    pub fn case(&self, id: &str) -> Option<&ToldCase> {
        self.cases.iter().find(|case| case.id.as_str() == id)
    }

    /// The run directory, relative to the repository.
    pub fn run_dir(&self) -> String {
        format!("testing/{}/runs/{}", self.feature, self.run_id)
    }
}

impl ToldCase {
    fn of(entry: Entry<'_>) -> Result<Self, PublishError> {
        let at = entry.place();
        let fields = EntryFields { entry, at: &at };
        let id = entry.id().and_then(CaseId::parse).ok_or_else(|| fault(&at, "has no case id"))?;
        let verdict =
            entry.verdict().ok_or_else(|| fault(&at, "has no verdict of pass, fail, flaky, blocked"))?;
        let retries = match entry.get("retries") {
            None => 0,
            Some(value) => value.as_u64().ok_or_else(|| fault(&at, "retries is no count"))?,
        };
        Ok(Self {
            id,
            verdict,
            retries,
            trace: fields.optional("trace", InnerPath::parse)?,
            trace_sha256: fields.optional("trace_sha256", Digest::from_hex)?,
            spec_sha: fields.optional("spec_sha", SpecSha::parse)?,
            failure: entry.text("failure_summary").map(str::to_owned),
        })
    }
}

struct Fields<'a>(&'a Claim);

impl Fields<'_> {
    fn optional<T>(&self, key: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>, PublishError> {
        typed(key, self.0.get(key), parse)
    }

    fn needed<T>(&self, key: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, PublishError> {
        self.optional(key, parse)?.ok_or_else(|| fault(key, "is missing: this is no report of a run"))
    }
}

struct EntryFields<'a> {
    entry: Entry<'a>,
    at: &'a str,
}

impl EntryFields<'_> {
    fn optional<T>(&self, key: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>, PublishError> {
        typed(&format!("{}.{key}", self.at), self.entry.get(key), parse)
    }
}

fn typed<T>(
    place: &str,
    value: Option<&serde_json::Value>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, PublishError> {
    let Some(value) = value else { return Ok(None) };
    match value.as_str().and_then(parse) {
        Some(typed) => Ok(Some(typed)),
        // A blank text says as much as none; the gate says where that is too little.
        None if value.as_str().is_some_and(|text| text.trim().is_empty()) => Ok(None),
        None => Err(fault(place, "is not of its form, and nothing else is passed on")),
    }
}

fn is_plain_url(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_graphic() && !"<>`|\"\\()[]".contains(c);
    text.len() <= 2048
        && text.chars().all(allowed)
        && url::Url::parse(text).is_ok_and(|url| {
            matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none()
        })
}

fn fault(place: &str, message: &str) -> PublishError {
    // Places hold ids of the report.
    let place: String = place.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    PublishError::Report { place, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(key: &str, value: serde_json::Value) -> Result<Told, PublishError> {
        let mut report = json!({
            "run_id": "r-1", "feature": "checkout", "env_name": "qa", "commit_sha": "3f2a91c",
            "cases": [{"id": "A-B-001", "verdict": "pass", "trace": "t.zip"}]
        });
        if let Some(at) = report.pointer_mut(key) {
            *at = value;
        } else {
            report[key] = value;
        }
        Told::of(&Claim::new(report))
    }

    #[test]
    fn what_is_not_of_its_form_is_refused() {
        assert!(report("executor", json!("tester")).is_ok());
        for (key, value) in [
            ("executor", json!("<b>x</b>")),
            ("executor", json!(7)),
            ("browser", json!("a\nb")),
            ("env_url", json!("javascript:alert(1)")),
            ("env_url", json!("https://jane:secret@a.test")),
            ("/run_id", json!("../x")),
            ("/feature", json!("a/b")),
            ("/feature", json!("..")),
            ("/cases", json!({})),
            ("/cases/0/trace", json!("../../t.zip")),
            ("/cases/0/trace", json!("/etc/passwd")),
            ("/cases/0/id", json!("A-B-1")),
            ("/cases/0/verdict", json!("passed")),
            ("/cases", json!([{"id": "A-B-001", "verdict": "pass"}, {"id": "A-B-001", "verdict": "fail"}])),
        ] {
            let error = report(key, value.clone()).unwrap_err();
            assert!(error.is_refusal(), "{key} {value}: {error}");
        }
    }
}
