//! How a pipeline ends. Everything is computed from the cases; neither the report's summary nor its flags are believed.

use std::fmt::Write;

use crate::gate::Claim;
use crate::host::meta::sha_mismatch;
use crate::model::Verdict;
use crate::publish::{PublishError, Told};
use crate::report::Summary;

/// How a pipeline ends.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Ending {
    /// Green; the line says of what.
    Ok(String),
    /// Red; the lines say why.
    Red(String),
}

/// Judges a report.
///
/// # Errors
/// When it is no report, or holds a case without an id or a verdict.
pub fn verdict(claim: &Claim) -> Result<Ending, PublishError> {
    let told = Told::of(claim)?;
    let counts = Summary::of(told.cases.iter().map(|case| case.verdict));
    let total = counts.total();
    let errors = texts(claim, "errors");
    let red = |head: String, lines: &[String]| {
        let mut text = head;
        for line in lines {
            // Writing to a string does not fail.
            let _ = write!(text, "\n  {line}");
        }
        Ok(Ending::Red(text))
    };
    if total == 0 {
        return red("NO TESTS: the report holds no case, which shows nothing".to_owned(), &errors);
    }
    if counts.blocked * 10 > total {
        let head = format!(
            "ENVIRONMENT FAILED: {} of {total} cases are blocked, more than 10 %; this says nothing about the feature",
            counts.blocked
        );
        return red(head, &errors);
    }
    if sha_mismatch(claim.text("sha_before"), claim.text("sha_after"))
        || claim.get("sha_mismatch").is_some_and(|flag| flag != &serde_json::Value::Bool(false))
    {
        return red("ENVIRONMENT FAILED: the deployed build changed during the run".to_owned(), &errors);
    }
    if !errors.is_empty() {
        return red("RUN FAILED: Playwright reports errors outside any test".to_owned(), &errors);
    }
    let fixtures = failed_fixtures(claim)?;
    if !fixtures.is_empty() {
        return red("FIXTURES FAILED: shared entities were not made or not removed".to_owned(), &fixtures);
    }
    let failed: Vec<String> = told
        .cases
        .iter()
        .filter_map(|case| {
            let word = match case.verdict {
                Verdict::Fail => "FAIL ",
                Verdict::Flaky => "FLAKY",
                Verdict::Pass | Verdict::Blocked => return None,
            };
            Some(format!(
                "{word} {}: {}",
                case.id,
                one_line(case.failure.as_deref().unwrap_or("(no failure text)"))
            ))
        })
        .collect();
    if !failed.is_empty() {
        return red(format!("REGRESSION: {} of {total} cases failed or were flaky", failed.len()), &failed);
    }
    let build = told.build.as_ref().map_or("an unknown build", crate::publish::BuildId::as_str);
    let blocked = if counts.blocked > 0 { format!(", {} blocked", counts.blocked) } else { String::new() };
    Ok(Ending::Ok(format!("ok: {} pass{blocked} on {} at {build}", counts.pass, told.env_name.as_str())))
}

fn texts(claim: &Claim, key: &str) -> Vec<String> {
    match claim.get(key) {
        None => Vec::new(),
        Some(serde_json::Value::Array(list)) => {
            list.iter().map(|item| one_line(item.as_str().unwrap_or("(an error without text)"))).collect()
        }
        Some(_) => vec![format!("{key} is no list")],
    }
}

fn failed_fixtures(claim: &Claim) -> Result<Vec<String>, PublishError> {
    if claim.get("fixtures").is_some_and(|list| !list.is_array()) {
        return Err(PublishError::Report { place: "fixtures".to_owned(), message: "is no list".to_owned() });
    }
    let failed = claim.fixtures().filter(|fixture| fixture.verdict() != Some(Verdict::Pass));
    Ok(failed
        .map(|fixture| {
            let verdict = fixture.verdict().map_or("no verdict", Verdict::as_str);
            format!("{} {verdict}", one_line(&fixture.place()))
        })
        .collect())
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn ending(verdicts: &[&str], change: impl FnOnce(&mut Value)) -> Ending {
        let cases: Vec<Value> = verdicts
            .iter()
            .enumerate()
            .map(|(index, verdict)| json!({"id": format!("A-B-{index:03}"), "verdict": verdict, "failure_summary": "E\nx"}))
            .collect();
        let mut report = json!({
            "run_id": "r", "feature": "f", "env_name": "qa", "commit_sha": "3f2a91c", "sha_before": "3f2a91c",
            "sha_after": "3f2a91c", "sha_mismatch": false, "summary": {"pass": 99}, "errors": [], "fixtures": [], "cases": cases
        });
        change(&mut report);
        verdict(&Claim::new(report)).unwrap()
    }

    fn starts(ending: Ending, prefix: &str) {
        let (Ending::Ok(text) | Ending::Red(text)) = ending;
        assert!(text.starts_with(prefix), "{text}");
    }

    #[test]
    fn each_ending() {
        let tenth = ["pass"; 9].into_iter().chain(["blocked"]).collect::<Vec<_>>();
        assert_eq!(ending(&tenth, |_| {}), Ending::Ok("ok: 9 pass, 1 blocked on qa at 3f2a91c".to_owned()));
        starts(ending(&[], |_| {}), "NO TESTS");
        starts(ending(&["pass", "blocked"], |_| {}), "ENVIRONMENT FAILED");
        starts(ending(&["pass"], |report| report["sha_after"] = json!("4f2a91c")), "ENVIRONMENT FAILED");
        starts(ending(&["pass"], |report| report["sha_mismatch"] = json!(true)), "ENVIRONMENT FAILED");
        starts(ending(&["pass"], |report| report["errors"] = json!(["x"])), "RUN FAILED");
        starts(ending(&["pass"], |report| report["errors"] = json!("x")), "RUN FAILED");
        for fixture in [json!({"name": "order", "phase": "setup", "verdict": "fail"}), json!({}), json!(7)] {
            starts(ending(&["pass"], |report| report["fixtures"] = json!([fixture])), "FIXTURES FAILED");
        }
        assert_eq!(
            ending(&["fail", "flaky", "pass"], |_| {}),
            Ending::Red(
                "REGRESSION: 2 of 3 cases failed or were flaky\n  FAIL  A-B-000: E x\n  FLAKY A-B-001: E x"
                    .to_owned()
            )
        );
    }
}
