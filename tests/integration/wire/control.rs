//! The control API: who is heard, and what is refused.

use super::client::{Client, connect, exchange};
use super::guard::Start;
use super::origin::Origin;
use serde_json::{Value, json};

#[tokio::test]
async fn only_the_token_is_heard_and_never_a_page() {
    let guard = Start::policy("read-only").run();
    let token = format!("Bearer {}", guard.text("token"));
    let lower = format!("bearer {}", guard.text("token"));
    for (headers, status) in [
        (vec![], 401),
        (vec![("authorization", "Bearer x")], 401),
        (vec![("authorization", "Basic x")], 401),
        (vec![("authorization", lower.as_str())], 200),
        (vec![("authorization", token.as_str())], 200),
        (vec![("authorization", token.as_str()), ("origin", "https://a.test")], 403),
        (vec![("authorization", token.as_str()), ("origin", "null")], 403),
    ] {
        let (answered, body) = guard.call_with("GET", "/health", Value::Null, &headers).await;
        assert_eq!(answered, status, "{headers:?}");
        assert_eq!(body["status"] == "ok", status == 200);
        assert_eq!(body["error"].is_string(), status != 200);
    }
}

#[tokio::test]
async fn unknown_calls_and_bad_bodies() {
    let guard = Start::policy("read-only").run();
    let begin = guard.begin_body("t1", 0, 0);
    let with = |key: &str, value: Value| {
        let mut body = begin.clone();
        body[key] = value;
        body
    };
    let run_dir = guard.run_dir();
    for (method, path, body, status) in [
        ("GET", "/nothing", Value::Null, 404),
        ("GET", "/attempts/none", Value::Null, 404),
        ("POST", "/attempts/none/finish", json!({}), 404),
        ("POST", "/attempts/none/page", json!({}), 404),
        ("DELETE", "/attempts", Value::Null, 405),
        ("POST", "/attempts", json!({}), 400),
        ("POST", "/attempts", with("retry", json!(-1)), 400),
        ("POST", "/attempts", with("output_dir", json!("/tmp")), 400),
        ("POST", "/attempts", with("output_dir", json!(run_dir.join("../x"))), 400),
        ("POST", "/attempts", with("output_dir", json!(run_dir.join("late/x"))), 400),
        ("POST", "/attempts", with("output_dir", json!(run_dir.join("a/../unfinished"))), 400),
        ("POST", "/attempts", begin.clone(), 201),
        ("POST", "/attempts/t1-r0/scope", json!({ "url": "(" }), 400),
        ("POST", "/attempts/t1-r0/scope", json!({ "url": "/a" }), 204),
        ("POST", "/attempts/t1-r0/finish", json!({ "keep": "x" }), 400),
        ("POST", "/attempts/t1-r0/finish", json!({}), 204),
        ("POST", "/attempts/t1-r0/finish", json!({}), 409),
        ("POST", "/attempts/t1-r0/scope", json!({ "url": "/a" }), 409),
    ] {
        let (answered, answer) = guard.call(method, path, body.clone()).await;
        assert_eq!(answered, status, "{method} {path} {body}: {answer}");
        assert_eq!(answer["error"].is_string(), status >= 400, "{answer}");
    }
}

#[tokio::test]
async fn begin_says_all_that_a_fixture_needs() {
    let signatures = json!([{ "method": "POST", "url": "/a" }, { "method": "PUT", "url": "/b" }]);
    let guard = Start::policy("scoped-write").signatures(signatures).run();
    let attempt = guard.begin("t1").await;
    let answer = &attempt.answer;
    assert_eq!((&answer["policy"], &answer["prefix"]), (&json!("scoped-write"), &json!("QA_TEST_")));
    assert_eq!((&answer["interval"], &answer["write_signatures"]), (&json!(1), &json!(2)));
    assert_eq!(answer["ca_spki"].as_str(), Some(guard.text("ca_spki").as_str()));
    assert_eq!(attempt.secret.len(), 32);
    assert!(answer["page_guard"].as_str().unwrap().contains("QA_TEST_"));
}

#[tokio::test]
async fn the_main_port_takes_no_proxy_requests() {
    let guard = Start::policy("read-only").run();
    let main = guard.text("proxy").replace("http://", "");
    for request in [
        "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n",
    ] {
        let answer = exchange(connect(&main).await, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
        assert_eq!(answer.split("\r\n\r\n").nth(1).unwrap().lines().count(), 1);
    }
}

#[tokio::test]
async fn the_probe_answers_through_a_port_only_and_counts_for_nothing() {
    let origin = Origin::clear().await;
    let mut guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let control = guard.text("control");
    let main = guard.text("proxy").replace("http://", "");
    let run = guard.text("run_proxy").replace("http://", "");
    for (port, kind) in [(&attempt.proxy, "attempt"), (&run, "run")] {
        let absolute = Client::direct(port).await.send("GET", &format!("{control}/probe"), &[], b"").await;
        let tunnelled =
            Client::clear(port, &main).await.send("GET", "/__qa_pilot__/v1/probe", &[], b"").await;
        for answer in [absolute, tunnelled] {
            assert_eq!(
                (answer.json()["guard"].as_str(), answer.json()["port"].as_str()),
                (Some("qa-pilot"), Some(kind))
            );
        }
    }
    assert_eq!(Client::direct(&main).await.send("GET", "/__qa_pilot__/v1/probe", &[], b"").await.status, 404);
    assert_eq!(guard.finish(&attempt).await.0, 204, "nothing arrived");
    // Everything else on the guard's own listeners is refused under the sender.
    let attempt = guard.begin("t1").await;
    let health = format!("{control}/health");
    assert_eq!(Client::direct(&attempt.proxy).await.send("GET", &health, &[], b"").await.status, 403);
    let own = format!("http://{}/", attempt.proxy.replace("127.0.0.1", "localhost"));
    assert_eq!(Client::direct(&attempt.proxy).await.send("GET", &own, &[], b"").await.status, 403);
    Client::direct(&attempt.proxy)
        .await
        .send("GET", &format!("http://{}/", origin.authority()), &[], b"")
        .await;
    assert_eq!(guard.record_of(&attempt).await["blocked"], 2);
    assert!(guard.stop().success());
    assert_eq!(guard.files(), ["ca.pem", "results/t1/writes.json", "unclassified.json"]);
}

#[tokio::test]
async fn health_counts() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    Client::clear(&attempt.proxy, &origin.authority()).await.send("GET", "/", &[], b"").await;
    assert_eq!(
        guard.call("GET", "/health", Value::Null).await,
        (200, json!({ "status": "ok", "attempts": 1, "requests": 1 }))
    );
    guard.finish(&attempt).await;
    assert_eq!(guard.call("GET", "/health", Value::Null).await.1["attempts"], 0);
}
