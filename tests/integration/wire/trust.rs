//! Certificates: those the guard shows, and those it accepts.

use super::client::{Client, secured, trusting, tunnel};
use super::guard::Start;
use super::origin::Origin;
use rustls::pki_types::ServerName;
use std::process::Command;
use tokio_rustls::TlsConnector;

#[tokio::test]
async fn an_origin_that_is_not_trusted_is_never_passed_on() {
    let origin = Origin::tls().await;
    let stranger = Origin::tls().await;
    let guard = Start::policy("unrestricted").trusting(&stranger.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let answer =
        Client::tls(&attempt.proxy, &origin.authority(), &ca).await.send("GET", "/x", &[], b"").await;
    assert_eq!((answer.status, &answer.headers["x-qa-pilot-error"]), (502, &"tls".parse().unwrap()));
    assert!(answer.text().contains("invalid peer certificate"), "{}", answer.text());
    assert!(origin.lines().is_empty());
    // The name counts too: the certificate is not for 127.0.0.2.
    let elsewhere = format!("127.0.0.2:{}", stranger.port);
    let answer = Client::tls(&attempt.proxy, &elsewhere, &ca).await.send("GET", "/x", &[], b"").await;
    assert_eq!(answer.status, 502);
    assert!(stranger.lines().is_empty());
}

#[tokio::test]
async fn the_chain_shown_ends_in_the_authority_and_names_the_host_alone() {
    let origin = Origin::tls().await;
    let guard = Start::policy("read-only").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    for host in ["localhost", "127.0.0.1", "[::1]", "app.localhost", "xn--bcher-kva.test"] {
        let target = format!("{host}:{}", origin.port);
        let stream = secured(&attempt.proxy, &target, &ca, &["h2", "http/1.1"]).await;
        let chain = stream.get_ref().1.peer_certificates().unwrap().to_vec();
        assert_eq!(chain.len(), 2, "{host}");
        assert!(
            fs_err::read_to_string(&ca).unwrap().contains(&base64_line(&chain[1])),
            "the second is the authority's"
        );
        let wrong = TlsConnector::from(trusting(&ca, &[]))
            .connect(ServerName::try_from("other.test").unwrap(), tunnel(&attempt.proxy, &target).await)
            .await;
        assert!(wrong.is_err(), "{host}");
    }
}

#[tokio::test]
async fn a_host_in_ipv6_brackets_works() {
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let listener = tokio::net::TcpListener::bind("[::1]:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        super::client::read_head(&mut socket).await;
        tokio::io::AsyncWriteExt::write_all(&mut socket, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            .await
            .unwrap();
    });
    let answer =
        Client::clear(&attempt.proxy, &format!("[::1]:{port}")).await.send("GET", "/", &[], b"").await;
    assert_eq!((answer.status, answer.text().as_str()), (200, "ok"));
}

#[tokio::test]
async fn curl_goes_through_by_every_way() {
    let (clear, tls) = (Origin::clear().await, Origin::tls().await);
    let guard = Start::policy("read-only")
        .signatures(serde_json::json!([{ "method": "POST", "url": "/orders" }]))
        .trusting(&tls.ca())
        .run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem").display().to_string();
    let proxy = format!("http://{}", attempt.proxy);
    let curl = |arguments: Vec<String>| {
        let (proxy, ca) = (proxy.clone(), ca.clone());
        async move {
            tokio::task::spawn_blocking(move || {
                let base = [
                    "-sS",
                    "-m",
                    "10",
                    "-o",
                    "/dev/null",
                    "-w",
                    "%{http_code} %{http_version}",
                    "-x",
                    &proxy,
                    "--cacert",
                    &ca,
                ];
                let output = Command::new("curl").args(base).args(arguments).output().unwrap();
                String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
            })
            .await
            .unwrap()
        }
    };
    let (http, https) = (format!("http://{}", clear.authority()), format!("https://{}", tls.authority()));
    for (arguments, want) in [
        (vec![format!("{http}/x")], "200 1.1"),
        (vec!["-p".into(), format!("{http}/x")], "200 1.1"),
        (vec![format!("{https}/x")], "200 2"),
        (vec!["--http1.1".into(), format!("{https}/x")], "200 1.1"),
        (vec!["-d".into(), "a=1".into(), format!("{https}/orders")], "403 2"),
        (vec!["-d".into(), "a=1".into(), format!("{http}/orders")], "403 1.1"),
        (vec!["-T".into(), "/bin/sh".into(), format!("{https}/sink")], "200 2"),
    ] {
        assert_eq!(curl(arguments.clone()).await, want, "{arguments:?}");
    }
    assert_eq!(guard.record_of(&attempt).await["blocked"], 2);
}

/// A line of the base64 text of a certificate, as PEM has it.
fn base64_line(bytes: &[u8]) -> String {
    use base64::Engine;
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    text[64..128].to_owned()
}
