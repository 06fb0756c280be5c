//! How long a large results.json takes to parse and walk, beside node on the same file: `cargo bench --bench results`.
//!
//! 50,000 attempts in some 100 MB. The file is in memory before either begins; the median of a few rounds counts.

use qa_pilot::playwright::results::Results;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;
const ATTEMPTS: usize = 50_000;
/// The same walk in node, which tells its own milliseconds.
const NODE: &str = "
  const text = require('fs').readFileSync(process.argv[1]);
  const start = process.hrtime.bigint();
  let sum = 0;
  const walk = (suite) => {
    for (const spec of suite.specs ?? []) for (const test of spec.tests) for (const result of test.results) {
      sum += result.attachments.length + result.duration + result.status.length;
    }
    for (const nested of suite.suites ?? []) walk(nested);
  };
  for (const suite of JSON.parse(text.toString('utf8')).suites) walk(suite);
  console.log(Number(process.hrtime.bigint() - start) / 1e6);";

/// A report of Playwright's, laid out as Playwright does.
fn report() -> String {
    let mut out = String::from(
        "{\n  \"config\": {\n    \"version\": \"1.65.1\"\n  },\n  \"suites\": [{\n    \"specs\": [\n",
    );
    let noise = r"pressed the button and the total was shown after a while\n".repeat(14);
    let body = "iVBORw0KGgoAAAANSUhEUgAA".repeat(30);
    for index in 0..ATTEMPTS {
        let comma = if index == 0 { "" } else { ",\n" };
        out.push_str(&format!(
            r#"{comma}      {{
        "title": "CHECKOUT-ORDER-{number:03} pays",
        "ok": true,
        "id": "0123456789abcdef-{index}",
        "file": "checkout.spec.ts",
        "tests": [
          {{
            "projectName": "chromium",
            "status": "expected",
            "results": [
              {{
                "status": "passed",
                "duration": {index},
                "retry": 0,
                "errors": [],
                "stdout": [ {{ "text": "{noise}" }} ],
                "attachments": [
                  {{ "name": "screenshot", "contentType": "image/png", "body": "{body}" }},
                  {{ "name": "trace", "contentType": "application/zip", "path": "/home/ci/runs/R/test-results/t{index}/trace.zip" }}
                ]
              }}
            ]
          }}
        ]
      }}"#,
            number = index % 1000
        ));
    }
    out + "\n    ]\n  }]\n}\n"
}

fn walk(bytes: &[u8]) -> Option<f64> {
    let results = Results::parse(black_box(bytes)).ok()?;
    let attempts = results.specs.iter().flat_map(|spec| &spec.tests).flat_map(|test| &test.results);
    let one = |attempt: &qa_pilot::playwright::results::Attempt<'_>| {
        attempt.attachments.len() as f64 + attempt.duration + attempt.status.len() as f64
    };
    Some(attempts.map(one).sum())
}

fn node(file: &Path) -> Option<Duration> {
    let output = Command::new("node").arg("-e").arg(NODE).arg(file).output().ok()?;
    let told: f64 = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
    Some(Duration::from_secs_f64(told / 1e3))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The most memory that this process ever had, in bytes; Linux tells.
fn peak() -> Option<f64> {
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().split(' ').next()?.parse().ok().map(|kib: f64| kib * 1024.0)
}

fn main() -> std::io::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("results.json");
    fs_err::write(&file, report())?;
    let bytes = fs_err::read(&file)?;
    let ours = median(
        (0..ROUNDS)
            .map(|_| {
                let began = Instant::now();
                black_box(walk(&bytes));
                began.elapsed()
            })
            .collect(),
    );
    let mut out = std::io::stdout();
    let size = bytes.len() as f64;
    writeln!(out, "results.json of {:.0} MB, {ATTEMPTS} attempts, median of {ROUNDS}", size / 1e6)?;
    writeln!(out, "  parse and walk          {ours:?}")?;
    // Making the file, which is over by now, took no more.
    if let Some(most) = peak() {
        writeln!(out, "  peak memory             {:.2} times the file", most / size)?;
    }
    match (0..ROUNDS).map(|_| node(&file)).collect::<Option<Vec<_>>>() {
        Some(times) => {
            let node = median(times);
            writeln!(
                out,
                "  node: parse and walk    {node:?}, {:.2} times as long",
                node.as_secs_f64() / ours.as_secs_f64()
            )
        }
        None => writeln!(out, "  node is not there"),
    }
}
