//! Tests that ran without the guard although they are no cases: a login setup that imports `@playwright/test` itself.
//!
//! A case without the guard has no record, and the gate refuses it. Of other tests no record is asked, so that the run itself
//! compares what Playwright ran with what opened an attempt.

use crate::files::{self, RESULTS_CAP};
use crate::model::{CaseId, FixtureTitle};
use crate::playwright::results::Results;
use crate::proxy::Begun;
use std::collections::HashMap;
use std::path::Path;

/// Titles of tests beside cases and fixtures of which a try opened no attempt, each once, in the order of the results.
/// Results that cannot be read have none: there is no report of them either.
pub(super) fn tests(results: &Path, opened: Vec<Begun>) -> Vec<String> {
    let Ok(bytes) = files::read_capped(results, RESULTS_CAP) else { return Vec::new() };
    Results::parse(&bytes).map(|results| missing(&results, opened)).unwrap_or_default()
}

fn missing(results: &Results<'_>, opened: Vec<Begun>) -> Vec<String> {
    let mut left: HashMap<Begun, usize> = HashMap::new();
    for attempt in opened {
        *left.entry(attempt).or_default() += 1;
    }
    let mut titles = Vec::new();
    for spec in &results.specs {
        if CaseId::at_start_of(&spec.title).is_some() || FixtureTitle::parse(&spec.title).is_some() {
            continue;
        }
        for entry in &spec.tests {
            for (index, attempt) in
                entry.results.iter().enumerate().filter(|(_, attempt)| !attempt.is_skipped())
            {
                let key = Begun {
                    title: spec.title.to_string(),
                    project: entry.project.to_string(),
                    retry: attempt.retry.unwrap_or(index as u64),
                };
                match left.get_mut(&key) {
                    Some(count @ 1..) => *count -= 1,
                    _ if titles.contains(&key.title) => {}
                    _ => titles.push(key.title),
                }
            }
        }
    }
    titles
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULTS: &str = r#"{"suites":[{"title":"a","specs":[
        {"title":"login","tests":[{"projectName":"setup","results":[{"status":"failed","retry":0},{"status":"passed","retry":1}]}]},
        {"title":"later","tests":[{"projectName":"setup","results":[{"status":"skipped","retry":0}]}]},
        {"title":"SHOP-CART-001","tests":[{"projectName":"chromium","results":[{"status":"passed","retry":0}]}]},
        {"title":"FIXTURE order","tests":[{"projectName":"fixtures","results":[{"status":"passed","retry":0}]}]}]}]}"#;

    fn opened(project: &str, retry: u64) -> Begun {
        Begun { title: "login".into(), project: project.into(), retry }
    }

    #[test]
    fn each_try_needs_an_attempt_of_its_own() {
        let results = Results::parse(RESULTS.as_bytes()).unwrap();
        assert!(missing(&results, vec![opened("setup", 0), opened("setup", 1)]).is_empty());
        for some in [vec![], vec![opened("setup", 0)], vec![opened("setup", 0), opened("other", 1)]] {
            assert_eq!(missing(&results, some), ["login"]);
        }
    }
}
