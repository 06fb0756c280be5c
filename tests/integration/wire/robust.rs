//! What must not bring the guard down, nor make it forget: no files left, peers that say nothing, ends without warning, crowds.

use super::client::{Client, connect, one, read_all, read_head, secured, tunnel};
use super::guard::{PATIENCE, Start, command, events, read};
use super::origin::Origin;
use http_body_util::BodyExt;
use serde_json::json;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Processor time that a process has used, in clock ticks (a hundredth of a second).
fn ticks(pid: u32) -> u64 {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

fn prlimit(pid: u32, limit: &str) {
    let done = Command::new("prlimit").args(["--pid", &pid.to_string(), limit]).status().unwrap();
    assert!(done.success());
}

#[tokio::test]
async fn without_a_file_to_spare_it_waits_and_goes_on() {
    let origin = Origin::clear().await;
    let start = Start { shell: Some("ulimit -n 40"), ..Start::policy("read-only") };
    let guard = start.run();
    let attempt = guard.begin("t1").await;
    let mut crowd = Vec::new();
    for _ in 0..80 {
        crowd.push(connect(&attempt.proxy).await);
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(guard.open_files() >= 39, "{} files: the limit is not reached", guard.open_files());
    let before = ticks(guard.pid());
    tokio::time::sleep(Duration::from_secs(1)).await;
    let used = ticks(guard.pid()) - before;
    assert!(used < 30, "it spins: {used} hundredths of a second");
    drop(crowd);
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    assert_eq!(client.send("GET", "/x", &[], b"").await.status, 200);
    assert_eq!(guard.record_of(&attempt).await["routed_requests"], 1);
}

#[tokio::test]
async fn what_is_sent_by_half_is_closed_and_recorded() {
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let mut by_half = Vec::new();
    for bytes in ["CONNECT shop.te", "GET http://shop.test/ HT", "P"] {
        let mut stream = connect(&attempt.proxy).await;
        stream.write_all(bytes.as_bytes()).await.unwrap();
        by_half.push(stream);
    }
    let mut stream = tunnel(&attempt.proxy, "shop.test:80").await;
    stream.write_all(b"POST /orders HTTP/1.1\r\nHo").await.unwrap();
    by_half.push(stream);
    let mut stream = tunnel(&attempt.proxy, "shop.test:443").await;
    stream.write_all(&[0x16, 3, 1, 1, 0, 1]).await.unwrap();
    by_half.push(stream);
    let mut stream = tunnel(&attempt.proxy, "shop.test:1").await;
    stream.write_all(b"OPTI").await.unwrap();
    by_half.push(stream);
    let mut one_each_second = tunnel(&attempt.proxy, "shop.test:80").await;
    let trickle = async {
        // However slowly it comes, it must come whole in 30 seconds.
        while one_each_second.write_all(b"G").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    let began = Instant::now();
    let closed = async {
        for mut stream in by_half {
            let ended = tokio::time::timeout(Duration::from_secs(45), async {
                let mut rest = Vec::new();
                let _ = stream.read_to_end(&mut rest).await;
            });
            ended.await.expect("it stays open");
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(50), async { tokio::join!(closed, trickle) }).await;
    assert!(began.elapsed() > Duration::from_secs(25), "no patience: {:?}", began.elapsed());
    let record = guard.record_of(&attempt).await;
    assert_eq!(events(&record).len(), 7, "{record}");
}

#[tokio::test]
async fn an_origin_that_never_finishes_its_handshake_is_a_timeout() {
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = format!("localhost:{}", silent.local_addr().unwrap().port());
    let mut client = Client::tls(&attempt.proxy, &target, &guard.run_dir().join("ca.pem")).await;
    let answer = client.send("GET", "/", &[], b"").await;
    assert_eq!((answer.status, &answer.headers["x-qa-pilot-error"]), (504, &"timeout".parse().unwrap()));
    assert_eq!(guard.record_of(&attempt).await["blocked"], 0);
}

#[tokio::test]
async fn an_origin_that_dies_in_the_middle_of_an_answer_leaves_no_whole_one() {
    let pki = super::pki::Pki::new();
    let guard = Start::policy("read-only").trusting(&pki.root()).run();
    let attempt = guard.begin("t1").await;
    let config = pki.server(&["localhost"], &[], &[&rustls::version::TLS13], false);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("localhost:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        for head in
            ["Content-Length: 100\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"].repeat(2)
        {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                // A reset, as the kernel sends it for a process that was killed.
                socket.set_zero_linger().unwrap();
                // The look for HTTP/2 ends early and asks nothing.
                let accepted = tokio_rustls::TlsAcceptor::from(config.clone()).accept(socket).await;
                let Ok(mut stream) = accepted else { continue };
                if read_head(&mut stream).await.is_empty() {
                    continue;
                }
                stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}").as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
                tokio::time::sleep(Duration::from_millis(100)).await;
                break;
            }
        }
    });
    let ca = guard.run_dir().join("ca.pem");
    for _ in 0..2 {
        let one = Client::tls(&attempt.proxy, &host, &ca).await;
        let two = Client::two(&attempt.proxy, &host, &ca).await;
        for mut client in [one, two] {
            let answer = client.begin("GET", &format!("https://{host}/x"), &[], b"").await;
            assert_eq!(answer.status(), 200);
            let body = tokio::time::timeout(PATIENCE, answer.into_body().collect()).await.expect("it hangs");
            assert!(body.is_err(), "half an answer looks whole");
        }
    }
}

#[test]
fn a_run_directory_that_cannot_be_written_is_refused_and_nothing_stays_half_written() {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("file"), "x").unwrap();
    let below_a_file = command(&Start::default(), &folder.path().join("file/run")).output().unwrap();
    assert_eq!(below_a_file.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&below_a_file.stderr).contains("cannot use the run directory"));
    // Not a byte can be written, as on a full disk.
    let full = Start { shell: Some("trap '' XFSZ; ulimit -f 0"), ..Start::default() };
    let run_dir = folder.path().join("run");
    let output = command(&full, &run_dir).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("cannot write to the run directory") && output.stdout.is_empty(), "{told}");
    assert_eq!(fs_err::read_dir(&run_dir).unwrap().count(), 0, "something is left");
}

#[tokio::test]
async fn a_record_that_finds_the_disk_full_is_told_and_never_half_written() {
    let origin = Origin::clear().await;
    // What it tells goes to a file on the same disk, beside the run directory.
    let shell = Some("trap '' XFSZ; exec 2>\"$3.log\"");
    let start = Start { shell, ..Start::policy("read-only") };
    let mut guard = start.run();
    let attempt = guard.begin("t1").await;
    Client::clear(&attempt.proxy, &origin.authority()).await.send("GET", "/x", &[], b"").await;
    prlimit(guard.pid(), "--fsize=0:");
    let (status, answer) = guard.finish(&attempt).await;
    assert_eq!(status, 500, "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("cannot write the record"), "{answer}");
    assert_eq!(guard.files(), ["ca.pem"]);
    // The next attempt is judged as ever.
    let next = guard.begin_with(guard.begin_body("t2", 0, 0)).await;
    assert_eq!(
        Client::clear(&next.proxy, &origin.authority()).await.send("GET", "/x", &[], b"").await.status,
        200
    );
    let ended = guard.stop();
    assert_eq!(ended.code(), Some(1), "a record that is lost is no clean end");
}

#[tokio::test]
async fn a_thousand_connections_at_once_are_served() {
    const CROWD: usize = 1000;
    // Both ends of the tunnels are in this process.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).unwrap();
    let origin = Origin::clear().await;
    let guard = Start::policy("read-only").run();
    let attempt = guard.begin("t1").await;
    let host = origin.authority();
    let mut crowd = Vec::new();
    for _ in 0..CROWD {
        crowd.push(one(tunnel(&attempt.proxy, &host).await).await);
    }
    assert!(guard.open_files() > CROWD);
    let mut asked = tokio::task::JoinSet::new();
    for mut sender in crowd {
        let request = http::Request::get("/x").header("host", &host);
        let request = request.body(http_body_util::Full::new(bytes::Bytes::new())).unwrap();
        asked.spawn(async move {
            let answer = sender.send_request(request).await.unwrap();
            (answer.status().as_u16(), answer.into_body().collect().await.is_ok())
        });
    }
    let answers =
        tokio::time::timeout(Duration::from_secs(60), asked.join_all()).await.expect("some are left out");
    assert!(answers.iter().all(|answer| *answer == (200, true)));
    assert_eq!(guard.record_of(&attempt).await["routed_requests"], CROWD);
    println!("peak memory with {CROWD} connections: {} KiB", guard.memory("VmHWM:"));
    assert!(guard.memory("VmHWM:") < 100 << 10);
}

#[tokio::test]
async fn two_hundred_attempts_at_once_keep_their_traffic_apart() {
    let origin = Origin::clear().await;
    let signatures = json!([{ "method": "POST", "url": "/orders" }]);
    let guard = std::sync::Arc::new(Start::policy("read-only").signatures(signatures).run());
    let host = origin.authority();
    let mut attempts = tokio::task::JoinSet::new();
    for n in 0..200_u64 {
        let (guard, host) = (guard.clone(), host.clone());
        attempts.spawn(async move {
            let attempt = guard.begin_with(guard.begin_body(&format!("t{n}"), n, n)).await;
            let mut client = Client::clear(&attempt.proxy, &host).await;
            for _ in 0..n % 7 {
                assert_eq!(client.send("GET", "/x", &[], b"").await.status, 200);
            }
            assert_eq!(client.send("POST", &format!("/orders/{n}"), &[], b"").await.status, 403);
            let record = guard.record_of(&attempt).await;
            assert_eq!((&record["routed_requests"], &record["blocked"]), (&json!(n % 7 + 1), &json!(1)));
            assert!(events(&record)[0].ends_with(&format!("/orders/{n}")), "{record}");
        });
    }
    attempts.join_all().await;
    let began = Instant::now();
    while guard.open_files() > 60 {
        assert!(began.elapsed() < PATIENCE, "ports pile up: {} files", guard.open_files());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_guard_that_is_killed_leaves_whole_records_of_what_was_finished_and_nothing_of_the_rest() {
    let origin = Origin::clear().await;
    let mut guard = Start::policy("read-only").run();
    let host = origin.authority();
    let (done, open) = (guard.begin("done").await, guard.begin_with(guard.begin_body("open", 1, 1)).await);
    for attempt in [&done, &open] {
        Client::clear(&attempt.proxy, &host).await.send("GET", "/x", &[], b"").await;
    }
    assert_eq!(guard.finish(&done).await.0, 200);
    let mut stream = tunnel(&open.proxy, &host).await;
    stream.write_all(format!("GET /events HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
    read_head(&mut stream).await;
    guard.signal("-KILL");
    guard.wait();
    // The client's connection ends with it: nothing goes past a guard that is gone.
    read_all(&mut stream).await;
    assert!(tokio::net::TcpStream::connect(&open.proxy).await.is_err());
    assert_eq!(
        guard.files(),
        ["ca.pem", "results/done/writes.json"],
        "an attempt without a record is refused by the gate"
    );
    assert_eq!(read(&guard.run_dir().join("results/done/writes.json"))["routed_requests"], 1);
}

#[tokio::test]
async fn no_record_leaves_the_run_directory_through_a_link() {
    let origin = Origin::clear().await;
    let mut guard =
        Start::policy("read-only").signatures(json!([{ "method": "POST", "url": "/orders" }])).run();
    let elsewhere = tempfile::tempdir().unwrap();
    let attempt = guard.begin("t1").await;
    let mut client = Client::clear(&attempt.proxy, &origin.authority()).await;
    client.send("POST", "/orders", &[], b"").await;
    let link = |place: &str| {
        let place = guard.run_dir().join(place);
        let _ = fs_err::remove_dir_all(&place);
        std::os::unix::fs::symlink(elsewhere.path(), place).unwrap();
    };
    link("results/t1");
    let (status, answer) = guard.finish(&attempt).await;
    assert_eq!(status, 500, "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("leaves"), "{answer}");
    // It is kept where it can be, and counts as unfinished there.
    assert_eq!(guard.files(), ["ca.pem", "unfinished/t1-r0/writes.json"]);
    for place in ["outside", "late"] {
        link(place);
    }
    let run_proxy = guard.text("run_proxy").replace("http://", "");
    Client::clear(&run_proxy, &origin.authority()).await.send("POST", "/orders", &[], b"").await;
    assert_eq!(guard.stop().code(), Some(1), "a record that is lost is no clean end");
    assert_eq!(fs_err::read_dir(elsewhere.path()).unwrap().count(), 0, "a record left the run directory");
}

#[tokio::test]
async fn slow_readers_hold_nobody_up_and_little_memory() {
    let origin = Origin::tls().await;
    let guard = Start::policy("read-only").trusting(&origin.ca()).run();
    let attempt = guard.begin("t1").await;
    let ca = guard.run_dir().join("ca.pem");
    let host = origin.authority();
    let mut slow = Vec::new();
    for _ in 0..10 {
        let mut stream = secured(&attempt.proxy, &host, &ca, &["http/1.1"]).await;
        stream.write_all(format!("GET /big HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
        read_head(&mut stream).await;
        slow.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut client = Client::two(&attempt.proxy, &host, &ca).await;
    assert_eq!(client.send("GET", &format!("https://{host}/x"), &[], b"").await.status, 200);
    assert!(guard.memory("VmHWM:") < 60 << 10, "{} KiB", guard.memory("VmHWM:"));
}

#[test]
fn a_guard_without_a_network_address_to_bind_says_so() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let start = Start::default().with(&["--listen", &taken.local_addr().unwrap().to_string()]);
    let output = command(&start, &folder.path().join("run")).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot start the proxy"));
}
