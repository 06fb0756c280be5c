//! The decision, and the only place that makes an [`Approved`].

use super::facts::Facts;
use super::finding::{Finding, Findings};
use super::rules;
use crate::host::cases::Cases;
use crate::host::profile::Profile;
use crate::host::statuses::Statuses;
use crate::report::Summary;

/// A run that every rule let pass. Whoever publishes must hold one.
#[derive(Debug)]
pub struct Approved {
    facts: Facts,
    warnings: Vec<Finding>,
}

/// A run that cannot be published.
#[derive(Debug)]
pub struct Refused {
    /// Why; never empty.
    pub refusals: Vec<Finding>,
    /// What a person should look at besides.
    pub warnings: Vec<Finding>,
}

/// What the gate decided.
pub type Decision = Result<Approved, Refused>;

/// Holds the facts against every rule, in the order of the table.
pub fn evaluate(facts: Facts) -> Decision {
    let mut refusals = Vec::new();
    let mut warnings = Vec::new();
    for rule in rules::ALL {
        // Of something that is no report only that can be said.
        if !facts.claim.is_object() && rule.code != rules::REPORT {
            continue;
        }
        let mut findings = Findings::new(rule.code);
        (rule.check)(&facts, &mut findings);
        refusals.append(&mut findings.refusals);
        warnings.append(&mut findings.warnings);
    }
    if refusals.is_empty() { Ok(Approved { facts, warnings }) } else { Err(Refused { refusals, warnings }) }
}

impl Approved {
    /// The report, every field of which has been held against its source.
    pub fn report(&self) -> &super::Claim {
        &self.facts.claim
    }

    /// The profile that it was held against.
    pub fn profile(&self) -> &Profile {
        &self.facts.profile
    }

    /// The cases that it was held against.
    pub fn cases(&self) -> Option<&Cases> {
        self.facts.cases()
    }

    /// The statuses that were recorded when the run started.
    pub fn statuses(&self) -> Option<&Statuses> {
        self.facts.statuses.as_ref()?.statuses.as_ref()
    }

    /// What a person should look at all the same.
    pub fn warnings(&self) -> &[Finding] {
        &self.warnings
    }

    /// How many cases came to what.
    pub fn summary(&self) -> Summary {
        Summary::of(self.facts.claim.cases().filter_map(|case| case.verdict()))
    }
}
