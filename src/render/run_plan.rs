//! What a run would do, told before it does.

use super::one_line;
use crate::run::Plan;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

#[derive(Serialize)]
struct Shape<'a> {
    feature: &'a str,
    env: &'a str,
    app: &'a str,
    url: &'a str,
    run_kind: &'static str,
    policy: &'static str,
    prefix: Option<&'a str>,
    api_mode: &'a str,
    executor: &'a str,
    egress_locked: bool,
    statuses: &'a Path,
    cases: Vec<&'a str>,
    fixtures: &'a [String],
    left_out: &'a [String],
    command: Vec<String>,
    notes: &'a [String],
}

/// Where the run directory's name would stand.
const RUN_DIR: &str = "RUN_DIR";

fn shape(plan: &Plan, egress_locked: bool) -> Shape<'_> {
    let command = plan.command(Path::new(RUN_DIR)).map(|planned| planned.words);
    Shape {
        feature: &plan.feature,
        env: &plan.env_name,
        app: &plan.app,
        url: &plan.env_url,
        run_kind: plan.kind.as_str(),
        policy: plan.policy.kind().as_str(),
        prefix: plan.policy.prefix(),
        api_mode: &plan.api_mode,
        executor: &plan.executor,
        egress_locked,
        statuses: &plan.statuses_path,
        cases: plan.selection.ids.iter().map(crate::model::CaseId::as_str).collect(),
        fixtures: &plan.selection.fixtures,
        left_out: &plan.selection.left_out,
        command: command.unwrap_or_else(|_| plan.command.clone()),
        notes: &plan.notes,
    }
}

/// One object with a final newline: `{feature, env, app, url, run_kind, policy, prefix, api_mode, executor, egress_locked, statuses,
/// cases, fixtures, left_out, command, notes}`. In `command`, `RUN_DIR` stands for the run directory.
pub fn json(plan: &Plan, egress_locked: bool) -> String {
    let mut text = serde_json::to_string_pretty(&shape(plan, egress_locked)).unwrap_or_default();
    text.push('\n');
    text
}

/// A line for each part.
pub fn text(plan: &Plan, egress_locked: bool) -> String {
    let shape = shape(plan, egress_locked);
    let mut out = String::new();
    // Writing to a string does not fail.
    let mut row = |key: &str, value: &str| {
        let _ = writeln!(out, "{key:<10} {}", one_line(value));
    };
    row("feature", shape.feature);
    row("on", &format!("{} {} ({})", shape.env, shape.app, shape.url));
    row("kind", shape.run_kind);
    row(
        "policy",
        &shape.prefix.map_or(shape.policy.to_owned(), |prefix| format!("{} {prefix}", shape.policy)),
    );
    row("egress", if shape.egress_locked { "locked" } else { "open" });
    row("statuses", &shape.statuses.display().to_string());
    row("cases", &shape.cases.join(" "));
    if !shape.fixtures.is_empty() {
        row("fixtures", &shape.fixtures.join(" "));
    }
    row("command", &shape.command.join(" "));
    shape.notes.iter().for_each(|note| row("note", note));
    out
}
