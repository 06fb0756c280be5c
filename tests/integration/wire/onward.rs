//! The way to origins: through a further proxy, with a certificate of one's own, and to hosts whose certificate is not verified.

use super::client::{Client, connect, exchange, read_head, tunnel};
use super::guard::{Guard, Start};
use super::origin::Origin;
use super::pki::Pki;
use rustls::version::{TLS12, TLS13};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// A company's proxy: every tunnel leads to the port `leads_to`, every other request is answered by itself.
struct Company {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Company {
    async fn start(leads_to: u16, status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let noting = heads.clone();
        tokio::spawn(async move {
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                let heads = noting.clone();
                tokio::spawn(async move {
                    let head = read_head(&mut socket).await;
                    let connects = head.starts_with("CONNECT ");
                    let known = head.contains("\r\nProxy-Authorization: Basic dTpwQHNz\r\n")
                        || head.contains("\r\nproxy-authorization: Basic dTpwQHNz\r\n");
                    heads.lock().unwrap().push(head);
                    let status = if known { status } else { "407 Proxy Authentication Required" };
                    if !connects || !status.starts_with("200 ") {
                        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 7\r\n\r\ncompany");
                        socket.write_all(answer.as_bytes()).await.unwrap();
                        return;
                    }
                    let mut origin = TcpStream::connect(("127.0.0.1", leads_to)).await.unwrap();
                    // A plain server may speak at once: what follows the head is its own.
                    socket.write_all(b"HTTP/1.1 200 OK\r\nX: y\r\n\r\n").await.unwrap();
                    let _ = copy_bidirectional(&mut socket, &mut origin).await;
                });
            }
        });
        Self { port, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn behind(mut start: Start, url: String) -> Start {
    start.arguments.extend(["--upstream-proxy".into(), url]);
    start
}

/// No word of a password in any file of the run directory.
fn assert_no_secret(guard: &Guard) {
    for file in guard.files() {
        let text = String::from_utf8_lossy(&fs_err::read(guard.run_dir().join(&file)).unwrap()).into_owned();
        for secret in ["p@ss", "p%40ss", "dTpwQHNz"] {
            assert!(!text.contains(secret), "{file} holds {secret}");
        }
    }
}

#[tokio::test]
async fn everything_goes_through_a_companys_proxy_and_its_password_to_it_alone() {
    let pki = Pki::new();
    let origin = Origin::with(pki.server(&["shop.test"], &["http/1.1"], &[&TLS13], false)).await;
    let plain = Origin::clear().await;
    let company = Company::start(origin.port, "200 OK").await;
    let start = Start::policy("read-only").trusting(&pki.root());
    let guard = behind(start, format!("http://u:p%40ss@127.0.0.1:{}", company.port)).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    // HTTPS, over both protocols: a tunnel.
    let mut one = Client::tls(&attempt.proxy, "shop.test:443", &ca).await;
    assert_eq!(one.send("GET", "/x", &[], b"").await.status, 200);
    let mut two = Client::two(&attempt.proxy, "shop.test:443", &ca).await;
    assert_eq!(two.send("GET", "https://shop.test/y", &[], b"").await.status, 200);
    // In clear text: absolute form, answered by the proxy.
    let mut clear = Client::clear(&attempt.proxy, "shop.test:80").await;
    assert_eq!(clear.send("GET", "/z?q", &[], b"").await.text(), "company");
    // This machine: directly.
    let mut local = Client::clear(&attempt.proxy, &plain.authority()).await;
    assert_eq!(local.send("GET", "/local", &[], b"").await.status, 200);
    let heads = company.heads();
    assert_eq!(heads.len(), 2, "{heads:?}");
    assert!(heads[0].starts_with("CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443\r\n"), "{heads:?}");
    assert!(heads[1].starts_with("GET http://shop.test/z?q HTTP/1.1\r\n"), "{heads:?}");
    assert_eq!((origin.lines().len(), plain.lines().len()), (2, 1));
    for seen in [origin.seen(), plain.seen()].concat() {
        assert!(!seen.headers.contains_key("proxy-authorization"), "{seen:?}");
    }
    assert_eq!(guard.record_of(&attempt).await["routed_requests"], 4);
    assert_no_secret(&guard);
}

#[tokio::test]
async fn web_sockets_go_through_a_companys_proxy_by_a_tunnel() {
    let pki = Pki::new();
    let secure = Origin::with(pki.server(&["shop.test"], &["h2", "http/1.1"], &[&TLS13], false)).await;
    let plain = Origin::clear().await;
    for (origin, target) in [(&secure, "shop.test:443"), (&plain, "shop.test:80")] {
        let company = Company::start(origin.port, "200 OK").await;
        let start = Start::policy("read-only").trusting(&pki.root());
        let guard = behind(start, format!("http://u:p%40ss@127.0.0.1:{}", company.port)).run();
        let attempt = guard.begin("t1").await;
        let ca = guard.run_dir().join("ca.pem");
        let handshake = format!(
            "GET /ws HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            target.trim_end_matches(":443").trim_end_matches(":80")
        );
        let head = if target.ends_with("443") {
            let mut stream = super::client::secured(&attempt.proxy, target, &ca, &["http/1.1"]).await;
            stream.write_all(handshake.as_bytes()).await.unwrap();
            read_head(&mut stream).await
        } else {
            let mut stream = tunnel(&attempt.proxy, target).await;
            stream.write_all(handshake.as_bytes()).await.unwrap();
            read_head(&mut stream).await
        };
        assert!(head.starts_with("HTTP/1.1 101 "), "{target}: {head}");
        assert!(company.heads()[0].starts_with(&format!("CONNECT {target} ")), "{:?}", company.heads());
    }
}

#[tokio::test]
async fn a_companys_proxy_that_refuses_is_told_in_one_line() {
    let forbids = Company::start(1, "403 Forbidden").await;
    let takes_none = Company::start(1, "200 OK").await;
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    for (url, target, told) in [
        (
            format!("http://127.0.0.1:{}", takes_none.port),
            "shop.test:443",
            "answered 407 Proxy Authentication Required; give it user and password",
        ),
        (
            format!("http://127.0.0.1:{}", takes_none.port),
            "shop.test:80",
            "answered 407 Proxy Authentication Required; give it user and password",
        ),
        (
            format!("http://u:secret@127.0.0.1:{}", takes_none.port),
            "[2001:db8::1]:443",
            "it does not take user and password",
        ),
        (format!("http://u:p%40ss@127.0.0.1:{}", forbids.port), "shop.test:443", "answered 403 Forbidden"),
        (format!("http://u:secret@127.0.0.1:{free}"), "shop.test:80", "cannot connect"),
        ("http://u:secret@nowhere.invalid:1".into(), "shop.test:443", "cannot resolve"),
    ] {
        let guard = behind(Start::policy("read-only"), url).run();
        let attempt = guard.begin("t1").await;
        let ca = guard.run_dir().join("ca.pem");
        let mut client = match target.ends_with(":80") {
            true => Client::clear(&attempt.proxy, target).await,
            false => Client::tls(&attempt.proxy, target, &ca).await,
        };
        let answer = client
            .send("GET", "/x", &[("host", target.trim_end_matches(":443").trim_end_matches(":80"))], b"")
            .await;
        assert_eq!((answer.status, &answer.headers["x-qa-pilot-error"]), (502, &"connect".parse().unwrap()));
        let text = answer.text();
        assert!(text.contains("the upstream proxy") && text.contains(told), "{text}");
        assert!(text.lines().count() == 1 && !text.contains("secret"), "{text}");
    }
    assert!(takes_none.heads()[2].starts_with("CONNECT [2001:db8::1]:443 "), "{:?}", takes_none.heads());
}

#[tokio::test]
async fn a_client_certificate_is_shown_to_its_host_alone() {
    let pki = Pki::new();
    let asks = Origin::with(pki.server(&["localhost", "127.0.0.1"], &["http/1.1"], &[&TLS13], true)).await;
    let asks_by_tls12 = Origin::with(pki.server(&["localhost"], &[], &[&TLS12], true)).await;
    let (chain, key) = pki.client_files("tester");
    let mut start = Start::policy("read-only").trusting(&pki.root());
    start
        .arguments
        .extend(["--client-cert".into(), format!("localhost={},{}", chain.display(), key.display())]);
    let guard = start.run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    for origin in [&asks, &asks_by_tls12] {
        let answer =
            Client::tls(&attempt.proxy, &origin.authority(), &ca).await.send("GET", "/x", &[], b"").await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    // The same server under another name is another host.
    let other = format!("127.0.0.1:{}", asks.port);
    let answer = Client::tls(&attempt.proxy, &other, &ca).await.send("GET", "/x", &[], b"").await;
    assert_eq!(answer.status, 502);
    assert!(answer.headers.contains_key("x-qa-pilot-error"), "{}", answer.text());
    assert_eq!(asks.lines(), ["GET /x"]);
}

#[tokio::test]
async fn one_host_may_show_any_certificate_and_no_other() {
    let pki = Pki::new();
    let origin = Origin::with(pki.server(&["elsewhere.test"], &[], &[&TLS12, &TLS13], false)).await;
    let mut start = Start::policy("read-only");
    start.arguments.extend(["--upstream-insecure".into(), "LOCALHOST".into()]);
    let guard = start.run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let mut client = Client::tls(&attempt.proxy, &origin.authority(), &ca).await;
    assert_eq!(client.send("GET", "/x", &[], b"").await.status, 200);
    let other = format!("127.0.0.1:{}", origin.port);
    let answer = Client::tls(&attempt.proxy, &other, &ca).await.send("GET", "/x", &[], b"").await;
    assert_eq!((answer.status, &answer.headers["x-qa-pilot-error"]), (502, &"tls".parse().unwrap()));
    assert!(answer.text().contains("--upstream-ca FILE"), "{}", answer.text());
    assert_eq!(origin.lines(), ["GET /x"]);
}

#[test]
fn what_cannot_be_used_on_the_way_is_refused_before_a_port_is_bound() {
    let pki = Pki::new();
    let (chain, key) = pki.client_files("a");
    let (_, other) = pki.client_files("b");
    let none = pki.write("none.pem", "nothing\n");
    let locked = pki.write(
        "locked.key",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    let shown = |chain: &Path, key: &Path| format!("shop.test={},{}", chain.display(), key.display());
    let twice = shown(&chain, &key);
    for (arguments, message) in [
        (
            vec!["--upstream-proxy", "https://u:secret@proxy.test:1"],
            "--upstream-proxy: TLS to the proxy itself is not supported; name its plain port as http://HOST:PORT",
        ),
        (vec!["--upstream-proxy", "socks5://u:secret@proxy.test:1"], "scheme socks5 is not supported"),
        (vec!["--upstream-proxy", "proxy.test"], "--upstream-proxy: is no proxy; write http://HOST:PORT"),
        (vec!["--client-cert", "shop.test"], "--client-cert shop.test: must be HOST=CERT,KEY"),
        (vec!["--client-cert", &shown(&none, &key)], "none.pem: no certificate in it"),
        (
            vec!["--client-cert", &shown(&chain, &none)],
            "none.pem: no private key in it; a PEM file with one is needed",
        ),
        (vec!["--client-cert", &shown(&chain, &locked)], "locked.key: the private key is encrypted"),
        (vec!["--client-cert", &shown(&chain, &other)], "b.key: is not the key of the first certificate in"),
        (vec!["--client-cert", &shown(Path::new("/nowhere.pem"), &key)], "/nowhere.pem: no such file"),
        (vec!["--client-cert", &twice, "--client-cert", &twice], "--client-cert names shop.test twice"),
        (
            vec!["--upstream-insecure", "shop.test:443"],
            "--upstream-insecure shop.test:443: name the host alone",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let run_dir = folder.path().join("run");
        let output = Command::new(env!("CARGO_BIN_EXE_qa-pilot"))
            .args(["proxy", "--run-dir"])
            .arg(&run_dir)
            .args(&arguments)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(message) && told.lines().count() == 1, "{arguments:?}: {told}");
        assert!(!told.contains("secret") && !run_dir.exists(), "{told}");
    }
}

#[tokio::test]
async fn the_password_may_come_by_the_environment() {
    let company = Company::start(1, "200 OK").await;
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready.json");
    let mut child = Command::new(env!("CARGO_BIN_EXE_qa-pilot"))
        .args(["proxy", "--run-dir"])
        .arg(folder.path().join("run"))
        .arg("--ready-file")
        .arg(&ready)
        .env("QA_PILOT_UPSTREAM_PROXY", format!("http://u:p%40ss@127.0.0.1:{}", company.port))
        .env("NO_PROXY", "intra.test")
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let began = std::time::Instant::now();
    while !ready.exists() && began.elapsed() < super::guard::PATIENCE {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let address = super::guard::read(&ready)["run_proxy"].as_str().unwrap().replace("http://", "");
    let ask = |host: &'static str| {
        let address = address.clone();
        async move {
            let head = format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
            exchange(connect(&address).await, head.as_bytes()).await
        }
    };
    assert!(ask("shop.test").await.ends_with("company"));
    assert!(ask("intra.test").await.contains("cannot resolve intra.test"), "NO_PROXY is reached directly");
    child.kill().unwrap();
    child.wait().unwrap();
}
