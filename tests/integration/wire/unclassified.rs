//! What no signature named, from the wire to a first list: the guard keeps it, `rules suggest` makes a list of it, and a guard that
//! takes the list denies the channel and lets its reads pass.

use super::client::Client;
use super::guard::{Start, read};
use super::origin::Origin;
use crate::support::{qa_pilot, told};
use serde_json::{Value, json};

#[tokio::test]
async fn from_a_run_to_a_list_that_denies_the_channel() {
    let origin = Origin::clear().await;
    let named = json!([{ "method": "POST", "url": "/orders$" }]);
    let mut guard = Start::policy("read-only").signatures(named.clone()).run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    for (method, target, want) in [
        ("POST", "/api/orders", 403),
        ("GET", "/api/orders/7", 200),
        ("POST", "/api/orders/search?q=secret", 200),
        ("POST", "/api/orders/search?q=other", 200),
        ("DELETE", "/api/orders/7", 200),
        ("POST", "/api/orders/7/notes", 200),
    ] {
        assert_eq!(client.send(method, target, &[], b"body-text").await.status, want, "{method} {target}");
    }
    assert_eq!(guard.record_of(&attempt).await["unclassified"], 4);
    // Outside of attempts as well.
    let run_proxy = guard.text("run_proxy").replace("http://", "");
    let mut outside = Client::clear(&run_proxy, &origin.authority()).await;
    assert_eq!(outside.send("PUT", "/api/setup", &[], b"x").await.status, 200);
    assert!(guard.stop().success());

    let url = |target: &str| format!("http://{}{target}", origin.authority());
    let kept = read(&guard.run_dir().join("unclassified.json"));
    assert_eq!(
        kept,
        json!({
            "version": 1,
            "requests": [
                { "method": "DELETE", "url": url("/api/orders/7"), "count": 1 },
                { "method": "POST", "url": url("/api/orders/7/notes"), "count": 1 },
                { "method": "POST", "url": url("/api/orders/search?q"), "count": 2 },
                { "method": "PUT", "url": url("/api/setup"), "count": 1 },
            ],
            "more": 0,
        })
    );

    let run_dir = guard.run_dir().display().to_string();
    let output = qa_pilot(std::path::Path::new("."), &["rules", "suggest", &run_dir]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("/api/orders/[^/?]+/notes(\\?|$)' }  # 1 seen; allow it if it only reads"),
        "{text}"
    );
    let suggested: Value = qa_pilot::yaml::parse(std::path::Path::new("s.yaml"), &text).unwrap();

    let taken = Start { config: Some(suggested["mutation"].clone()), ..Start::policy("read-only") }.run();
    let attempt = taken.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    for (method, target, want) in [
        ("POST", "/api/orders/search?q=1", 200),
        ("POST", "/api/orders/search/../../orders/7", 403),
        ("DELETE", "/api/orders/7", 403),
        ("POST", "/api/orders/8/notes", 403),
        ("PATCH", "/api/never-seen", 403),
        ("GET", "/api/orders/7", 200),
    ] {
        assert_eq!(client.send(method, target, &[], b"x").await.status, want, "{method} {target}");
    }
    assert_eq!(taken.record_of(&attempt).await["unclassified"], 0);
}

#[tokio::test]
async fn a_run_in_which_every_write_was_named_suggests_nothing() {
    let mut guard = Start::policy("read-only").run();
    assert!(guard.stop().success());
    let run_dir = guard.run_dir().display().to_string();
    let output = qa_pilot(std::path::Path::new("."), &["rules", "suggest", &run_dir]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("matched a signature"), "{}", told(&output));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("mutation:"), "{}", told(&output));
}
