use serde_json::json;

use super::*;

fn base() -> Value {
    json!({
        "project": "shop",
        "apps": { "storefront": { "framework": "react", "spec_dir": "e2e/specs", "repo": "." } },
        "environments": {
            "qa": {
                "kind": "qa",
                "apps": { "storefront": "https://qa.shop.test" },
                "sha_source": { "url": "https://qa.shop.test/v", "json_path": "commit" }
            },
            "prod": {
                "kind": "production",
                "apps": { "storefront": "https://shop.test" },
                "test_account": "qa-runner@shop.test, no admin rights",
                "sha_source": { "url": "https://shop.test/v", "regex": "build (\\w+)" }
            }
        },
        "auth": { "model": "role-accounts", "playwright_min": "1.51.0", "storage_state": { "indexed_db": true } },
        "assertions": { "network_events": "allowed", "style": "mixed" },
        "selectors": { "testid_attribute": "data-testid" },
        "models": { "generation_approved": ["model-a"] },
        "sandbox": { "mode": { "env_var": "API", "value": "mocks" } },
        "mutation": { "write_signatures": [{ "method": "POST", "url": "/orders" }] },
        "clickup": { "space": "QA" }
    })
}

/// The base profile with the value at a pointer set (or taken out for null).
fn with(pointer: &str, value: Value) -> Value {
    let mut profile = base();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let object = profile.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    if value.is_null() {
        object.remove(key);
    } else {
        object.insert(key.to_owned(), value);
    }
    profile
}

fn faults(value: &Value) -> Vec<String> {
    Profile::check(value, &|_| false).1.into_iter().map(|fault| fault.path).collect()
}

fn warnings(value: &Value) -> Vec<String> {
    let (profile, faults, warnings) = Profile::check(value, &|_| false);
    assert!(profile.is_some(), "{faults:?}");
    warnings.into_iter().map(|warning| warning.path).collect()
}

#[test]
fn the_base_is_valid_and_evidence_defaults() {
    let (profile, faults, _) = Profile::check(&base(), &|_| true);
    let profile = profile.unwrap_or_else(|| panic!("{faults:?}"));
    let upload = |name: &str| profile.effective_upload(profile.environment(name).unwrap());
    assert_eq!(upload("qa"), Upload::Reference);
    assert_eq!(upload("prod"), Upload::Local);
    assert_eq!(profile.normalised["environments"]["qa"]["evidence_upload"], "reference");
    assert_eq!(profile.normalised["environments"]["prod"]["evidence_upload"], "local");
    assert!(profile.normalised.get("tracker").is_none(), "no other default is filled in");
}

#[test]
fn without_a_tracker_everything_stays_local_and_clickup_goes() {
    let mut value = with("/tracker", json!("none"));
    value["environments"]["qa"]["evidence_upload"] = json!("tracker");
    assert_eq!(
        warnings(&value),
        ["environments.qa.evidence_upload", "clickup"],
        "both are not looked at, and say so"
    );
    let profile = Profile::check(&value, &|_| true).0.unwrap();
    assert_eq!(profile.normalised["environments"]["qa"]["evidence_upload"], "local");
    assert!(profile.normalised.get("clickup").is_none() && profile.clickup.is_none());
}

#[test]
fn each_fault_has_its_place() {
    let cases = [
        ("/project", json!(" "), "project"),
        ("/projct", json!(1), "projct"),
        ("/tracker", json!("jira"), "tracker"),
        ("/stabilization", json!({ "env": "prod" }), "stabilization.env"),
        ("/stabilization", json!({ "env": "gone" }), "stabilization.env"),
        ("/stabilization", json!({ "env": "qa", "x": 1 }), "stabilization.x"),
        ("/auth/model", json!("none"), "auth.model"),
        ("/auth/playwright_min", json!(1.6), "auth.playwright_min"),
        ("/auth/playwright_min", json!("v1.60"), "auth.playwright_min"),
        ("/auth/playwright_min", json!("1.50.9"), "auth.playwright_min"),
        ("/auth/storage_state", json!({ "indexed_db": "true" }), "auth.storage_state.indexed_db"),
        ("/assertions/network_events", json!("forbidden"), "assertions.style"),
        ("/evidence", json!({ "extra": ["video"] }), "evidence.extra"),
        ("/evidence", json!({ "capture": "on-failure" }), "evidence.capture"),
        ("/evidence", json!([]), "evidence"),
        ("/selectors/testid_attribute", json!(""), "selectors.testid_attribute"),
        ("/models/generation_approved", json!([]), "models.generation_approved"),
        ("/sandbox/mode", json!({ "env_var": "A" }), "sandbox.mode.value"),
        ("/clickup", json!(null), "clickup"),
        ("/environments/qa/origins", json!(["x"]), "environments.qa.origins"),
        ("/mutation", json!({ "write_signatures": [], "packs": null }), "mutation.write_signatures"),
    ];
    for (pointer, value, want) in cases {
        let profile = with(pointer, value.clone());
        assert_eq!(faults(&profile), [want], "{pointer} = {value}");
    }
}

#[test]
fn a_null_evidence_block_is_a_fault() {
    let mut value = base();
    value["evidence"] = Value::Null;
    assert_eq!(faults(&value), ["evidence"]);
}

#[test]
fn oddities_are_warnings() {
    assert_eq!(warnings(&base()), ["clickup.statuses"]);
    let value = with("/selectors/policy_doc", json!("docs/selectors.md#rules"));
    assert!(warnings(&value).contains(&"selectors.policy_doc".to_owned()));
    let mut value = base();
    value["environments"]["qa"]["apps"]["storefront"] = json!("https://shop.com");
    assert!(warnings(&value).contains(&"environments.qa.apps.storefront".to_owned()));
    value["environments"]["qa"]["sha_source"]["format"] = json!("build-id");
    assert!(warnings(&value).contains(&"environments.qa.sha_source.format".to_owned()));
    let mut value = base();
    value["assertions"] = json!({ "network_events": "forbidden", "style": "ui-state" });
    assert!(warnings(&value).contains(&"evidence.extra".to_owned()));
}

#[test]
fn all_faults_come_at_once() {
    let mut value = base();
    value["project"] = json!("");
    value["auth"]["model"] = json!("x");
    value["mutation"]["write_signatures"][0]["url"] = json!("(");
    assert_eq!(faults(&value), ["project", "auth.model", "mutation.write_signatures[0].url"]);
}

#[test]
fn statuses_of_the_host_are_found_whatever_the_case() {
    let names = json!({
        "case_review": "To Review", "approved_for_execution": "Go", "under_review": "Looking", "approved": "Accepted",
        "rejected": "No", "retest": "Again", "quarantined": "Aside"
    });
    let profile = Profile::check(&with("/clickup/statuses", names.clone()), &|_| true).0.unwrap();
    assert_eq!(profile.statuses.key("  aCCepted "), Some(StatusKey::Approved));
    assert_eq!(profile.statuses.key("Approved"), None, "a canonical name that the host renamed is none");
    assert_eq!(profile.statuses.name(StatusKey::Retest), "Again");
    let mut twice = names;
    twice["retest"] = json!("go ");
    assert_eq!(faults(&with("/clickup/statuses", twice)), ["clickup.statuses.retest"]);
}

proptest::proptest! {
    #[test]
    fn no_yaml_panics(text in r"[a-z:\-\[\]{}, \n\x22'&*!|>0-9]{0,200}") {
        if let Ok(value) = yaml::parse(Path::new("p.yaml"), &text) {
            let (profile, faults, _) = Profile::check(&value, &|_| true);
            proptest::prop_assert_eq!(profile.is_none(), !faults.is_empty());
        }
    }
}

/// Every scalar and container of a valid profile replaced by every kind of value, one at a time.
#[test]
fn no_wrong_type_anywhere_panics() {
    fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
        out.push(at.to_owned());
        match value {
            Value::Object(object) => {
                object.iter().for_each(|(key, value)| pointers(value, &format!("{at}/{key}"), out))
            }
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(i, value)| pointers(value, &format!("{at}/{i}"), out))
            }
            _ => {}
        }
    }
    let mut all = Vec::new();
    pointers(&base(), "", &mut all);
    for pointer in all {
        for wrong in [
            json!(null),
            json!(true),
            json!(-1.5),
            json!(""),
            json!("x"),
            json!([]),
            json!([null]),
            json!({}),
            json!({"": null}),
        ] {
            let mut value = base();
            *value.pointer_mut(&pointer).unwrap() = wrong;
            let (profile, faults, _) = Profile::check(&value, &|_| true);
            assert_eq!(profile.is_none(), !faults.is_empty(), "{pointer}");
        }
    }
}
