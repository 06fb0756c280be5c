//! The files that are handed to Playwright: the fixture that specs import, and the script that judges controls in the page.
//!
//! Both are plain text in this folder and embedded here, so that the binary and what it installs are always of one
//! version. The page script is an expression; [`page_guard`] binds its data to it, and the fixture binds what belongs to
//! one browser context.

use serde_json::{Value, json};

/// The fixture that `init` writes beside the specs, as TypeScript source.
pub const WRITE_GUARD_TS: &str = include_str!("write-guard.ts");

/// The default write words, icon classes and icon ligatures, as JSON:
/// `{words: [text], icons: [class prefix], ligature_classes: [class], ligatures: [text]}`.
///
/// Words are matched whole and without regard to case; they hold no characters that mean anything in a pattern.
pub const CONTROLS_JSON: &str = include_str!("controls.json");

// The page script's files, each a function expression, under the names by which guard.js asks for them.
const PAGE_PARTS: [(&str, &str); 6] = [
    ("builtins", include_str!("page/builtins.js")),
    ("hmac", include_str!("page/hmac.js")),
    ("shadowRoots", include_str!("page/roots.js")),
    ("naming", include_str!("page/names.js")),
    ("controls", include_str!("page/controls.js")),
    ("scoping", include_str!("page/scope.js")),
];
const PAGE_GUARD_JS: &str = include_str!("page/guard.js");

/// The page script with `config` bound to it: a JavaScript expression that evaluates to a function of one argument, the
/// object `{key, door, binding, scope}` that the fixture makes for a browser context.
///
/// `config` is an object with these keys, of which an absent one counts as its empty value:
///
/// - `policy`: `read-only` (when absent), `scoped-write` or `unrestricted`; `prefix`: text or null
/// - `words`: ECMAScript patterns, without regard to case, that make a control a write control (beside the defaults)
/// - `icons`: class prefixes that do so (beside the defaults)
/// - `allow`: ECMAScript patterns of whole names that clear a control
/// - `write_signatures`, `allow_signatures`: `[{method, url}]`, for judging where a form goes. A signature that needs
///   more than method and URL (a body, headers) does not belong here: the proxy judges it.
#[must_use]
pub fn page_guard(config: &Value) -> String {
    let list =
        |key: &str| config.get(key).filter(|value| value.is_array()).cloned().unwrap_or_else(|| json!([]));
    let bound = json!({
        "policy": config.get("policy").and_then(Value::as_str).unwrap_or("read-only"),
        "prefix": config.get("prefix").filter(|value| value.is_string()),
        "words": list("words"),
        "icons": list("icons"),
        "allow": list("allow"),
        "write_signatures": list("write_signatures"),
        "allow_signatures": list("allow_signatures"),
    });
    let parts: Vec<String> =
        PAGE_PARTS.iter().map(|(name, source)| format!("{name}: {}", source.trim_end())).collect();
    format!(
        "((guard, parts, controls, config) => (attempt) => guard(parts, controls, config, attempt))({}, {{ {} }}, {}, {})",
        PAGE_GUARD_JS.trim_end(),
        parts.join(",\n"),
        script_literal(CONTROLS_JSON.trim_end()),
        script_literal(&bound.to_string()),
    )
}

// JSON is a subset of JavaScript since ES2019, but a script may be carried inside HTML or by a tool that still takes
// U+2028 for a line end.
fn script_literal(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound_config(script: &str) -> Value {
        let start = script.rfind(", {\"policy\"").unwrap() + 2;
        serde_json::from_str(&script[start..script.len() - 1]).unwrap()
    }

    #[test]
    fn config_is_bound_whole_and_absent_keys_are_strict() {
        let script =
            page_guard(&json!({ "policy": "scoped-write", "prefix": "QA_TEST_", "words": ["^go$"] }));
        let config = bound_config(&script);
        assert_eq!(config["policy"], "scoped-write");
        assert_eq!(config["prefix"], "QA_TEST_");
        assert_eq!(config["words"], json!(["^go$"]));
        assert_eq!(config["write_signatures"], json!([]));
        assert_eq!(bound_config(&page_guard(&json!({})))["policy"], "read-only");
    }

    #[test]
    fn a_pattern_cannot_leave_its_string() {
        let nasty = "</script><!--\u{2028}\"]});alert(1)//";
        let script = page_guard(&json!({ "words": [nasty] }));
        assert_eq!(bound_config(&script)["words"][0], nasty);
        let tail = &script[script.rfind(", {\"policy\"").unwrap()..];
        assert!(!tail.contains('<') && !tail.contains('\u{2028}'));
    }

    #[test]
    fn the_sample_shop_has_this_fixture() {
        assert_eq!(
            include_str!("../../e2e/shop/specs/write-guard.ts"),
            WRITE_GUARD_TS,
            "run qa-pilot init in e2e/shop"
        );
    }

    #[test]
    fn default_words_are_plain_text() {
        let controls: Value = serde_json::from_str(CONTROLS_JSON).unwrap();
        for word in controls["words"].as_array().unwrap() {
            let word = word.as_str().unwrap();
            assert!(word.chars().all(|c| c.is_ascii_lowercase() || c == ' ' || c == '-'), "{word}");
        }
        for key in ["icons", "ligature_classes", "ligatures"] {
            assert!(
                controls[key]
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|entry| entry.as_str().is_some_and(|s| !s.is_empty()))
            );
        }
    }
}
