//! One name for one request: CONNECT target, TLS server name, request target and `Host`.

use super::client::{Client, connect, exchange, secured_as, trusting, tunnel};
use super::guard::{Start, events};
use super::origin::Origin;
use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;

#[tokio::test]
async fn two_names_are_misdirected() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let port = origin.port;
    for head in [
        format!("GET http://{host}/read HTTP/1.1\r\nHost: orders.test\r\n"),
        format!("GET http://orders.test/read HTTP/1.1\r\nHost: {host}\r\n"),
        format!("GET https://{host}/read HTTP/1.1\r\nHost: {host}\r\n"),
        format!("GET /read HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n"),
        format!("GET /read HTTP/1.1\r\nHost: localhost:{}\r\n", port ^ 1),
        "GET /read HTTP/1.1\r\nHost: localhost\r\n".into(),
        "GET /read HTTP/1.1\r\nHost:\r\n".into(),
        "GET /read HTTP/1.1\r\n".into(),
    ] {
        let request = format!("{head}Connection: close\r\n\r\n");
        let answer = exchange(tunnel(&attempt.proxy, &host).await, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 421 "), "{head:?}: {answer}");
    }
    let absolute =
        format!("GET http://{host}/read HTTP/1.1\r\nHost: orders.test\r\nConnection: close\r\n\r\n");
    assert!(exchange(connect(&attempt.proxy).await, absolute.as_bytes()).await.starts_with("HTTP/1.1 421 "));
    let record = guard.record_of(&attempt).await;
    assert_eq!(events(&record).len(), 9);
    assert_eq!(record["routed_requests"], 0);
    assert!(origin.lines().is_empty());
}

#[tokio::test]
async fn spellings_of_one_name_are_one_name() {
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let port = origin.port;
    for (target, host) in [
        (format!("LOCALHOST:{port}"), format!("localhost:{port}")),
        (format!("localhost.:{port}"), format!("LocalHost:{port}")),
        (format!("127.0.0.1:{port}"), format!("127.1:{port}")),
        (format!("app.localhost:{port}"), format!("app.localhost.:{port}")),
    ] {
        let request = format!("GET /x HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = exchange(tunnel(&attempt.proxy, &target).await, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{target} {host}: {answer}");
    }
    let hosts: Vec<_> =
        origin.seen().iter().map(|seen| seen.headers["host"].to_str().unwrap().to_owned()).collect();
    let want = ["localhost", "localhost", "127.0.0.1", "app.localhost"].map(|name| format!("{name}:{port}"));
    assert_eq!(hosts, want, "host is made from the judged name");
}

#[tokio::test]
async fn http2_authority_and_host_must_agree() {
    let origin = Origin::tls().await;
    let guard = Start::policy("read-only").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let mut client = Client::two(&attempt.proxy, &origin.authority(), &guard.run_dir().join("ca.pem")).await;
    let at = |authority: &str| format!("https://{authority}/x");
    assert_eq!(client.send("GET", &at(&origin.authority()), &[], b"").await.status, 200);
    assert_eq!(client.send("GET", &at("orders.test"), &[], b"").await.status, 421);
    assert_eq!(
        client.send("GET", &at(&origin.authority()), &[("host", "orders.test")], b"").await.status,
        421
    );
    assert_eq!(
        client.send("GET", &at(&origin.authority()), &[("host", &origin.authority())], b"").await.status,
        200
    );
    assert_eq!(origin.lines().len(), 2);
    assert_eq!(guard.record_of(&attempt).await["blocked"], 2);
}

#[tokio::test]
async fn a_server_name_unlike_the_tunnel_is_misdirected() {
    let origin = Origin::tls().await;
    let guard = Start::policy("read-only").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    // A client that checks names does not get that far, and its try is recorded.
    assert!(secured_as(&attempt.proxy, &origin.authority(), "orders.test", &ca, &[]).await.is_err());
    let mut config = (*trusting(&ca, &["http/1.1"])).clone();
    config.dangerous().set_certificate_verifier(std::sync::Arc::new(AnyCertificate));
    let connector = TlsConnector::from(std::sync::Arc::new(config));
    let name = ServerName::try_from("orders.test").unwrap();
    let stream = connector.connect(name, tunnel(&attempt.proxy, &origin.authority()).await).await.unwrap();
    let request = format!("GET /x HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", origin.authority());
    assert!(exchange(stream, request.as_bytes()).await.starts_with("HTTP/1.1 421 "));
    assert!(origin.lines().is_empty());
    assert_eq!(guard.record_of(&attempt).await["blocked"], 2);
}

/// A client that does not look at certificates.
#[derive(Debug)]
struct AnyCertificate;

impl rustls::client::danger::ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &rustls::pki_types::CertificateDer<'_>,
        _: &[rustls::pki_types::CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: rustls::pki_types::UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &rustls::pki_types::CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &rustls::pki_types::CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
