//! Attempts, their intervals, ports and records.

use super::client::{self, Client};
use super::guard::{DRAIN_MS, Start, events, read};
use super::origin::Origin;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

fn writes() -> Value {
    json!([{ "method": "POST", "url": "/orders" }])
}

#[tokio::test]
async fn two_attempts_at_once_keep_their_requests_apart() {
    let origin = Origin::clear().await;
    let guard = Start::policy("scoped-write").signatures(writes()).run();
    let mut attempts = Vec::new();
    for worker in 0..2 {
        attempts.push(guard.begin_with(guard.begin_body(&format!("t{worker}"), worker, worker)).await);
    }
    for round in 0..20 {
        for (worker, attempt) in attempts.iter().enumerate() {
            let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
            client.send("POST", &format!("/orders?worker={worker}&round={round}"), &[], b"").await;
        }
    }
    for (worker, attempt) in attempts.iter().enumerate() {
        let record = guard.record_of(attempt).await;
        let events = events(&record);
        assert_eq!(events.len(), 20);
        assert!(events.iter().all(|event| event.contains(&format!("worker={worker}&"))), "{events:?}");
        assert_eq!(record["attempt"]["worker_index"], worker);
        assert_eq!(record["attempt"]["status"], "passed");
    }
}

#[tokio::test]
async fn intervals_of_one_attempt_leave_a_record_each_and_empty_ones_none() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let mut paths = Vec::new();
    for (visit, interval) in [(true, 1), (false, 2), (true, 3)] {
        let attempt = guard.begin("t1").await;
        assert_eq!(attempt.answer["interval"], interval);
        if visit {
            Client::clear(&attempt.proxy, &origin.authority()).await.send("GET", "/", &[], b"").await;
        }
        let (status, answer) = guard.finish(&attempt).await;
        assert_eq!(status, if visit { 200 } else { 204 });
        if visit {
            assert_eq!(answer["record"]["attempt"]["interval"], interval);
            paths.push(answer["path"].as_str().unwrap().to_owned());
        }
        assert_eq!(guard.finish(&attempt).await.0, 409);
    }
    assert!(
        paths[0].ends_with("/run/results/t1/writes.json")
            && paths[1].ends_with("/run/results/t1/writes-2/writes.json"),
        "{paths:?}"
    );
}

#[tokio::test]
async fn page_reports_land_in_the_record() {
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let page = format!("/attempts/{}/page", attempt.id);
    let report = |extra: Value| {
        let mut body = json!({ "secret": attempt.secret });
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        body
    };
    for body in [
        json!({ "type": "installed", "origin": "https://b.test" }),
        json!({ "type": "installed", "origin": "http://a.test" }),
        json!({ "type": "control", "reason": "the word \"delete\" under read-only", "label": "Delete", "at": "2026-11-30T10:00:00.000Z" }),
        json!({ "type": "unguarded", "url": "https://c.test/" }),
    ] {
        assert_eq!(guard.call("POST", &page, report(body)).await.0, 204);
    }
    let control = |label: &str| report(json!({ "type": "control", "reason": "r", "label": label }));
    let list = json!([control("Save"), control("Send")]);
    assert_eq!(guard.call("POST", &page, list).await.0, 204);
    let broken = json!([control("Share"), report(json!({ "type": "installed" })), control("never")]);
    assert_eq!(guard.call("POST", &page, broken).await.0, 400);
    let record = guard.look(&attempt).await;
    assert_eq!(
        (&record["installed"], &record["finished"], &record["unguarded_frames"]),
        (&json!(true), &json!(false), &json!(1))
    );
    let labels: Vec<_> = record["events"].as_array().unwrap().iter().map(|event| &event["label"]).collect();
    assert_eq!(labels, ["Delete", "Save", "Send", "Share"]);
    assert_eq!(record["origins"], json!(["http://a.test", "https://b.test"]));
    for (body, status) in [
        (json!({ "secret": "x", "type": "installed", "origin": "https://b.test" }), 403),
        (report(json!({ "type": "installed" })), 400),
        (report(json!({ "type": "else" })), 400),
        (json!("x"), 400),
    ] {
        assert_eq!(guard.call("POST", &page, body.clone()).await.0, status, "{body}");
    }
    guard.record_of(&attempt).await;
    assert_eq!(guard.look(&attempt).await["finished"], true);
    assert_eq!(
        guard.call("POST", &page, report(json!({ "type": "installed", "origin": "https://b.test" }))).await.0,
        409
    );
}

#[tokio::test]
async fn about_blank_is_no_page_report() {
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let body = json!({ "secret": attempt.secret, "type": "installed", "origin": "null" });
    assert_eq!(guard.call("POST", &format!("/attempts/{}/page", attempt.id), body).await.0, 204);
    assert_eq!(guard.look(&attempt).await["installed"], false);
    assert_eq!(guard.finish(&attempt).await.0, 204, "it leaves no record");
}

#[tokio::test]
async fn a_port_closes_with_its_attempt() {
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let began = Instant::now();
    guard.finish(&attempt).await;
    assert!(began.elapsed() < Duration::from_millis(DRAIN_MS), "without a connection it returns at once");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(TcpStream::connect(&attempt.proxy).await.is_err());
}

#[tokio::test]
async fn what_arrives_late_is_answered_when_it_reads_and_blocked_when_it_writes() {
    let origin = Origin::clear().await;
    let mut guard = Start::policy("unrestricted").signatures(writes()).run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    assert_eq!(client.send("POST", "/orders", &[], b"").await.status, 200);
    let record = guard.record_of(&attempt).await;
    assert_eq!(client.send("GET", "/orders", &[], b"").await.status, 200);
    assert_eq!(client.send("POST", "/orders", &[], b"").await.status, 403);
    assert_eq!(origin.lines(), ["POST /orders", "GET /orders"]);
    assert_eq!((&record["observed"], &record["blocked"]), (&json!(1), &json!(0)));
    tokio::time::sleep(Duration::from_millis(DRAIN_MS + 200)).await;
    assert!(TcpStream::connect(&attempt.proxy).await.is_err(), "closed after the drain");
    assert!(guard.stop().success());
    let late = read(&guard.run_dir().join("late").join(&attempt.id).join("writes.json"));
    assert_eq!(events(&late), [format!("block POST http://{}/orders", origin.authority())]);
    assert_eq!(late["attempt"]["test_id"], "t1");
}

#[tokio::test]
async fn a_kept_port_serves_whatever_attempt_is_open_on_its_worker() {
    let origin = Origin::clear().await;
    let mut guard = Start::policy("unrestricted").signatures(writes()).run();
    let hook = guard.begin("t1").await;
    let mut shared = Client::clear(&hook.proxy, &origin.authority()).await;
    shared.send("POST", "/orders?hook", &[], b"").await;
    let keep = json!({ "status": "passed", "keep": true });
    assert_eq!(guard.call("POST", &format!("/attempts/{}/finish", hook.id), keep.clone()).await.0, 200);
    shared.send("POST", "/orders?between", &[], b"").await;
    for test in ["t1", "t2"] {
        let attempt = guard.begin(test).await;
        assert_eq!(shared.send("POST", &format!("/orders?{test}"), &[], b"").await.status, 200);
        let (_, answer) = guard.call("POST", &format!("/attempts/{}/finish", attempt.id), keep.clone()).await;
        assert_eq!(
            events(&answer["record"]),
            [format!("observe POST http://{}/orders?{test}", origin.authority())]
        );
    }
    // A new worker in the slot: the old one's contexts are gone, and its port with them.
    guard.begin_with(guard.begin_body("t3", 1, 0)).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(TcpStream::connect(&hook.proxy).await.is_err());
    guard.stop();
    let late = read(&guard.run_dir().join("late/t1-r0/writes.json"));
    assert_eq!(events(&late), [format!("block POST http://{}/orders?between", origin.authority())]);
}

#[tokio::test]
async fn a_later_finish_without_keep_closes_kept_ports() {
    let guard = Start::policy("read-only").run();
    let hook = guard.begin("t1").await;
    guard.call("POST", &format!("/attempts/{}/finish", hook.id), json!({ "keep": true })).await;
    assert!(TcpStream::connect(&hook.proxy).await.is_ok());
    let attempt = guard.begin("t1").await;
    guard.finish(&attempt).await;
    tokio::time::sleep(Duration::from_millis(DRAIN_MS + 200)).await;
    assert!(TcpStream::connect(&hook.proxy).await.is_err());
}

#[tokio::test]
async fn a_dead_worker_leaves_an_unfinished_record_at_once() {
    let origin = Origin::clear().await;
    let guard = Start::policy("scoped-write").signatures(writes()).run();
    let dead = guard.begin("t1").await;
    let mut client = Client::clear(&dead.proxy, &origin.authority()).await;
    client.send("POST", "/orders", &[], b"").await;
    let next = guard.begin_with(guard.begin_body("t2", 1, 0)).await;
    let record = read(&guard.run_dir().join("unfinished/t1-r0/writes.json"));
    assert_eq!((record["observed"].as_u64(), &record["attempt"]["status"]), (Some(1), &Value::Null));
    assert_eq!(guard.finish(&dead).await.0, 409);
    assert_eq!(guard.finish(&next).await.0, 204);
    // Elsewhere nobody is taken for dead.
    let other = guard.begin_with(guard.begin_body("t3", 2, 1)).await;
    guard.begin_with(guard.begin_body("t4", 3, 0)).await;
    assert_eq!(guard.finish(&other).await.0, 204);
}

#[tokio::test]
async fn what_is_no_case_is_outside() {
    let origin = Origin::clear().await;
    for (policy, name) in
        [("read-only", "writes.json"), ("scoped-write", "writes.json"), ("unrestricted", "outside.json")]
    {
        let mut guard = Start::policy(policy).signatures(writes()).run();
        let mut body = guard.begin_body("setup", 0, 0);
        body["title"] = json!("authenticate");
        for (target, method) in [("/login", "POST"), ("/orders", "POST")] {
            let attempt = guard.begin_with(body.clone()).await;
            Client::clear(&attempt.proxy, &origin.authority()).await.send(method, target, &[], b"").await;
            assert_eq!(guard.finish(&attempt).await.0, 204);
        }
        assert!(guard.stop().success());
        let second = format!("outside/setup-r0/writes-2/{name}");
        assert_eq!(
            guard.files(),
            ["ca.pem".to_owned(), "outside/setup-r0/outside.json".into(), second, "unclassified.json".into()],
            "{policy}"
        );
    }
}

#[tokio::test]
async fn the_runs_own_port_is_outside_too() {
    let origin = Origin::clear().await;
    for (policy, target, name) in [
        ("read-only", "/orders", Some("writes.json")),
        ("scoped-write", "/orders", Some("writes.json")),
        ("unrestricted", "/orders", Some("outside.json")),
        ("read-only", "/login", Some("outside.json")),
        ("read-only", "", None),
    ] {
        let mut guard = Start::policy(policy).signatures(writes()).run();
        let proxy = guard.text("run_proxy").replace("http://", "");
        if !target.is_empty() {
            Client::direct(&proxy)
                .await
                .send("POST", &format!("http://{}{target}", origin.authority()), &[], b"")
                .await;
        }
        assert!(guard.stop().success());
        let files: Vec<_> = guard.files().into_iter().filter(|file| file.starts_with("outside")).collect();
        assert_eq!(
            files,
            name.map(|name| format!("outside/{name}")).into_iter().collect::<Vec<_>>(),
            "{policy} {target}"
        );
    }
}

#[tokio::test]
async fn an_origin_form_request_to_a_port_is_told_so_and_counts_for_nothing() {
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let request = b"GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n";
    let told = client::exchange(client::connect(&attempt.proxy).await, request).await;
    assert!(
        told.starts_with("HTTP/1.1 400 ") && told.contains("this port takes proxy requests alone"),
        "{told}"
    );
    assert_eq!(guard.finish(&attempt).await.0, 204);
}

#[tokio::test]
async fn navigations_are_counted() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    for headers in [
        &[("sec-fetch-dest", "document")][..],
        &[("sec-fetch-dest", "iframe")],
        &[("sec-fetch-dest", "empty")],
        &[("upgrade-insecure-requests", "1"), ("accept", "text/html,*/*")],
        &[("accept", "*/*")],
    ] {
        client.send("GET", "/", headers, b"").await;
    }
    assert_eq!(guard.record_of(&attempt).await["documents"], 3);
}
