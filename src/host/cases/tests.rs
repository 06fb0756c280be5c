use serde_json::json;

use super::*;
use crate::host::profile::NetworkEvents;

fn profile() -> Profile {
    let value = json!({
        "project": "shop",
        "apps": { "shop": { "framework": "react", "spec_dir": "e2e", "repo": "." } },
        "environments": { "qa": { "kind": "qa", "apps": { "shop": "https://qa.shop.test" },
            "sha_source": { "url": "https://qa.shop.test/v", "json_path": "commit" } } },
        "auth": { "model": "mixed", "playwright_min": "1.51", "storage_state": { "indexed_db": true } },
        "assertions": { "network_events": "allowed", "style": "mixed" },
        "selectors": { "testid_attribute": "data-testid" },
        "models": { "generation_approved": ["model-a"] },
        "sandbox": { "mode": { "env_var": "API", "value": "mocks" } },
        "clickup": { "space": "QA" }
    });
    let (profile, faults, _) = Profile::check(&value, &|_| true);
    profile.unwrap_or_else(|| panic!("{faults:?}"))
}

fn base() -> Value {
    json!({
        "feature": "checkout",
        "model_version": "model-a",
        "generated_at": "2026-11-28T09:00:00Z",
        "scenario_mix": { "happy": "covered", "negative": { "n_a": "none" }, "boundary": { "n_a": "none" },
            "permission": { "n_a": "none" }, "data-validation": { "n_a": "none" } },
        "cases": [
            { "id": "CHECKOUT-ORDER-001", "title": "Pays", "priority": "P1", "type": "happy",
              "steps": ["Press Pay"], "expected": ["The order number is shown"], "fixture": "order", "covers": ["O/A"] }
        ],
        "mutation": { "policy": "scoped-write", "prefix": "QA_" },
        "fixtures": [{ "name": "order", "teardown": "keep" }],
        "requirements": [{ "id": "O", "title": "t", "criteria": [{ "id": "A", "text": "t" }] }]
    })
}

fn paths(value: &Value) -> Vec<String> {
    lint(value, Some("checkout"), &profile()).faults.into_iter().map(|fault| fault.path).collect()
}

fn set(pointer: &str, new: Value) -> Value {
    let mut value = base();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Array(list) => list[key.parse::<usize>().unwrap()] = new,
        other => {
            other.as_object_mut().unwrap().insert(key.to_owned(), new);
        }
    }
    value
}

#[test]
fn the_base_is_clean_and_typed() {
    let found = lint(&base(), Some("checkout"), &profile());
    assert!(found.faults.is_empty() && found.warnings.is_empty(), "{found:?}");
    let cases = Cases::from_value(&base()).unwrap();
    assert_eq!((cases.policy, cases.prefix.as_deref()), (PolicyKind::ScopedWrite, Some("QA_")));
    assert_eq!(cases.fixture("order").unwrap().teardown, Teardown::Keep);
    assert_eq!(cases.cases[0].fixture.as_deref(), Some("order"));
}

#[test]
fn each_fault_of_mutation_and_fixtures_has_its_place() {
    for (pointer, value, want) in [
        ("/mutation", json!(null), vec!["mutation"]),
        ("/mutation", json!({ "policy": "none" }), vec!["mutation.policy"]),
        ("/mutation", json!({}), vec!["mutation.policy"]),
        ("/mutation", json!({ "policy": "scoped-write" }), vec!["mutation.prefix"]),
        ("/mutation", json!({ "policy": "scoped-write", "prefix": "ab" }), vec!["mutation.prefix"]),
        ("/mutation", json!({ "policy": "scoped-write", "prefix": "a b c" }), vec!["mutation.prefix"]),
        ("/mutation", json!({ "policy": "unrestricted", "prefix": "abc" }), vec!["mutation.prefix"]),
        ("/mutation", json!({ "policy": "unrestricted", "prefix": null }), vec!["mutation.prefix"]),
        ("/mutation", json!({ "policy": "unrestricted", "x": 1 }), vec!["mutation.x"]),
        ("/mutation", json!({ "policy": "read-only" }), vec!["fixtures"]),
        ("/fixtures", json!({}), vec!["fixtures", "cases[CHECKOUT-ORDER-001].fixture"]),
        ("/fixtures", json!([]), vec!["cases[CHECKOUT-ORDER-001].fixture"]),
        ("/fixtures", json!(["order"]), vec!["fixtures[0]", "cases[CHECKOUT-ORDER-001].fixture"]),
        (
            "/fixtures",
            json!([{ "name": "Order" }]),
            vec!["fixtures[0].name", "cases[CHECKOUT-ORDER-001].fixture"],
        ),
        ("/fixtures", json!([{ "name": "order" }, { "name": "order" }]), vec!["fixtures[1].name"]),
        ("/fixtures", json!([{ "name": "order", "teardown": "maybe" }]), vec!["fixtures[0].teardown"]),
        ("/cases/0/fixture", json!(7), vec!["cases[CHECKOUT-ORDER-001].fixture"]),
        ("/cases/0/fixture", json!("other"), vec!["cases[CHECKOUT-ORDER-001].fixture"]),
    ] {
        let value = set(pointer, value);
        assert_eq!(paths(&value), want, "{pointer}: {value}");
        let own: Vec<String> = mutation_faults(&value).into_iter().map(|fault| fault.path).collect();
        assert_eq!(own, want, "the gate sees the same");
    }
}

#[test]
fn the_head_has_places_too() {
    for (pointer, value, want) in [
        ("/feature", json!("basket"), "feature"),
        ("/feature", json!(7), "feature"),
        ("/model_version", json!("model-z"), "model_version"),
        ("/generated_at", json!("yesterday"), "generated_at"),
        ("/cases", json!("x"), "cases"),
        ("/cases/0", json!("x"), "cases[0]"),
    ] {
        assert!(paths(&set(pointer, value.clone())).contains(&want.to_owned()), "{pointer} = {value}");
    }
    let many: Vec<Value> = (0..26)
        .map(|n| json!({ "id": format!("A-B-{n:03}"), "title": "t", "priority": "P0", "type": "happy", "steps": ["s"],
            "expected": ["The order number is shown"], "covers": ["O/A"], "fixture": "order" }))
        .collect();
    assert_eq!(paths(&set("/cases", Value::Array(many))), ["cases"]);
}

#[test]
fn warnings_do_not_refuse() {
    let mut value = base();
    value["cases"][0].as_object_mut().unwrap().remove("fixture");
    value["cases"][0].as_object_mut().unwrap().remove("covers");
    value["cases"][0]["expected"] = json!(["It is gone and over"]);
    let found = lint(&value, Some("checkout"), &profile());
    let at: Vec<&str> = found.warnings.iter().map(|warning| warning.path.as_str()).collect();
    assert_eq!(
        at,
        ["cases[CHECKOUT-ORDER-001].expected[0]", "fixtures[order]", "requirements[0].criteria[0]"]
    );
    assert!(found.faults.is_empty(), "{:?}", found.faults);
}

#[test]
fn wire_wording_counts_only_where_the_network_is_forbidden() {
    let value = set("/cases/0/expected", json!(["The API call returns 7 rows"]));
    assert!(paths(&value).is_empty());
    let strict = Profile { network_events: NetworkEvents::Forbidden, ..profile() };
    let found = lint(&value, Some("checkout"), &strict).faults;
    let at: Vec<&str> = found.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(at, ["cases[CHECKOUT-ORDER-001].expected[0]", "cases[CHECKOUT-ORDER-001]"]);
}

#[test]
fn no_mutation_means_unrestricted() {
    let cases = Cases::from_value(&json!({ "feature": "f" })).unwrap();
    assert_eq!((cases.policy, cases.prefix), (PolicyKind::Unrestricted, None));
    assert!(Cases::from_value(&json!([])).is_none() && Cases::from_value(&Value::Null).is_none());
}

proptest::proptest! {
    #[test]
    fn no_yaml_panics(text in r"[a-z:\-\[\]{}, \n\x22'&*!|>0-9]{0,200}") {
        if let Ok(value) = yaml::parse(Path::new("cases.yaml"), &text) {
            lint(&value, Some("x"), &profile());
            Cases::from_value(&value);
        }
    }
}
