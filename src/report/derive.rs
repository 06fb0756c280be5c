//! From attempts to entries. The report writes what is derived here; the gate derives it again and compares.

use std::collections::BTreeMap;

use super::failure;
use super::model::{CaseEntry, FixtureEntry};
use super::paths::RunPaths;
use super::verdict::{self, Outcome};
use crate::model::{CaseId, FixtureTitle, Phase, Verdict};
use crate::playwright::results::{Attempt, Entry, Results, Spec};
use crate::record::{AttemptRecords, Records, aggregate};

/// The name under which the guard attaches its record.
const RECORD: &str = "writes.json";

/// Whose attempt it was.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Subject {
    /// A case's.
    Case(CaseId),
    /// A fixture's.
    Fixture(String, Phase),
}

impl Subject {
    /// The place of its entry in a report: `cases[ORDER-CART-001]`, `fixtures[order setup]`.
    pub fn place(&self) -> String {
        match self {
            Self::Case(id) => format!("cases[{id}]"),
            Self::Fixture(name, phase) => format!("fixtures[{name} {}]", phase.as_str()),
        }
    }
}

/// One attempt, as far as the gate compares records and traces with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Try {
    /// Whose.
    pub subject: Subject,
    /// The title of the test.
    pub title: String,
    /// The project it ran in.
    pub project: String,
    /// Playwright's id of the test, where the report says: it does for the first entry of each spec.
    pub test_id: Option<String>,
    /// Which try, from 0, as the report says.
    pub retry: u64,
    /// Where it stands among the tries of its test.
    pub index: u64,
    /// What it came to.
    pub outcome: Outcome,
    /// Its trace, run-relative.
    pub trace: Option<String>,
    /// Its records, run-relative.
    pub records: Vec<String>,
}

/// Everything of a report that follows from Playwright's report and the records. Digests of traces and hashes of specs
/// are not in it: they come from other files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Derived {
    /// One entry a case id, by id.
    pub cases: Vec<CaseEntry>,
    /// One entry a fixture and phase, by name, set-up first.
    pub fixtures: Vec<FixtureEntry>,
    /// Titles that are neither, in the order of the run.
    pub unmapped_specs: Vec<String>,
    /// Playwright's errors outside any test.
    pub errors: Vec<String>,
    /// Every attempt of a case or a fixture.
    pub tries: Vec<Try>,
}

/// Derives entries. With `sha_mismatch` the build changed during the run, and nothing that ran shows anything.
pub fn derive(results: &Results<'_>, paths: &RunPaths, sha_mismatch: bool, records: &mut Records) -> Derived {
    let mut cases: BTreeMap<CaseId, Vec<&Spec<'_>>> = BTreeMap::new();
    let mut fixtures: BTreeMap<(String, Phase), Vec<&Spec<'_>>> = BTreeMap::new();
    let mut derived = Derived::default();
    for spec in &results.specs {
        if let Some(id) = CaseId::at_start_of(&spec.title) {
            cases.entry(id).or_default().push(spec);
        } else if let Some(title) = FixtureTitle::parse(&spec.title) {
            fixtures.entry((title.name, title.phase)).or_default().push(spec);
        } else {
            derived.unmapped_specs.push(spec.title.to_string());
        }
    }
    let unnamed = "an error without a message";
    derived.errors =
        results.errors.iter().map(|error| failure::tidy(error.text().unwrap_or(unnamed))).collect();
    for (id, specs) in cases {
        let group = Group { specs, paths, sha_mismatch };
        let subject = Subject::Case(id.clone());
        derived.tries.extend(group.tries(&subject));
        derived.cases.push(group.case(id, records));
    }
    for ((name, phase), specs) in fixtures {
        let group = Group { specs, paths, sha_mismatch };
        let subject = Subject::Fixture(name.clone(), phase);
        derived.tries.extend(group.tries(&subject));
        derived.fixtures.push(group.fixture(name, phase, records));
    }
    derived
}

/// All tests of one case or fixture.
struct Group<'a> {
    specs: Vec<&'a Spec<'a>>,
    paths: &'a RunPaths,
    sha_mismatch: bool,
}

impl<'a> Group<'a> {
    fn entries(&self) -> impl DoubleEndedIterator<Item = &'a Entry<'a>> {
        self.specs.iter().flat_map(|spec| &spec.tests)
    }

    fn attempts(&self) -> impl DoubleEndedIterator<Item = &'a Attempt<'a>> {
        self.entries().flat_map(|entry| &entry.results)
    }

    fn case(&self, id: CaseId, records: &mut Records) -> CaseEntry {
        let verdict = self.verdict();
        let is_failure = matches!(verdict, Verdict::Fail | Verdict::Flaky);
        CaseEntry {
            id,
            verdict,
            // A cast from a float saturates; reports of billions of years are not worth an error.
            duration_ms: self.attempts().map(|attempt| attempt.duration).sum::<f64>().round() as i64,
            assertions: None,
            trace: self.last_file("trace"),
            trace_sha256: None,
            writes: self.writes(records),
            video: self.last_file("video"),
            console_log: self.console_log(),
            failure_summary: if is_failure { failure::summary(self.attempts()) } else { None },
            retries: self.entries().map(|entry| (entry.results.len() as u64).saturating_sub(1)).sum(),
            spec_sha: None,
        }
    }

    fn fixture(&self, name: String, phase: Phase, records: &mut Records) -> FixtureEntry {
        FixtureEntry {
            name,
            phase,
            verdict: self.verdict(),
            trace: self.last_file("trace"),
            trace_sha256: None,
            writes: self.writes(records),
        }
    }

    fn verdict(&self) -> Verdict {
        if self.sha_mismatch {
            return Verdict::Blocked;
        }
        verdict::combine(
            self.entries()
                .map(|entry| verdict::of_entry(entry.results.iter().map(|a| Outcome::of(&a.status)))),
        )
    }

    /// The file that the last attempt with such an attachment attached.
    fn last_file(&self, name: &str) -> Option<String> {
        self.attempts().rev().find_map(|attempt| file(attempt, name)).map(|path| self.paths.relative(path))
    }

    /// The console of the last attempt that has one: its file, or a mark that the report itself holds it.
    fn console_log(&self) -> Option<String> {
        self.attempts().rev().find_map(|attempt| {
            let found = attempt.attachments.iter().find(|a| matches!(&*a.name, "console.log" | "console"))?;
            match found.file() {
                Some(path) => Some(self.paths.relative(path)),
                None => found.has_body.then(|| format!("inline:{}", found.name)),
            }
        })
    }

    fn writes(&self, records: &mut Records) -> Option<crate::record::Writes> {
        let attempts: Vec<AttemptRecords> = self
            .attempts()
            .map(|attempt| AttemptRecords { skipped: attempt.is_skipped(), paths: self.records_of(attempt) })
            .collect();
        aggregate(&attempts, records)
    }

    fn records_of(&self, attempt: &Attempt<'_>) -> Vec<String> {
        let own = attempt.attachments.iter().filter(|attachment| &*attachment.name == RECORD);
        own.filter_map(|attachment| attachment.file()).map(|path| self.paths.relative(path)).collect()
    }

    fn tries(&self, subject: &Subject) -> Vec<Try> {
        let mut tries = Vec::new();
        for spec in &self.specs {
            for (place, entry) in spec.tests.iter().enumerate() {
                let test_id = (place == 0 && !spec.id.is_empty()).then(|| spec.id.to_string());
                for (index, attempt) in entry.results.iter().enumerate() {
                    tries.push(Try {
                        subject: subject.clone(),
                        title: spec.title.to_string(),
                        project: entry.project.to_string(),
                        test_id: test_id.clone(),
                        retry: attempt.retry.unwrap_or(index as u64),
                        index: index as u64,
                        outcome: Outcome::of(&attempt.status),
                        trace: file(attempt, "trace").map(|path| self.paths.relative(path)),
                        records: self.records_of(attempt),
                    });
                }
            }
        }
        tries
    }
}

/// The first file that an attempt attached under a name.
fn file<'a>(attempt: &'a Attempt<'_>, name: &str) -> Option<&'a str> {
    attempt
        .attachments
        .iter()
        .filter(|attachment| &*attachment.name == name)
        .find_map(|attachment| attachment.file())
}
