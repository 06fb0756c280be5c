//! Which cases a run is for, and how a Playwright command is told: by its own `--grep`, over the ids that titles start
//! with.

use crate::host::cases::Cases;
use crate::model::CaseId;
use crate::publish::Standing;

/// What runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The cases that may run, in the order of the cases file.
    pub ids: Vec<CaseId>,
    /// The shared entities that they name, in the order of the cases file.
    pub fixtures: Vec<String>,
    /// The cases that may not run, each with the reason.
    pub left_out: Vec<String>,
}

impl Selection {
    /// The cases that stand as executable.
    pub fn of(cases: &Cases, standing: &Standing) -> Self {
        let executable = |id: &CaseId| standing.executable.iter().any(|one| one.id == id.as_str());
        let chosen: Vec<_> = cases.cases.iter().filter(|case| executable(&case.id)).collect();
        let named = |name: &str| chosen.iter().any(|case| case.fixture.as_deref() == Some(name));
        let fixtures = cases.fixtures.iter().filter(|fixture| named(&fixture.name));
        let mut left_out = Vec::new();
        left_out.extend(standing.held.iter().map(|one| format!("{}: {}", one.id, one.reason)));
        let set_aside =
            standing.quarantined.iter().filter(|one| !standing.executable.iter().any(|e| e.id == one.id));
        left_out
            .extend(set_aside.map(|one| format!("{}: set aside as flaky (--include-quarantined)", one.id)));
        left_out.extend(standing.unsynced.iter().map(|one| format!("{}: it has no status", one.id)));
        left_out.extend(
            standing
                .unknown_status
                .iter()
                .map(|one| format!("{}: its status {} is not known", one.id, one.status)),
        );
        Self {
            ids: chosen.iter().map(|case| case.id.clone()).collect(),
            fixtures: fixtures.map(|fixture| fixture.name.clone()).collect(),
            left_out,
        }
    }

    /// Playwright's `--grep` for exactly these cases and their fixtures; with `also`, the user's own, only for those of
    /// them that it matches.
    ///
    /// Playwright matches against project, file, describe blocks and title, joined by blanks. An id counts where a title
    /// may start, and not as the name of a file.
    pub fn grep(&self, also: Option<&str>) -> String {
        let ids: Vec<&str> = self.ids.iter().map(CaseId::as_str).collect();
        let mut own = format!(r"(?:^|\s)(?:{})(?!\w|\.\w)", ids.join("|"));
        if !self.fixtures.is_empty() {
            own.push_str(&format!(r"|(?:^|\s)FIXTURE (?:{})(?:\s|$)", self.fixtures.join("|")));
        }
        match also.map(pattern) {
            None => format!("/{own}/"),
            Some((source, flags)) => format!("/^(?=.*(?:{source}))(?=.*(?:{own}))/{flags}"),
        }
    }
}

/// A `--grep` as Playwright reads it: `/source/flags`, or a source that ignores case.
fn pattern(text: &str) -> (&str, &'static str) {
    let inner = text.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    match inner.filter(|(_, flags)| flags.chars().all(|c| matches!(c, 'g' | 'i'))) {
        Some((source, flags)) => (source, if flags.contains('i') { "i" } else { "" }),
        None => (text, "i"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;

    fn selection() -> Selection {
        let id = |text| CaseId::parse(text).unwrap();
        Selection {
            ids: vec![id("CHECKOUT-ORDER-001"), id("CHECKOUT-ORDER-002")],
            fixtures: vec!["order".to_owned()],
            left_out: Vec::new(),
        }
    }

    /// As Playwright would match it.
    fn matches(grep: &str, title: &str) -> bool {
        let (source, flags) = pattern(grep);
        let source = if flags == "i" { format!("(?i:{source})") } else { source.to_owned() };
        Pattern::new(&source).unwrap().is_match(title)
    }

    #[test]
    fn exactly_the_chosen_cases_and_their_fixtures() {
        let grep = selection().grep(None);
        for title in [
            "chromium checkout/a.spec.ts CHECKOUT-ORDER-001: pays",
            "chromium a.spec.ts group CHECKOUT-ORDER-002",
            "CHECKOUT-ORDER-001. Pays",
            "fixtures checkout/FIXTURE-order.setup.ts FIXTURE order",
            "fixtures checkout/FIXTURE-order.teardown.ts FIXTURE order teardown @tag",
        ] {
            assert!(matches(&grep, title), "{title}");
        }
        for title in [
            "chromium checkout/CHECKOUT-ORDER-001.spec.ts CHECKOUT-ORDER-003: pays",
            "chromium CHECKOUT-ORDER-001.spec.ts CHECKOUT-ORDER-003: pays",
            "chromium a.spec.ts CHECKOUT-ORDER-0011",
            "chromium a.spec.ts checkout-order-001",
            "chromium a.spec.ts CHECKOUT-ORDER-001_x",
            "fixtures a.ts FIXTURE order-2",
            "chromium a.spec.ts signs in",
        ] {
            assert!(!matches(&grep, title), "{title}");
        }
    }

    #[test]
    fn a_grep_of_the_users_narrows_it() {
        for also in ["Pays|fails", "/pays/i", "/pays/"] {
            let grep = selection().grep(Some(also));
            assert!(matches(&grep, "chromium a.spec.ts CHECKOUT-ORDER-001: pays"), "{grep}");
            assert!(!matches(&grep, "chromium a.spec.ts CHECKOUT-ORDER-001: other"), "{grep}");
            assert!(!matches(&grep, "chromium a.spec.ts CHECKOUT-ORDER-003: pays"), "{grep}");
        }
        assert!(!matches(&selection().grep(Some("/Pays/")), "CHECKOUT-ORDER-001: pays"));
    }
}
