//! `context`: where authors of cases find out about the product.

use std::collections::HashSet;

use serde_json::Value;

use super::super::values::{Faults, Object, text};

pub(super) fn read(root: &Object, faults: &mut Faults) {
    if !root.contains_key("context") {
        return;
    }
    let Some(block) = faults.mapping(root, "", "context") else { return };
    faults.closed(block, "context", &["sources"]);
    let Some(sources) = block.get("sources").and_then(Value::as_array).filter(|list| !list.is_empty()) else {
        faults.add("context.sources", "must be a list with at least one source");
        return;
    };
    let mut names = HashSet::new();
    for (index, value) in sources.iter().enumerate() {
        let at = format!("context.sources[{index}]");
        let Some(source) = value.as_object() else {
            faults.add(at, "must be a mapping");
            continue;
        };
        faults.closed(source, &at, &["name", "description", "command", "path"]);
        if let Some(name) = faults.text(source, &at, "name")
            && !names.insert(name)
        {
            faults.add(format!("{at}.name"), format!("{name} is used twice"));
        }
        faults.text(source, &at, "description");
        place(source, &at, faults);
    }
}

/// A source is a command or a path, never both, and never a file of secrets.
fn place(source: &Object, at: &str, faults: &mut Faults) {
    match (source.contains_key("command"), source.contains_key("path")) {
        (true, false) => {
            faults.text(source, at, "command");
        }
        (false, true) => {
            faults.text(source, at, "path");
            let last = text(source.get("path")).and_then(|path| path.rsplit(['/', '\\']).next());
            if last.is_some_and(|last| last.starts_with(".env")) {
                faults.add(format!("{at}.path"), "must not name an .env file: it holds secrets");
            }
        }
        _ => faults.add(at, "must have exactly one of command and path"),
    }
}
