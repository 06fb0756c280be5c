//! The titles of fixture specs: setup and teardown of an entity that several cases share.

use serde::{Deserialize, Serialize};

/// Which half of a fixture a spec is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Makes the entity.
    Setup,
    /// Removes it.
    Teardown,
}

impl Phase {
    /// The spelling in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Teardown => "teardown",
        }
    }
}

/// `FIXTURE order` or `FIXTURE order teardown`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FixtureTitle {
    /// Lower-case letters, digits and dashes.
    pub name: String,
    /// Setup unless the title ends in ` teardown`.
    pub phase: Phase,
}

impl FixtureTitle {
    /// Reads a whole title, `^FIXTURE ([a-z0-9-]+)( teardown)?$`.
    pub fn parse(title: &str) -> Option<Self> {
        let rest = title.strip_prefix("FIXTURE ")?;
        let (name, phase) = match rest.strip_suffix(" teardown") {
            Some(name) => (name, Phase::Teardown),
            None => (rest, Phase::Setup),
        };
        Self::is_name(name).then(|| Self { name: name.to_owned(), phase })
    }

    /// Whether `text` may name a fixture.
    pub fn is_name(text: &str) -> bool {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        let parsed = |title| FixtureTitle::parse(title).map(|t| (t.name, t.phase));
        assert_eq!(parsed("FIXTURE order"), Some(("order".into(), Phase::Setup)));
        assert_eq!(parsed("FIXTURE order teardown"), Some(("order".into(), Phase::Teardown)));
        for title in
            ["FIXTURE Order", "FIXTURE order setup", "FIXTURE ", "fixture order", "FIXTURE order teardown x"]
        {
            assert_eq!(parsed(title), None, "{title}");
        }
    }
}
