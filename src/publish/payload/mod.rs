//! What a publish sends, and nothing else: whoever talks to the tracker posts exactly this.
//!
//! Which fields there are depends on how far the environment's evidence travels. Each mode has types of its own, so that a
//! field which a mode forbids has no place to stand in.

mod case;
mod plan;
mod summary;

use serde::Serialize;

pub use case::{Attachment, Fields, LocalCase, ReferenceCase, TrackerCase};
pub use plan::Plan;
pub use summary::{LocalSummary, RequirementCoverage, Summary};

use super::coverage::Coverage;
use super::ledger::Ledger;
use super::plain::{BuildId, Word};
use super::standing::Standing;
use super::told::Told;
use super::transitions::Transitions;
use super::verdicts::Verdicts;
use super::{Confidence, PublishError};
use crate::gate::Approved;
use crate::host::profile::{Profile, Tracker, Upload};
use crate::host::statuses::Statuses;

/// How far what is told about a run travels.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// To the tracker, with traces attached.
    Tracker,
    /// To the tracker, with traces named by path and hash.
    Reference,
    /// To the tracker, without anything of the application.
    Local,
    /// There is no tracker: a plan of local writes.
    None,
}

impl Mode {
    /// The mode of a registered environment; none when it is not registered, which is never a fallback.
    pub fn of(profile: &Profile, env_name: &str) -> Option<Self> {
        let environment = profile.environment(env_name)?;
        Some(match (profile.tracker, profile.effective_upload(environment)) {
            (Tracker::None, _) => Self::None,
            (Tracker::Clickup, Upload::Tracker) => Self::Tracker,
            (Tracker::Clickup, Upload::Reference) => Self::Reference,
            (Tracker::Clickup, Upload::Local) => Self::Local,
        })
    }

    /// Whether failure texts, URLs and people may be told outside this machine.
    pub fn tells_data(self) -> bool {
        matches!(self, Self::Tracker | Self::Reference)
    }
}

/// What is sent. The order of keys is part of the format.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Payload {
    /// With traces to attach.
    Tracker(Sent<TrackerCase, Summary>),
    /// With traces by path and hash.
    Reference(Sent<ReferenceCase, Summary>),
    /// Without data of the application.
    Local(Sent<LocalCase, LocalSummary>),
    /// Nothing is sent.
    Plan(Plan),
}

/// One update a case and one comment on the feature.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sent<C, S> {
    /// How far it travels.
    pub mode: Mode,
    /// The cases, in the order of the report.
    pub cases: Vec<C>,
    /// The comment.
    pub summary: S,
}

/// Everything about an approved run that payload and record are made of.
#[derive(Debug)]
pub struct Facts<'a> {
    pub(super) told: Told,
    pub(super) mode: Mode,
    pub(super) profile: &'a Profile,
    pub(super) build: BuildId,
    pub(super) app: Word,
    pub(super) executor: Word,
    transitions: Transitions,
    confidence: Confidence,
    coverage: Option<Coverage>,
}

impl<'a> Facts<'a> {
    /// Computes transitions, confidence and coverage of an approved run by the statuses that hold today; by those
    /// recorded at its start when none are given.
    ///
    /// # Errors
    /// When the report holds something that may not be passed on, or cases cannot be counted.
    pub fn of(
        approved: &'a Approved,
        today: Option<&Statuses>,
        ledger: Ledger,
    ) -> Result<Self, PublishError> {
        let profile = approved.profile();
        let told = Told::of(approved.report())?;
        let missing =
            |place: &str| PublishError::Report { place: place.to_owned(), message: "is missing".to_owned() };
        let mode = Mode::of(profile, told.env_name.as_str()).ok_or_else(|| missing("env_name"))?;
        let cases = approved.cases().ok_or_else(|| missing("cases"))?;
        super::countable(cases)?;
        let none = Statuses::default();
        let statuses = today.or(approved.statuses()).unwrap_or(&none);
        let verdicts = Verdicts::of(&told);
        let standing = Standing::of(cases, statuses, &profile.statuses, &verdicts, false);
        Ok(Self {
            mode,
            profile,
            build: told.build.clone().ok_or_else(|| missing("commit_sha"))?,
            app: told.app.clone().ok_or_else(|| missing("app"))?,
            executor: told.executor.clone().ok_or_else(|| missing("executor"))?,
            transitions: Transitions::of(cases, statuses, &profile.statuses, &verdicts, ledger),
            confidence: standing.confidence,
            coverage: standing.requirements,
            told,
        })
    }

    /// The mode of the run's environment.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The payload.
    pub fn payload(&self) -> Payload {
        let cases = &self.told.cases;
        match self.mode {
            Mode::Tracker => Payload::Tracker(Sent {
                mode: self.mode,
                cases: cases.iter().map(|case| TrackerCase::of(self, case)).collect(),
                summary: Summary::of(self),
            }),
            Mode::Reference => Payload::Reference(Sent {
                mode: self.mode,
                cases: cases.iter().map(|case| ReferenceCase::of(self, case)).collect(),
                summary: Summary::of(self),
            }),
            Mode::Local => Payload::Local(Sent {
                mode: self.mode,
                cases: cases.iter().map(|case| LocalCase::of(self, case)).collect(),
                summary: LocalSummary::of(self),
            }),
            Mode::None => Payload::Plan(Plan::of(self)),
        }
    }

    /// The host's name of the status that a case goes to.
    fn target(&self, case: &super::ToldCase) -> Option<String> {
        self.transitions.target(&case.id).map(|key| self.profile.statuses.name(key).to_owned())
    }
}
