//! Verdicts, from what attempts came to and from nothing else, so that neither retries nor a runner's option can turn a
//! flaky case green.

use crate::model::Verdict;

/// What one attempt came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// It ran to its end.
    Passed,
    /// It failed, or ran out of time: both are real failures.
    Failed,
    /// It was skipped.
    Skipped,
    /// It was interrupted, or the word is not known: nothing was shown.
    Inconclusive,
}

impl Outcome {
    /// The outcome that Playwright's word means.
    pub fn of(status: &str) -> Self {
        match status {
            "passed" => Self::Passed,
            "failed" | "timedOut" => Self::Failed,
            "skipped" => Self::Skipped,
            _ => Self::Inconclusive,
        }
    }
}

/// The verdict of one test in one project, from its attempts.
pub fn of_entry(attempts: impl IntoIterator<Item = Outcome>) -> Verdict {
    let (mut passed, mut failed) = (false, false);
    for outcome in attempts {
        passed |= outcome == Outcome::Passed;
        failed |= outcome == Outcome::Failed;
    }
    match (passed, failed) {
        (true, true) => Verdict::Flaky,
        (false, true) => Verdict::Fail,
        (true, false) => Verdict::Pass,
        (false, false) => Verdict::Blocked,
    }
}

/// The verdict over projects, repetitions and files: failing anywhere is a failure, never a flake.
pub fn combine(entries: impl IntoIterator<Item = Verdict>) -> Verdict {
    let weight = |verdict: &Verdict| match verdict {
        Verdict::Fail => 3,
        Verdict::Flaky => 2,
        Verdict::Pass => 1,
        Verdict::Blocked => 0,
    };
    entries.into_iter().max_by_key(weight).unwrap_or(Verdict::Blocked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The rules as a table, one row a rule, the first that applies: the oracle.
    fn oracle(entries: &[Vec<&str>]) -> Verdict {
        let of = |entry: &Vec<&str>| {
            let has = |words: &[&str]| entry.iter().any(|status| words.contains(status));
            if entry.iter().all(|status| *status == "skipped") {
                "blocked"
            } else if has(&["passed"]) && has(&["failed", "timedOut"]) {
                "flaky"
            } else if has(&["failed", "timedOut"]) {
                "fail"
            } else if has(&["passed"]) {
                "pass"
            } else {
                "blocked"
            }
        };
        let all: Vec<&str> = entries.iter().map(of).collect();
        let first = ["fail", "flaky", "pass"].into_iter().find(|word| all.contains(word));
        match first {
            Some("fail") => Verdict::Fail,
            Some("flaky") => Verdict::Flaky,
            Some(_) => Verdict::Pass,
            None => Verdict::Blocked,
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_table(entries in prop::collection::vec(prop::collection::vec(
            prop::sample::select(vec!["passed", "failed", "timedOut", "skipped", "interrupted", "", "later word"]), 0..5), 0..5)) {
            let ours = combine(entries.iter().map(|entry| of_entry(entry.iter().map(|status| Outcome::of(status)))));
            prop_assert_eq!(ours, oracle(&entries));
        }
    }

    #[test]
    fn examples() {
        let entry = |statuses: &[&str]| of_entry(statuses.iter().map(|status| Outcome::of(status)));
        assert_eq!(entry(&["failed", "passed"]), Verdict::Flaky);
        assert_eq!(entry(&["passed", "failed"]), Verdict::Flaky);
        assert_eq!(entry(&["passed", "interrupted"]), Verdict::Pass);
        assert_eq!(entry(&["interrupted", "skipped"]), Verdict::Blocked);
        assert_eq!(entry(&[]), Verdict::Blocked);
        assert_eq!(combine([Verdict::Flaky, Verdict::Fail, Verdict::Pass]), Verdict::Fail);
        assert_eq!(combine([Verdict::Blocked, Verdict::Pass]), Verdict::Pass);
        assert_eq!(combine([]), Verdict::Blocked);
    }
}
