use super::*;
use crate::model::Shard;

fn titles(json: &str) -> Vec<String> {
    Results::parse(json.as_bytes()).unwrap().specs.iter().map(|spec| spec.title.to_string()).collect()
}

#[test]
fn a_suites_own_specs_come_before_nested_ones_whatever_the_key_order() {
    let json = r#"{"suites":[{"suites":[{"specs":[{"title":"b"}]}],"specs":[{"title":"a"}]},{"specs":[{"title":"c"}]}]}"#;
    assert_eq!(titles(json), ["a", "b", "c"]);
}

#[test]
fn specs_are_found_below_ten_thousand_suites() {
    let depth = 10_000;
    let mut json = String::from(r#"{"suites":["#);
    for level in 0..depth {
        json.push_str(r#"{"title":"d","specs":["#);
        if level % 1_000 == 0 {
            json.push_str(&format!(r#"{{"title":"at {level}"}}"#));
        }
        json.push_str(r#"],"suites":["#);
    }
    json.push_str(r#"{"specs":[{"title":"deepest"}]}"#);
    json.push_str(&"]}".repeat(depth));
    json.push_str("]}");
    let found = titles(&json);
    assert_eq!(found.len(), 11);
    assert_eq!(found.last().map(String::as_str), Some("deepest"));
    assert_eq!(found.first().map(String::as_str), Some("at 0"));
}

#[test]
fn steps_that_nest_deep_are_skipped() {
    let deep = format!("{}{}", r#"{"steps":["#.repeat(5_000), "]}".repeat(5_000));
    let json = format!(
        r#"{{"suites":[{{"specs":[{{"title":"t","tests":[{{"results":[{{"status":"passed","steps":[{deep}]}}]}}]}}]}}]}}"#
    );
    let results = Results::parse(json.as_bytes()).unwrap();
    assert_eq!(&*results.specs[0].tests[0].results[0].status, "passed");
}

#[test]
fn old_reports_lack_stats_config_and_ok() {
    let json = r#"{"config":{},"suites":[{"specs":[{"title":"t","tests":[{"results":[{"status":"failed","error":{"value":"'no'"}}]}]}]}]}"#;
    let results = Results::parse(json.as_bytes()).unwrap();
    assert!(results.version.is_none() && results.start_time.is_none() && results.shard.is_none());
    let attempt = &results.specs[0].tests[0].results[0];
    assert_eq!(attempt.error.as_ref().unwrap().text(), Some("'no'"));
    assert_eq!(&*results.specs[0].tests[0].project, "");
}

#[test]
fn a_body_is_noted_and_not_kept() {
    let json = r#"{"suites":[{"specs":[{"title":"t","tests":[{"results":[{"attachments":[
        {"name":"a","body":""},{"name":"b","body":null},{"name":"c","path":""},{"name":"d","path":"/x"}]}]}]}]}]}"#;
    let results = Results::parse(json.as_bytes()).unwrap();
    let found: Vec<_> =
        results.specs[0].tests[0].results[0].attachments.iter().map(|a| (a.has_body, a.file())).collect();
    assert_eq!(found, [(true, None), (false, None), (false, None), (false, Some("/x"))]);
}

#[test]
fn a_wrong_shape_names_its_place() {
    let error = Results::parse(br#"{"suites":[{"specs":[{"title":1}]}]}"#).unwrap_err().to_string();
    assert!(error.contains("suites[0].specs[0].title"), "{error}");
    for wrong in [
        "[]",
        "null",
        "1",
        "{",
        "",
        r#"{"suites":{}}"#,
        r#"{"suites":[1]}"#,
        r#"{"suites":[{"specs":[{}]}]}"#,
    ] {
        assert!(Results::parse(wrong.as_bytes()).is_err(), "{wrong} was read");
    }
}

#[test]
fn a_shard_is_seen() {
    let results = Results::parse(br#"{"config":{"shard":{"current":1,"total":2}}}"#).unwrap();
    assert_eq!(results.shard, Some(Shard { current: 1, total: 2 }));
    assert!(Results::parse(br#"{"config":{"shard":null}}"#).unwrap().shard.is_none());
}

proptest::proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        let _ = Results::parse(&bytes);
    }

    #[test]
    fn no_text_near_a_report_panics(tail in r#"[\[\]{}",:a-z0-9 ]{0,60}"#) {
        let _ = Results::parse(format!(r#"{{"suites":[{{"specs":[{tail}"#).as_bytes());
    }
}
