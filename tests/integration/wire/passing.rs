//! What must come through unharmed, and what must not come through.

use super::client::{Client, connect, exchange, read_head, tunnel};
use super::guard::Start;
use super::origin::Origin;
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn headers_end_to_end_and_hop_by_hop() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let head = format!(
        "GET http://{host}/x HTTP/1.1\r\nHost: {host}\r\nX-A: 1\r\nX-A: 2\r\nCookie: a=1; b=2\r\nProxy-Authorization: Basic x\r\n\
         Proxy-Connection: keep-alive\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\nRange: bytes=0-1\r\n\r\n"
    );
    assert!(exchange(connect(&attempt.proxy).await, head.as_bytes()).await.starts_with("HTTP/1.1 200 "));
    let seen = &origin.seen()[0].headers;
    assert_eq!(seen.get_all("x-a").iter().collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(
        (&seen["cookie"], &seen["te"], &seen["range"]),
        (&"a=1; b=2".parse().unwrap(), &"trailers".parse().unwrap(), &"bytes=0-1".parse().unwrap())
    );
    for name in ["proxy-authorization", "proxy-connection", "x-hop", "via", "forwarded", "x-forwarded-for"] {
        assert!(!seen.contains_key(name), "{name}");
    }
}

#[tokio::test]
async fn answers_keep_their_shape() {
    let origin = Origin::tls().await;
    let guard = Start::policy("read-only").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let base = format!("https://{}", origin.authority());
    let one = Client::tls(&attempt.proxy, &origin.authority(), &ca).await;
    let two = Client::two(&attempt.proxy, &origin.authority(), &ca).await;
    for (mut client, prefix) in [(one, ""), (two, base.as_str())] {
        let cookies = client.send("GET", &format!("{prefix}/cookies"), &[], b"").await;
        assert_eq!(cookies.headers.get_all("set-cookie").iter().collect::<Vec<_>>(), ["a=1", "b=2"]);
        assert!(!cookies.headers.contains_key("alt-svc"));
        let whole = client.send("GET", &format!("{prefix}/x"), &[], b"").await;
        let head = client.send("HEAD", &format!("{prefix}/x"), &[], b"").await;
        assert!(head.body.is_empty());
        assert_eq!(
            head.headers["content-length"],
            (whole.body.len() + 1).to_string().as_str(),
            "HEAD is one letter longer than GET"
        );
        for (path, status) in [("/204", 204), ("/304", 304), ("/302", 302)] {
            assert_eq!(
                client.send("GET", &format!("{prefix}{path}"), &[], b"").await.status,
                status,
                "nothing is followed"
            );
        }
        let trailers = client.send("GET", &format!("{prefix}/trailers"), &[("te", "trailers")], b"").await;
        assert_eq!(
            (trailers.text().as_str(), &trailers.trailers.unwrap()["x-sum"]),
            ("body", &"7".parse().unwrap())
        );
    }
    assert_eq!(origin.lines().iter().filter(|line| line.ends_with("/orders")).count(), 0);
}

#[tokio::test]
async fn the_bytes_of_204_and_304_have_no_body() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    for path in ["/204", "/304"] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = exchange(tunnel(&attempt.proxy, &host).await, request.as_bytes()).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, "");
        assert!(!head.to_lowercase().contains("transfer-encoding"), "{head}");
    }
}

#[tokio::test]
async fn cookie_crumbs_are_one_cookie_before_the_request_is_judged() {
    let origin = Origin::tls().await;
    let signature = json!([{ "method": "GET", "url": "/c", "headers": { "cookie": "^a=1; b=2$" } }]);
    let guard = Start::policy("unrestricted").signatures(signature).trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::two(&attempt.proxy, &origin.authority(), &guard.run_dir().join("ca.pem")).await;
    client
        .send(
            "GET",
            &format!("https://{}/c", origin.authority()),
            &[("cookie", "a=1"), ("cookie", "b=2")],
            b"",
        )
        .await;
    assert_eq!(origin.seen()[0].headers.get_all("cookie").iter().collect::<Vec<_>>(), ["a=1; b=2"]);
    assert_eq!(guard.record_of(&attempt).await["observed"], 1);
}

#[tokio::test]
async fn a_client_that_waits_for_100_gets_it_and_a_blocked_one_gets_403() {
    let origin = Origin::clear().await;
    let signatures =
        json!([{ "method": "POST", "url": "/orders" }, { "method": "POST", "url": "/body", "body": "x" }]);
    let guard = Start::policy("read-only").signatures(signatures).run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    for (path, waits, status) in [("/pass", true, "200"), ("/body", true, "403"), ("/orders", false, "403")] {
        let mut stream = tunnel(&attempt.proxy, &host).await;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut first = read_head(&mut stream).await;
        if waits {
            assert!(first.starts_with("HTTP/1.1 100 "), "{path}: {first}");
            stream.write_all(b"x").await.unwrap();
            first = read_head(&mut stream).await;
        } else if first.starts_with("HTTP/1.1 100 ") {
            first = read_head(&mut stream).await;
        }
        assert!(first.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {first}");
    }
    assert_eq!(origin.lines(), ["POST /pass"]);
    assert!(!origin.seen()[0].headers.contains_key("expect"));
}

#[tokio::test]
async fn chunked_uploads_and_their_trailers_arrive() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let request = format!(
        "POST /x HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\nConnection: close\r\n\r\n\
         3\r\nabc\r\n3;x=y\r\ndef\r\n0\r\nx-sum: 9\r\n\r\n"
    );
    let answer = exchange(tunnel(&attempt.proxy, &host).await, request.as_bytes()).await;
    assert!(answer.contains(r#""body":"abcdef""#) && answer.contains("x-sum"), "{answer}");
}

#[tokio::test]
async fn a_client_of_http_1_0_is_answered_and_closed() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let answer =
        exchange(tunnel(&attempt.proxy, &origin.authority()).await, b"GET /x HTTP/1.0\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.0 200 ") || answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn connections_to_the_origin_are_used_again_until_they_are_too_old() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    for round in 0..5 {
        let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
        client.send("POST", &format!("/sink?{round}"), &[], b"abc").await;
        client.send("GET", "/x", &[], b"").await;
    }
    assert_eq!(origin.connections(), 1, "one connection for all tunnels");
    tokio::time::sleep(Duration::from_millis(5200)).await;
    Client::clear(&attempt.proxy, &origin.authority()).await.send("GET", "/x", &[], b"").await;
    assert_eq!(origin.connections(), 2, "an old one is not used");
    assert_eq!(origin.lines().len(), 11, "nothing was sent twice");
}

#[tokio::test]
async fn nothing_is_sent_twice_when_the_origin_closes_under_a_request() {
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        let mut heads = 0;
        // Answers the first request of a connection and closes under the second.
        for _ in 0..2 {
            let Ok(Ok((mut socket, _))) =
                tokio::time::timeout(Duration::from_secs(2), listener.accept()).await
            else {
                break;
            };
            read_head(&mut socket).await;
            heads += 1;
            socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
            if !read_head(&mut socket).await.is_empty() {
                heads += 1;
            }
        }
        heads
    });
    let mut client = Client::clear(&attempt.proxy, &format!("localhost:{port}")).await;
    assert_eq!(client.send("POST", "/a", &[], b"").await.status, 200);
    let broken = client.send("POST", "/b", &[], b"").await;
    assert_eq!((broken.status, &broken.headers["x-qa-pilot-error"]), (502, &"protocol".parse().unwrap()));
    assert_eq!(serving.await.unwrap(), 2, "two requests, two heads");
}

#[tokio::test]
async fn unreachable_origins_say_why() {
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let garbage = tokio::spawn(async move {
        let (mut socket, _) = silent.accept().await.unwrap();
        let _ = socket.read(&mut [0; 1024]).await;
        let _ = socket.write_all(b"SSH-2.0-x\r\n").await;
    });
    for (host, kind) in [
        (format!("localhost:{free}"), "connect"),
        ("nowhere.invalid:80".into(), "dns"),
        (format!("localhost:{port}"), "protocol"),
    ] {
        let answer = Client::clear(&attempt.proxy, &host).await.send("GET", "/", &[], b"").await;
        assert_eq!((answer.status, answer.headers["x-qa-pilot-error"].to_str().unwrap()), (502, kind));
        assert_eq!(answer.text().lines().count(), 1);
    }
    garbage.await.unwrap();
    let record = guard.record_of(&attempt).await;
    assert_eq!((&record["blocked"], &record["routed_requests"]), (&json!(0), &json!(3)));
}
