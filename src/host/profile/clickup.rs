//! `clickup`: the tracker's places, and what the host calls the seven statuses.

use std::collections::HashMap;

use serde_json::Value;

use super::super::values::{Faults, Object, text};
use super::Tracker;

/// Where cases and bugs live in ClickUp.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Clickup {
    /// The space.
    pub space: String,
    /// The list that bugs go to.
    pub bug_list: Option<String>,
    /// The folder of the features' lists.
    pub folder: Option<String>,
}

/// One of the seven states of a case.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum StatusKey {
    /// Waits for design review.
    CaseReview,
    /// May run for the first time.
    ApprovedForExecution,
    /// A verdict waits for review.
    UnderReview,
    /// The last verdict was approved.
    Approved,
    /// The case must be mended.
    Rejected,
    /// To be run again.
    Retest,
    /// Set aside as flaky.
    Quarantined,
}

impl StatusKey {
    /// All, with the profile's key and the canonical name.
    pub const ALL: [(Self, &'static str, &'static str); 7] = [
        (Self::CaseReview, "case_review", "Case Review"),
        (Self::ApprovedForExecution, "approved_for_execution", "Approved for Execution"),
        (Self::UnderReview, "under_review", "Under Review"),
        (Self::Approved, "approved", "Approved"),
        (Self::Rejected, "rejected", "Rejected"),
        (Self::Retest, "retest", "Retest"),
        (Self::Quarantined, "quarantined", "Quarantined"),
    ];

    /// The profile's key, which is also its name in our output.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(key, ..)| *key == self).map_or("", |(_, name, _)| name)
    }

    /// Whether a verdict of a case in this state can be published.
    pub fn is_executable(self) -> bool {
        !matches!(self, Self::CaseReview | Self::Rejected)
    }
}

/// What the host calls the seven statuses.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StatusNames {
    names: Vec<(StatusKey, String)>,
}

impl Default for StatusNames {
    fn default() -> Self {
        Self { names: StatusKey::ALL.iter().map(|(key, _, name)| (*key, (*name).to_owned())).collect() }
    }
}

impl StatusNames {
    /// The state that a recorded name means, blanks around it and case aside.
    pub fn key(&self, name: &str) -> Option<StatusKey> {
        let name = fold(name);
        self.names.iter().find(|(_, known)| fold(known) == name).map(|(key, _)| *key)
    }

    /// The host's name of a state.
    pub fn name(&self, key: StatusKey) -> &str {
        self.names.iter().find(|(known, _)| *known == key).map_or("", |(_, name)| name)
    }

    /// All names, in the fixed order of the states.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(_, name)| name.as_str())
    }
}

fn fold(name: &str) -> String {
    name.trim().to_lowercase()
}

pub(super) fn read(
    root: &Object,
    tracker: Option<Tracker>,
    faults: &mut Faults,
    warnings: &mut Faults,
) -> (Option<Clickup>, Option<StatusNames>) {
    if tracker == Some(Tracker::None) {
        if root.contains_key("clickup") {
            warnings.add("clickup", "is not looked at under tracker: none");
        }
        return (None, Some(StatusNames::default()));
    }
    if tracker.is_none() {
        return (None, None);
    }
    let Some(block) = faults.mapping(root, "", "clickup") else { return (None, None) };
    let space = faults.text(block, "clickup", "space").map(str::to_owned);
    if block.contains_key("plan_tier") {
        let tiers = [("free", ()), ("unlimited", ()), ("business", ()), ("enterprise", ())];
        faults.word(block, "clickup", "plan_tier", &tiers);
    }
    let bug_list = faults.optional_text(block, "clickup", "bug_list").map(str::to_owned);
    let folder = faults.optional_text(block, "clickup", "folder").map(str::to_owned);
    let statuses = statuses(block, faults, warnings);
    (space.map(|space| Clickup { space, bug_list, folder }), statuses)
}

fn statuses(block: &Object, faults: &mut Faults, warnings: &mut Faults) -> Option<StatusNames> {
    let at = "clickup.statuses";
    if !block.contains_key("statuses") {
        warnings.add(at, "is missing: the canonical names are taken");
        return Some(StatusNames::default());
    }
    let table = faults.mapping(block, "clickup", "statuses")?;
    let known = StatusKey::ALL.map(|(_, key, _)| key);
    faults.closed(table, at, &known);
    let mut names = Vec::new();
    let mut taken: HashMap<String, &str> = HashMap::new();
    for (status, key, _) in StatusKey::ALL {
        let Some(name) = text(table.get(key)) else {
            let why = if table.get(key).is_none_or(Value::is_null) { "is missing" } else { "must be text" };
            faults.add(format!("{at}.{key}"), why);
            continue;
        };
        if let Some(other) = taken.insert(fold(name), key) {
            faults.add(format!("{at}.{key}"), format!("has the same name as {other}"));
        }
        names.push((status, name.to_owned()));
    }
    Some(StatusNames { names })
}
