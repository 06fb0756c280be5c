//! `qa-pilot sha`: what it prints, and how it says that an environment does not tell.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::Output;
use std::sync::Arc;

use rustls::pki_types::PrivateKeyDer;

use crate::support::{Host, VersionServer, qa_pilot, told};

const BUILD: &str = "3f2a91c04be17d5566aa0f9b1c2d3e4f50617283";

#[test]
fn the_deployed_build_as_an_object_and_alone() {
    let version = VersionServer::start(&format!(r#"{{"commit":"{}"}}"#, BUILD.to_uppercase()));
    let host = Host::new(version.address);
    let output =
        qa_pilot(host.path(), &["sha", "qa-pilot.config.yaml", "qa", "storefront"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let keys: Vec<&String> = told.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["sha", "format", "source", "app", "env", "fetched_at"]);
    assert_eq!(told["sha"], BUILD);
    assert_eq!(told["format"], "commit");
    assert_eq!(told["app"], "storefront");
    let output =
        qa_pilot(host.path(), &["sha", "qa-pilot.config.yaml", "qa", "--sha-only"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{BUILD}\n"));
}

#[test]
fn what_is_not_registered_is_an_input_fault() {
    let version = VersionServer::start("{}");
    let host = Host::new(version.address);
    for (arguments, exit, message) in [
        (&["sha", "qa-pilot.config.yaml", "prod"][..], 2, "environment `prod` is not registered"),
        (&["sha", "qa-pilot.config.yaml", "qa", "x"], 2, "has no app `x`; it has storefront"),
        (&["sha", "none.yaml", "qa"], 2, "none.yaml"),
        (&["sha", "qa-pilot.config.yaml"], 2, "required"),
        (&["sha", "qa-pilot.config.yaml", "qa"], 1, "answered nothing at json_path commit"),
    ] {
        let output = qa_pilot(host.path(), arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(exit), "{}", told(&output));
        assert!(String::from_utf8_lossy(&output.stderr).contains(message), "{}", told(&output));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn an_environment_that_hangs_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = Host::new(listener.local_addr().unwrap());
    let _silent = std::thread::spawn(move || {
        let held: Vec<_> = listener.incoming().take(1).collect();
        std::thread::sleep(std::time::Duration::from_secs(20));
        drop(held);
    });
    let arguments = ["sha", "qa-pilot.config.yaml", "qa", "--timeout-ms", "300"];
    let started = std::time::Instant::now();
    let output = qa_pilot(host.path(), &arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert!(started.elapsed() < std::time::Duration::from_secs(10));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no whole answer"), "{}", told(&output));
}

/// What a server answers to the first line of a request.
fn answer(asked: &str) -> String {
    let path = asked.split(' ').nth(1).unwrap_or_default();
    let whole = |status: &str, more: &str, body: &str| {
        format!(
            "HTTP/1.1 {status}\r\n{more}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let to = |place: &str| whole("302 Found", &format!("location: {place}\r\n"), "");
    match path.split_at_checked(path.len().min(6)).unwrap_or_default() {
        ("/found", _) => whole("200 OK", "", &format!(r#"{{"commit":"{BUILD}"}}"#)),
        ("/text.", _) => whole("200 OK", "", "build 2026.11.30-rc1\n"),
        ("/html.", _) => whole("200 OK", "", "<!doctype html><title>shop</title>"),
        ("/none.", _) => whole("404 Not Found", "", ""),
        ("/down.", _) => whole("503 Service Unavailable", "", BUILD),
        ("/huge.", _) => whole("200 OK", "", &"x".repeat(2 << 20)),
        ("/file.", _) => to("file:///etc/hostname"),
        ("/lost.", _) => whole("302 Found", "", ""),
        ("/loop/", _) => to("/loop/"),
        ("/steps", left) => match left.parse::<usize>() {
            Ok(0) | Err(_) => to("/found"),
            Ok(left) => to(&format!("/steps{}", left - 1)),
        },
        _ => to("/found"),
    }
}

/// Serves until the test ends, behind TLS when there is a configuration of it.
fn serve(tls: Option<Arc<rustls::ServerConfig>>) -> SocketAddr {
    fn one(mut stream: impl Read + Write) -> std::io::Result<()> {
        let mut head = [0; 4096];
        let length = stream.read(&mut head)?;
        let text = answer(&String::from_utf8_lossy(&head[..length]));
        stream.write_all(text.as_bytes())?;
        stream.flush()
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            // A client that goes away in the middle is a part of the tests.
            let _ = match &tls {
                None => one(stream),
                Some(config) => rustls::ServerConnection::new(config.clone())
                    .map_err(std::io::Error::other)
                    .and_then(|connection| one(rustls::StreamOwned::new(connection, stream))),
            };
        }
    });
    address
}

fn sha(host: &Host, more: &[&str]) -> Output {
    let mut words = vec!["sha", "qa-pilot.config.yaml", "qa", "--sha-only"];
    words.extend(more);
    qa_pilot(host.path(), &words).output().unwrap()
}

/// A host whose build is told at `source`, a flow mapping.
fn host(address: SocketAddr, source: &str) -> Host {
    let host = Host::new(address);
    let profile = fs_err::read_to_string(host.path().join("qa-pilot.config.yaml")).unwrap();
    let was = format!(r#"{{ url: "http://{address}/version.json", json_path: commit }}"#);
    assert!(profile.contains(&was));
    host.write("qa-pilot.config.yaml", &profile.replace(&was, source));
    host
}

#[test]
fn redirects_are_followed_and_what_tells_no_build_says_why() {
    let address = serve(None);
    let json = |path: &str| format!(r#"{{ url: "http://{address}{path}", json_path: commit }}"#);
    let text = r#"regex: "build ([^\\s]+)", format: build-id"#;
    for (source, exit, wanted) in [
        (json("/version.json"), 0, BUILD),
        (json("/steps19"), 0, BUILD),
        (json("/steps20"), 1, "redirected more than 20 times"),
        (json("/loop/"), 1, "redirected more than 20 times"),
        (json("/lost."), 1, "it answered 302"),
        (json("/file."), 1, "its scheme is file"),
        (json("/none."), 1, "it answered 404"),
        (json("/down."), 1, "it answered 503"),
        (json("/html."), 1, "answered no JSON, so json_path has nothing to look in: <!doctype html>"),
        (json("/huge."), 1, "limit"),
        (format!(r#"{{ url: "http://{address}/text.", {text} }}"#), 0, "2026.11.30-rc1"),
        (format!(r#"{{ url: "http://{address}/found", {text} }}"#), 1, "answered nothing at the first group"),
        (format!(r#"{{ url: "http://{address}/text.", regex: "(build)" }}"#), 1, "declare format: build-id"),
        (r#"{ url: "http://127.0.0.1:1/version.json", json_path: commit }"#.to_owned(), 1, "must be up"),
    ] {
        let output = sha(&host(address, &source), &[]);
        assert_eq!(output.status.code(), Some(exit), "{source}: {}", told(&output));
        if exit == 0 {
            assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{wanted}\n"), "{source}");
        } else {
            assert!(output.stdout.is_empty(), "{source}: {}", told(&output));
            assert!(String::from_utf8_lossy(&output.stderr).contains(wanted), "{source}: {}", told(&output));
        }
    }
}

#[test]
fn a_private_authority_is_trusted_where_it_is_named() {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate =
        rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .unwrap();
    let address = serve(Some(Arc::new(config)));
    let port = address.port();
    let host = host(address, &format!(r#"{{ url: "https://localhost:{port}/found", json_path: commit }}"#));
    host.write("ca.pem", &certificate.pem());
    let output = sha(&host, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("certificate"), "{}", told(&output));
    for output in [
        sha(&host, &["--upstream-ca", "ca.pem"]),
        qa_pilot(host.path(), &["sha", "qa-pilot.config.yaml", "qa", "--sha-only"])
            .env("NODE_EXTRA_CA_CERTS", "ca.pem")
            .output()
            .unwrap(),
    ] {
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{BUILD}\n"), "{}", told(&output));
    }
    let output = sha(&host, &["--upstream-ca", "gone.pem"]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("gone.pem"), "{}", told(&output));
}
