//! `qa-pilot rules`: packs shown and checked, requests judged, every refusal.

use std::process::Output;

use serde_json::{Value, json};

use crate::support::{Host, VersionServer, qa_pilot, told};

fn host() -> Host {
    Host::new(VersionServer::start("{}").address)
}

fn run(host: &Host, arguments: &[&str]) -> Output {
    qa_pilot(host.path(), &[&["rules"], arguments].concat()).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn packs_are_listed_shown_and_hold() {
    let host = host();
    let listed = run(&host, &["list"]);
    assert_eq!(listed.status.code(), Some(0), "{}", told(&listed));
    let names: Vec<String> =
        out(&listed).lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("proxy-rules");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().trim_end_matches(".yaml").to_owned())
        .collect();
    files.sort();
    assert_eq!(names, files, "the binary has every pack of the folder");
    assert!(
        out(&listed)
            .contains("nextjs               Next.js server actions: 2 write, 0 allow, 0 drop, 7 examples\n"),
        "{}",
        out(&listed)
    );

    let shown = run(&host, &["show", "rest"]);
    assert_eq!(out(&shown), include_str!("../../proxy-rules/rest.yaml"));
    host.write("own.yaml", &out(&shown));
    let checked = run(&host, &["check", "own.yaml"]);
    assert_eq!((checked.status.code(), out(&checked).as_str()), (Some(0), "own.yaml: 17 examples hold\n"));

    let all = run(&host, &["check"]);
    assert_eq!(all.status.code(), Some(0), "{}", told(&all));
    assert_eq!(out(&all).lines().filter(|line| line.ends_with(" examples hold")).count(), files.len());
}

#[test]
fn failing_and_malformed_packs() {
    let host = host();
    let fails = "title: t\nwrite_signatures:\n  - { method: POST, url: /a }\nexamples:\n  - { request: GET https://x.test/a, expect: write }\n  - { request: POST https://x.test/a, expect: write }\n";
    host.write("fails.yaml", fails);
    host.write("holds.yaml", &fails.replace("GET", "POST"));
    host.write("no-pack.yaml", "title: t\nwrite: []\n");
    host.write("no-yaml.yaml", "title: [\n");
    for (files, exit, message) in [
        (
            &["fails.yaml"][..],
            1,
            "fails.yaml:5: examples[0]: GET https://x.test/a is a read, not a write: no write signature fires",
        ),
        (&["fails.yaml", "holds.yaml"], 1, "fails.yaml:5"),
        (&["no-pack.yaml"], 2, "no-pack.yaml is no signature pack: write: unknown key; known are title"),
        (&["no-pack.yaml"], 2, "examples: must be a list with at least one request"),
        (&["fails.yaml", "no-yaml.yaml"], 2, "no-yaml.yaml:1:8: "),
        (&["none.yaml"], 2, "none.yaml: no such file"),
    ] {
        let output = run(&host, &[&["check"], files].concat());
        assert_eq!(output.status.code(), Some(exit), "{}", told(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains(message), "{message}: {}", told(&output));
        assert_eq!(out(&output).contains("holds.yaml: 2 examples hold"), files.contains(&"holds.yaml"));
    }
}

#[test]
fn one_request_is_judged() {
    let host = host();
    host.write("body.bin", "name=QA_TEST_1");
    let judge = |arguments: &[&str]| {
        let output = run(&host, &[&["judge", "--profile", "qa-pilot.config.yaml"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        out(&output)
    };
    assert_eq!(
        judge(&["--request", "POST https://shop.test/orders"]),
        "block        POST https://shop.test/orders  write signature 0: POST /orders$  [mutation.write_signatures[0]]\n"
    );
    assert_eq!(
        judge(&["--request", "GET https://shop.test/orders"]),
        "pass         GET https://shop.test/orders\n"
    );
    assert_eq!(
        judge(&["--request", "POST https://shop.test/orders/7", "--body", "@body.bin"]),
        "unclassified POST https://shop.test/orders/7\n"
    );
    let overridden = judge(&["--request", "GET https://shop.test/orders", "--header", "X-HTTP-Method: POST"]);
    assert!(overridden.contains(", as POST  ["), "{overridden}");
    let scoped = ["--policy", "scoped-write", "--prefix", "QA_TEST_", "--request"];
    let observed = judge(&[&scoped[..], &["POST https://shop.test/orders?QA_TEST_1"]].concat());
    assert!(observed.starts_with("unclassified "), "the pattern ends with the path: {observed}");
    let observed = judge(&[&scoped[..], &["POST https://shop.test/QA_TEST_/orders"]].concat());
    assert!(observed.starts_with("observe ") && observed.contains(", scope prefix"), "{observed}");
}

fn har() -> Value {
    let entry = |request: Value| json!({ "request": request, "response": { "status": 200 } });
    json!({ "log": { "version": "1.2", "entries": [
        entry(json!({ "method": "GET", "url": "https://shop.test/", "headers": [], "bodySize": 0 })),
        entry(json!({ "method": "POST", "url": "https://shop.test/orders", "headers": [{ "name": ":path", "value": "/orders" }], "bodySize": 2,
            "postData": { "mimeType": "application/json", "text": "{}" } })),
        entry(json!({ "method": "PUT", "url": "https://shop.test/cart", "headers": [], "bodySize": -1 })),
        entry(json!({ "method": "PUT", "url": "https://shop.test/cart", "headers": [], "bodySize": -1 })),
        entry(json!({ "method": "GET", "url": "data:,x", "headers": [], "bodySize": 0 })),
        entry(json!({ "method": "POST", "url": "https://shop.test/x", "headers": [], "bodySize": 30,
            "postData": { "mimeType": "application/x-www-form-urlencoded", "params": [{ "name": "q", "value": "a b" }] } })),
    ] } })
}

#[test]
fn a_har_is_judged() {
    let host = host();
    host.write("a.har", &har().to_string());
    let arguments = ["judge", "--profile", "qa-pilot.config.yaml", "--har", "a.har"];
    let output = run(&host, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(out(&output).lines().count(), 5);
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "5 request(s): 1 block, 3 unclassified, 1 pass; 1 never on the network\n\
         no signature names these, and their methods usually write:\n  POST https://shop.test/x\n  PUT https://shop.test/cart\n"
    );
    let output = run(&host, &[&arguments[..], &["--json"]].concat());
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let keys: Vec<&String> = told.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["policy", "prefix", "write_signatures", "requests", "summary", "skipped", "unclassified"]
    );
    assert_eq!(told["summary"], json!({ "block": 1, "observe": 0, "drop": 0, "unclassified": 3, "pass": 1 }));
    assert_eq!(
        told["requests"][1],
        json!({ "place": "log.entries[1]", "method": "POST", "url": "https://shop.test/orders", "verdict": "block",
            "reason": "write signature 0: POST /orders$", "effective_method": null, "in_scope": null,
            "fired": "mutation.write_signatures[0]", "cleared": null, "dropped": null })
    );
    assert_eq!(told["unclassified"].as_array().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_judged_is_an_input_fault() {
    let host = host();
    host.write("shape.har", r#"{"log":{"entries":[{"request":{"method":"GET"}}]}}"#);
    host.write("method.har", r#"{"log":{"entries":[{"request":{"method":"G T","url":"https://a.test/"}}]}}"#);
    host.write("broken.yaml", "project: [\n");
    // A hole on the disk: large, and nothing is written.
    std::fs::File::create(host.path().join("large.har")).unwrap().set_len((256 << 20) + 1).unwrap();
    let profile = ["--profile", "qa-pilot.config.yaml"];
    let with = |arguments: &[&'static str]| [&profile[..], arguments].concat();
    let one =
        |arguments: &[&'static str]| with(&[&["--request", "POST https://a.test/"], arguments].concat());
    for (arguments, message) in [
        (with(&["--har", "shape.har"]), "shape.har: log.entries[0].request: missing field `url`"),
        (with(&["--har", "method.har"]), "method.har: log.entries[0].request: `G T` is no method"),
        (with(&["--har", "large.har"]), "large.har: is larger than 256 MiB, the most that is read"),
        (with(&["--har", "none.har"]), "none.har: no such file"),
        (with(&["--request", "POST"]), "`POST` is no request; write a method and a URL"),
        (with(&["--request", "POST data:,x"]), "`data:,x` is not sent over http"),
        (with(&["--request", "POST https:///x"]), "names no host"),
        (one(&["--header", "x"]), "the header `x` cannot be sent"),
        (one(&["--body", "@none"]), "none: no such file"),
        (one(&["--policy", "scoped-write"]), "--prefix must match [A-Za-z0-9_-]{3,} under scoped-write"),
        (one(&["--prefix", "QA_"]), "--prefix is only for scoped-write"),
        (one(&["--policy", "strict"]), "use read-only, scoped-write or unrestricted"),
        (one(&["--har", "a.har"]), "cannot be used with"),
        (with(&[]), "required"),
        (with(&["--har", "shape.har", "--body", "x"]), "cannot be used with"),
        (with(&["--har", "shape.har", "--header", "A: b"]), "cannot be used with"),
        (
            vec!["--profile", "none.yaml", "--request", "GET https://a.test/"],
            "there is no profile at none.yaml",
        ),
        (vec!["--profile", "broken.yaml", "--request", "GET https://a.test/"], "broken.yaml:1:"),
    ] {
        let output = run(&host, &[&["judge"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains(message), "{message}: {}", told(&output));
        assert!(output.stdout.is_empty());
    }
    for (arguments, message) in [
        (&["show", "grapql"][..], "no signature pack is named grapql; there are analytics, "),
        (&["suggest", "."], ". has no unclassified.json: it is no run directory"),
        (&["suggest", "none"], "none has no unclassified.json"),
    ] {
        let output = run(&host, arguments);
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains(message), "{}", told(&output));
    }
}

#[test]
fn a_profile_takes_every_pack_and_names_its_entries() {
    let host = host();
    let profile = fs_err::read_to_string(host.path().join("qa-pilot.config.yaml")).unwrap();
    let listed = out(&run(&host, &["list"]));
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    host.write("qa-pilot.config.yaml", &format!("{profile}  packs: [{}]\n", names.join(", ")));
    for (request, want) in [
        ("POST https://shop.test/trpc/order.create", "block"),
        ("GET https://shop.test/logout", "[pack get-writes: write_signatures[0]]"),
        ("GET https://www.google-analytics.com/g/collect", "drop "),
    ] {
        let arguments = ["judge", "--profile", "qa-pilot.config.yaml", "--request", request];
        assert!(out(&run(&host, &arguments)).contains(want), "{request}");
    }
}
