//! Packs, their faults and judged requests for a terminal.

use super::one_line;
use crate::rules::check::{Checked, Failure};
use crate::rules::{Judgement, Verdict};
use std::fmt::Write;

/// The line of a pack in a list.
pub fn pack(name: &str, checked: &Checked) -> String {
    let [write, allow, drop] = checked.signatures;
    format!(
        "{name:20} {}: {write} write, {allow} allow, {drop} drop, {} examples\n",
        one_line(&checked.title),
        checked.examples
    )
}

/// An example that is not judged as it says.
pub fn failure(file: &str, failure: &Failure) -> String {
    one_line(&format!(
        "{file}:{}: examples[{}]: {} is a {}, not a {}: {}",
        failure.line,
        failure.index,
        failure.request,
        failure.found.as_str(),
        failure.expected.as_str(),
        failure.because
    ))
}

/// One judged request: its verdict, what it is, and which entries spoke.
pub fn judgement(judgement: &Judgement) -> String {
    let mut out = format!("{:12} {} {}", judgement.verdict.as_str(), judgement.method, judgement.url);
    if let Some(reason) = &judgement.reason {
        let _ = write!(out, "  {reason}");
    }
    if let Some(method) = &judgement.effective_method {
        let _ = write!(out, ", as {method}");
    }
    if let Some(scope) = judgement.in_scope {
        let _ = write!(out, ", scope {scope}");
    }
    let places = [("", &judgement.fired), ("cleared by ", &judgement.cleared), ("", &judgement.dropped)];
    let told: Vec<String> = places
        .iter()
        .filter_map(|(word, place)| place.as_ref().map(|place| format!("{word}{place}")))
        .collect();
    if !told.is_empty() {
        let _ = write!(out, "  [{}]", told.join(", "));
    }
    one_line(&out) + "\n"
}

/// How many requests had each verdict, and which were unclassified, each once.
pub fn summary(judgements: &[Judgement], skipped: usize) -> String {
    let count = |verdict| judgements.iter().filter(|judged| judged.verdict == verdict).count();
    let counts: Vec<String> = Verdict::ALL
        .into_iter()
        .map(|verdict| (verdict, count(verdict)))
        .filter(|(_, count)| *count > 0)
        .map(|(verdict, count)| format!("{count} {}", verdict.as_str()))
        .collect();
    let mut out = format!("{} request(s): {}", judgements.len(), counts.join(", "));
    if skipped > 0 {
        let _ = write!(out, "; {skipped} never on the network");
    }
    out.push('\n');
    let unclassified = unclassified(judgements);
    if !unclassified.is_empty() {
        out.push_str("no signature names these, and their methods usually write:\n");
        for (method, url) in unclassified {
            let _ = writeln!(out, "  {}", one_line(&format!("{method} {url}")));
        }
    }
    out
}

/// Method and URL, each once and sorted.
pub fn unclassified(judgements: &[Judgement]) -> Vec<(&str, &str)> {
    let mut found: Vec<_> = judgements
        .iter()
        .filter(|judged| judged.verdict == Verdict::Unclassified)
        .map(|judged| (judged.method.as_str(), judged.url.as_str()))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}
