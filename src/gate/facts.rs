//! Everything that rules look at. Rules read facts and nothing else: no disk, no clock.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::claim::{Claim, Entry};
use crate::files::FileId;
use crate::host::cases::Cases;
use crate::host::meta::Meta;
use crate::host::profile::{Capture, EnvKind, Environment, Profile};
use crate::host::statuses::Statuses;
use crate::model::{Digest, Fault, PolicyKind, Shard, Verdict};
use crate::record::{Records, Stray};
use crate::report::Derived;

/// What was gathered about a run.
#[derive(Debug)]
pub struct Facts {
    /// report.json.
    pub claim: Claim,
    /// The host profile.
    pub profile: Profile,
    /// The statuses file; none when it was not passed.
    pub statuses: Option<StatusesFact>,
    /// The cases file; none when it was not passed.
    pub cases: Option<CasesFact>,
    /// The case map; none when it was not passed.
    pub map: Option<Value>,
    /// What lies in the run directory.
    pub disk: Disk,
}

/// The statuses file that was passed.
#[derive(Debug)]
pub struct StatusesFact {
    /// What it records; none when it is no mapping or an empty one.
    pub statuses: Option<Statuses>,
    /// How the run's own copy compares.
    pub recorded: Recorded,
}

/// The copy of the statuses that the run itself kept.
#[derive(Debug, Eq, PartialEq)]
pub enum Recorded {
    /// There is none.
    Absent,
    /// It says the same.
    Same,
    /// It says something else, or cannot be read.
    Differs,
}

/// The cases file that was passed.
#[derive(Debug)]
pub struct CasesFact {
    /// The file with types; none when it is no mapping.
    pub cases: Option<Cases>,
    /// What is wrong with its mutation and fixtures.
    pub faults: Vec<Fault>,
}

/// What lies in the run directory.
#[derive(Debug)]
pub struct Disk {
    /// The run's metadata, or why it cannot be read.
    pub meta: Result<Meta, String>,
    /// The header that a report of the run has, null where it has no such field; empty when meta.json cannot be read, and
    /// without what comes from results.json when that cannot be.
    pub header: Map<String, Value>,
    /// The hashes of the specs by case id, as the run kept them; none when it kept no such file. Or why they cannot be read.
    pub spec_shas: Result<Option<BTreeMap<String, String>>, String>,
    /// The report derived once more from results.json, or why that is not possible.
    pub rerun: Result<Rerun, String>,
    /// The records, each read once.
    pub records: Records,
    /// Files that the claim names as evidence, by the path it gives.
    pub evidence: BTreeMap<String, Evidence>,
    /// Which file each try's trace is, by the path that results.json gives; a path that leads nowhere is not in it.
    pub traces: BTreeMap<String, FileId>,
    /// Records that no attempt accounts for.
    pub strays: Vec<Stray>,
}

/// The report derived once more.
#[derive(Debug)]
pub struct Rerun {
    /// What follows from results.json and the records.
    pub derived: Derived,
    /// Set when results.json is one shard of a run.
    pub shard: Option<Shard>,
    /// What a merged run says that its shards do not.
    pub unlike_shards: Vec<String>,
}

/// A file that the claim names as evidence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Evidence {
    /// A regular file with something in it; its digest where evidence is pinned.
    File(Option<Digest>),
    /// A file without bytes.
    Empty,
    /// Not there, no regular file, or unreadable; why.
    Unusable(String),
    /// The path leads out of the run directory.
    Outside,
}

impl Facts {
    /// The environment that the claim names, if it is registered.
    pub fn environment(&self) -> Option<&Environment> {
        self.profile.environment(self.claim.text("env_name")?)
    }

    /// Whether the run says it was on production.
    pub fn is_production(&self) -> bool {
        self.environment().is_some_and(|environment| environment.kind == EnvKind::Production)
    }

    /// The typed cases file.
    pub fn cases(&self) -> Option<&Cases> {
        self.cases.as_ref()?.cases.as_ref()
    }

    /// The policy that was declared: never the one that the claim names.
    pub fn policy(&self) -> Option<PolicyKind> {
        self.cases().map(|cases| cases.policy)
    }

    /// Whether the guard had to be live: on production, and under any policy but unrestricted.
    pub fn is_guarded(&self) -> bool {
        self.is_production() || self.policy().is_some_and(|policy| policy != PolicyKind::Unrestricted)
    }

    /// Whether traces stay on the machine and are held by their digests.
    pub fn is_pinned(&self) -> bool {
        let upload = self.environment().map(|environment| self.profile.effective_upload(environment));
        upload.is_some_and(|upload| upload.is_pinned())
    }

    /// When traces were kept; what cannot be understood counts as always.
    pub fn capture(&self) -> Capture {
        self.claim.text("evidence_capture").and_then(Capture::from_word).unwrap_or_default()
    }

    /// Whether an entry owes evidence.
    pub fn needs_evidence(&self, entry: Entry<'_>) -> bool {
        match self.capture() {
            Capture::OnFailure => matches!(entry.verdict(), Some(Verdict::Fail | Verdict::Flaky)),
            Capture::Always => entry.executed(),
            // Such a run is refused as a whole.
            Capture::Off => false,
        }
    }

    /// What the run's own files say where the claim says something else about the field `key` of its header: a run is not
    /// relabelled by editing its report.
    pub fn relabelled(&self, key: &str) -> Option<String> {
        // Files that cannot be read are refused once, not for each of their fields.
        let own = self.disk.header.get(key)?;
        let claimed = self.claim.get(key).unwrap_or(&Value::Null);
        (claimed != own).then(|| format!("is not what the run's own files say: {own}"))
    }

    /// Whether a record names the run that it is of. Such a run was started by `qa-pilot run`, which keeps the statuses and
    /// the specs' hashes before anything runs.
    pub fn names_runs(&self) -> bool {
        let tries = self.disk.rerun.as_ref().map(|rerun| rerun.derived.tries.as_slice()).unwrap_or_default();
        tries.iter().flat_map(|attempt| &attempt.records).any(|path| self.run_of(path).is_some())
    }

    /// The run that the record at `path` names.
    pub fn run_of(&self, path: &str) -> Option<&str> {
        self.disk.records.get(path)?.record.as_ref()?.attempt.as_ref()?.run_id.as_deref()
    }

    /// What was found at a path that the claim names.
    pub fn evidence(&self, path: &str) -> &Evidence {
        // Every path of the claim was gathered; one that was not is treated as not being there.
        const NONE: &Evidence = &Evidence::Outside;
        self.disk.evidence.get(path).unwrap_or(NONE)
    }
}
