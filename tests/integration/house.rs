//! Which room may import which: data flows one way, and the half that guards and the half that reports meet on disk only.

use std::collections::BTreeSet;
use std::path::Path;

/// A room and the rooms it may import, besides itself. Rooms that are not named may import nothing.
const HOUSE: &[(&str, &[&str])] = &[
    ("build", &[]),
    (
        "cli",
        &[
            "egress",
            "exit",
            "files",
            "gate",
            "host",
            "json",
            "merge",
            "model",
            "playwright",
            "policy",
            "proxy",
            "publish",
            "render",
            "report",
            "rules",
            "run",
        ],
    ),
    ("egress", &[]),
    ("exit", &[]),
    ("files", &["model"]),
    ("gate", &["files", "host", "json", "merge", "model", "playwright", "record", "report", "yaml"]),
    ("host", &["files", "json", "model", "pattern", "policy", "yaml"]),
    ("json", &["files"]),
    ("lib", &[]),
    ("main", &[]),
    ("merge", &["files", "host", "model", "playwright", "report", "yaml"]),
    ("model", &[]),
    ("pattern", &[]),
    ("playwright", &["files", "model"]),
    ("policy", &["model", "pattern", "yaml"]),
    ("proxy", &["egress", "files", "model", "pattern", "policy", "record"]),
    ("publish", &["files", "gate", "host", "json", "model", "report", "yaml"]),
    ("record", &["files", "json", "model", "pattern", "policy"]),
    (
        "render",
        &[
            "files", "gate", "host", "model", "pattern", "policy", "publish", "record", "report", "rules",
            "run", "yaml",
        ],
    ),
    ("report", &["files", "host", "json", "model", "playwright", "record"]),
    ("rules", &["files", "model", "policy", "proxy", "record", "yaml"]),
    (
        "run",
        &[
            "egress",
            "files",
            "gate",
            "host",
            "model",
            "pattern",
            "playwright",
            "policy",
            "proxy",
            "publish",
            "record",
            "report",
            "yaml",
        ],
    ),
    ("yaml", &["files"]),
];

#[test]
fn rooms_import_only_what_the_house_allows() {
    let mut strangers = Vec::new();
    let mut rooms = BTreeSet::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in walkdir::WalkDir::new(&root).sort_by_file_name() {
        let entry = entry.unwrap();
        if entry.path().extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let inner = entry.path().strip_prefix(&root).unwrap();
        let room = inner.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_owned();
        rooms.insert(room.clone());
        let allowed = HOUSE.iter().find(|(name, _)| *name == room).map(|(_, allowed)| *allowed);
        let allowed = allowed.unwrap_or_else(|| panic!("the room {room} is not in the house"));
        for other in imports(&fs_err::read_to_string(entry.path()).unwrap()) {
            if other != room && !allowed.contains(&other.as_str()) {
                strangers.push(format!("{} imports {other}", inner.display()));
            }
        }
    }
    assert!(strangers.is_empty(), "{}", strangers.join("\n"));
    let named: BTreeSet<String> = HOUSE.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(named, rooms, "the table names rooms that are not there");
}

/// The rooms that a source text names after `crate::`, alone or in braces.
fn imports(source: &str) -> BTreeSet<String> {
    let after = regex::Regex::new(r"\bcrate::(\w+|\{[^;]*?\};)").unwrap();
    let nested = regex::Regex::new(r"::\{[^{}]*\}").unwrap();
    let first = regex::Regex::new(r"(?:[{,]\s*)(\w+)").unwrap();
    let mut found = BTreeSet::new();
    let source = source.replace("crate::{", "crate::\u{0}");
    let source = nested.replace_all(&source, "").replace('\u{0}', "{");
    for hit in after.captures_iter(&source) {
        let text = &hit[1];
        if text.starts_with('{') {
            found.extend(first.captures_iter(text).map(|room| room[1].to_owned()));
        } else {
            found.insert(text.to_owned());
        }
    }
    found
}

#[test]
fn imports_are_found_alone_and_in_braces() {
    let found = imports(
        "use crate::files::{self, FileError};\nuse crate::{json::{self, parse}, yaml};\nlet x = crate::model::Verdict::Pass;",
    );
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["files", "json", "model", "yaml"]);
}
