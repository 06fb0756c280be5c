//! `qa-pilot sha`: what it prints, and how it says that an environment does not tell.

use std::io::{Read, Write};
use std::net::TcpListener;

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

#[test]
fn redirects_are_followed_and_loops_end() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = [0; 4096];
            let length = stream.read(&mut head).unwrap_or(0);
            let asked = String::from_utf8_lossy(&head[..length]).into_owned();
            let body = format!(r#"{{"commit":"{BUILD}"}}"#);
            let _ = if asked.starts_with("GET /found") {
                write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                )
            } else {
                let to = if asked.starts_with("GET /loop") { "/loop" } else { "/found" };
                write!(
                    stream,
                    "HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                )
            };
        }
    });
    let host = Host::new(address);
    let output =
        qa_pilot(host.path(), &["sha", "qa-pilot.config.yaml", "qa", "--sha-only"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{BUILD}\n"), "{}", told(&output));
    let profile = fs_err::read_to_string(host.path().join("qa-pilot.config.yaml")).unwrap();
    host.write("qa-pilot.config.yaml", &profile.replace("/version.json", "/loop"));
    let output = qa_pilot(host.path(), &["sha", "qa-pilot.config.yaml", "qa"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("redirected more than"), "{}", told(&output));
}
