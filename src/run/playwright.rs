//! What `qa-pilot run` adds to a Playwright command, and nothing else: the JSON reporter, the output folder, the trace mode
//! and the choice of cases. Any other command has to leave `results.json` itself.

use super::selection::Selection;
use crate::host::profile::Capture;
use std::path::Path;

/// A command of the user's, with what was added to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCommand {
    /// Program and arguments.
    pub words: Vec<String>,
    /// Whether it is Playwright's own command, so that the JSON reporter was added.
    pub playwright: bool,
    /// Whether it runs only a part of the tests (`--shard`).
    pub sharded: bool,
}

/// An option of the user's that would take records or traces away.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CommandError {
    /// Nothing behind `--`.
    #[error("no command; put it behind `--`, as in `-- npx playwright test`")]
    Empty,
    /// `--output` of the user's.
    #[error("`{0}`: leave the output folder to qa-pilot; records and traces must lie in the run directory")]
    Output(String),
    /// `--trace` of the user's.
    #[error("`{0}`: leave the trace mode to the profile's evidence.capture")]
    Trace(String),
}

/// Plans the run of `words`.
///
/// # Errors
/// When there is no command, or a Playwright command carries an option that we have to set.
pub fn plan(
    words: &[String],
    run_dir: &Path,
    capture: Capture,
    selection: &Selection,
) -> Result<PlannedCommand, CommandError> {
    if words.is_empty() {
        return Err(CommandError::Empty);
    }
    let Some(at) = test_word(words) else {
        return Ok(PlannedCommand { words: words.to_vec(), playwright: false, sharded: false });
    };
    let (command, options) = words.split_at(at + 1);
    for word in options.iter().take_while(|word| *word != "--") {
        if word == "--output" || word.starts_with("--output=") {
            return Err(CommandError::Output(word.clone()));
        }
        if word == "--trace" || word.starts_with("--trace=") {
            return Err(CommandError::Trace(word.clone()));
        }
    }
    let trace = match capture {
        Capture::Always => "on",
        Capture::OnFailure => "retain-on-failure",
        Capture::Off => "off",
    };
    let mut out = command.to_vec();
    out.push(format!("--output={}", run_dir.join("test-results").display()));
    out.push(format!("--trace={trace}"));
    let (reporters, rest) = take_reporters(options);
    out.push(format!("--reporter={reporters}"));
    let (own, rest) = take_grep(rest);
    out.push(format!("--grep={}", selection.grep(own.as_deref())));
    out.extend(rest);
    let sharded = options.iter().any(|word| word == "--shard" || word.starts_with("--shard="));
    Ok(PlannedCommand { words: out, playwright: true, sharded })
}

/// The index of `test` in `playwright test`, `npx playwright test`, `node .../playwright/cli.js test` and their like.
fn test_word(words: &[String]) -> Option<usize> {
    words
        .windows(2)
        .position(|pair| {
            let program = pair[0].rsplit(['/', '\\']).next().unwrap_or_default();
            let cli = program == "cli.js" && pair[0].contains("playwright");
            let named =
                matches!(program, "playwright" | "playwright.cmd") || program.starts_with("playwright@");
            pair[1] == "test" && (named || cli)
        })
        .map(|index| index + 1)
}

/// The reporters that the options name, with `json` among them, and the other options in their order. Options of the
/// command line replace the reporters of the config, so that without any `list` is what people see.
fn take_reporters(options: &[String]) -> (String, Vec<String>) {
    let (mut named, mut rest) = (None, Vec::new());
    let mut words = options.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            rest.push(word.clone());
            rest.extend(words.by_ref().cloned());
        } else if word == "--reporter" {
            named = words.next().cloned();
        } else if let Some(value) = word.strip_prefix("--reporter=") {
            named = Some(value.to_owned());
        } else {
            rest.push(word.clone());
        }
    }
    let mut named = named.unwrap_or_else(|| "list".to_owned());
    if !named.split(',').any(|name| name == "json") {
        named.push_str(",json");
    }
    (named, rest)
}

/// The last `--grep` of the options, as Playwright takes it, and the other options in their order.
fn take_grep(options: Vec<String>) -> (Option<String>, Vec<String>) {
    let (mut named, mut rest) = (None, Vec::new());
    let mut words = options.into_iter();
    while let Some(word) = words.next() {
        if word == "--" {
            rest.push(word);
            rest.extend(words.by_ref());
        } else if word == "--grep" || word == "-g" {
            named = words.next();
        } else if let Some(value) = word.strip_prefix("--grep=") {
            named = Some(value.to_owned());
        } else if let Some(value) = word.strip_prefix("-g").filter(|value| !value.is_empty()) {
            named = Some(value.strip_prefix('=').unwrap_or(value).to_owned());
        } else {
            rest.push(word);
        }
    }
    (named, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CaseId;

    fn selection() -> Selection {
        Selection { ids: vec![CaseId::parse("A-B-001").unwrap()], ..Selection::default() }
    }

    fn planned(words: &str) -> Result<PlannedCommand, CommandError> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        plan(&words, Path::new("/run"), Capture::Always, &selection())
    }

    #[test]
    fn a_grep_of_the_users_is_taken_along() {
        for given in ["--grep x", "--grep=x", "-g x", "-gx", "--grep y -g x"] {
            let plan = planned(&format!("playwright test {given} a.spec.ts -- --grep z")).unwrap();
            let rest = plan
                .words
                .iter()
                .skip_while(|word| !word.starts_with("--grep="))
                .cloned()
                .collect::<Vec<_>>();
            assert_eq!(
                rest.join(" "),
                format!("--grep={} a.spec.ts -- --grep z", selection().grep(Some("x"))),
                "{given}"
            );
        }
    }

    #[test]
    fn playwright_commands() {
        for command in [
            "npx playwright test",
            "./node_modules/.bin/playwright test",
            "pnpm exec playwright test",
            "node node_modules/@playwright/test/cli.js test",
            "npx playwright@1.65.1 test",
        ] {
            let plan = planned(&format!("{command} specs/a -- --trace off")).unwrap();
            assert!(plan.playwright, "{command}");
            assert_eq!(
                plan.words.join(" "),
                format!(
                    "{command} --output=/run/test-results --trace=on --reporter=list,json --grep={} specs/a -- --trace off",
                    selection().grep(None)
                )
            );
        }
        assert!(planned("npx playwright test --shard=1/2").unwrap().sharded);
    }

    #[test]
    fn reporters_are_added_to() {
        for (given, want) in [
            ("--reporter=html,line", "html,line,json"),
            ("--reporter dot", "dot,json"),
            ("--reporter=json", "json"),
            ("", "list,json"),
        ] {
            let plan = planned(&format!("playwright test {given}")).unwrap();
            assert_eq!(
                plan.words.iter().filter(|word| word.starts_with("--reporter")).collect::<Vec<_>>(),
                [&format!("--reporter={want}")]
            );
        }
    }

    #[test]
    fn other_commands_stay_as_they_are() {
        for command in ["npm test", "make e2e", "npx playwright show-report", "echo playwright"] {
            let plan = planned(command).unwrap();
            assert!(!plan.playwright && plan.words.join(" ") == command, "{command}");
        }
    }

    #[test]
    fn refusals() {
        assert_eq!(planned(""), Err(CommandError::Empty));
        assert!(matches!(planned("npx playwright test --output=x"), Err(CommandError::Output(_))));
        assert!(matches!(planned("npx playwright test --trace off"), Err(CommandError::Trace(_))));
    }
}
