//! `qa-pilot run --lock-egress` on the kernel at hand: as whoever runs the tests, and as nobody where that is root.
//!
//! Where the kernel allows no namespace, each test holds that the run is refused instead.
#![cfg(target_os = "linux")]

use crate::support::{Host, VersionServer, qa_pilot, scrubbed, told};
use serde_json::Value;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const BUILD: &str = r#"{"commit":"3f2a91c04be17d5566aa0f9b1c2d3e4f50617283"}"#;

/// The user and group `nobody`.
const NOBODY: u32 = 65534;

/// Functions for scripts: `ask ADDRESS PORT REQUEST` sends a request and prints what comes back.
const ASK: &str = r#"ask() { exec 3<>/dev/tcp/$1/$2 || return 1; printf "$3" >&3; cat <&3; exec 3>&-; }
through() { rest=${QA_PILOT_RUN_PROXY##*:}; ask 127.0.0.1 "$rest" "$1 $2 HTTP/1.1\r\nHost: $(echo "$2" | cut -d/ -f3)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"; }
"#;

/// Who runs `qa-pilot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// Whoever runs the tests.
    Me,
    /// A user without rights.
    Nobody,
}

impl Who {
    /// Root tries both.
    fn all() -> Vec<Self> {
        if rustix::process::geteuid().is_root() { vec![Self::Me, Self::Nobody] } else { vec![Self::Me] }
    }

    fn words(self) -> Vec<String> {
        match self {
            Self::Me => Vec::new(),
            Self::Nobody => {
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"].map(str::to_owned).to_vec()
            }
        }
    }

    /// Whether the kernel lets this user make a network namespace, by another program's word.
    fn may_lock(self) -> bool {
        let mut words = self.words();
        let root = self == Self::Me && rustix::process::geteuid().is_root();
        words.extend(["unshare", if root { "-n" } else { "-rn" }, "true"].map(str::to_owned));
        let tried = Command::new(&words[0]).args(&words[1..]).stderr(Stdio::null()).status().unwrap();
        tried.success()
    }
}

/// A host repository that a user may write to, and a copy of the binary that the user may run.
struct Place {
    host: Host,
    who: Who,
    binary: PathBuf,
    /// Further options of the run.
    options: Vec<String>,
    _copy: tempfile::TempDir,
}

impl Place {
    fn new(version: SocketAddr, who: Who) -> Self {
        let (host, copy) = (Host::new(version), tempfile::tempdir().unwrap());
        let binary = copy.path().join("qa-pilot");
        // By another process: a file that this one has open for writing, and so a child of another test's, cannot be run.
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_qa-pilot")).arg(&binary).status().unwrap();
        assert!(copied.success());
        if who == Who::Nobody {
            for folder in [host.path(), copy.path()] {
                for entry in walkdir::WalkDir::new(folder) {
                    chown(entry.unwrap().path(), Some(NOBODY), Some(NOBODY)).unwrap();
                }
            }
        }
        Self { host, who, binary, options: Vec::new(), _copy: copy }
    }

    /// `qa-pilot run --lock-egress WHEN -- bash -c SCRIPT`, as its user, through the command `by`.
    fn command(&self, by: &[&str], when: &str, script: &str) -> Command {
        let mut words = self.who.words();
        words.extend(by.iter().map(|word| (*word).to_owned()));
        words.push(self.binary.to_str().unwrap().to_owned());
        let mut command = scrubbed(&words[0], self.host.path(), &[]);
        command.args(&words[1..]);
        let script = format!("{ASK}{script}");
        let options = ["run", "--feature", "checkout", "--env", "qa", "--json", "--lock-egress", when];
        command.args(options).args(&self.options).args(["--", "bash", "-c", &script]);
        command.env("USER", "tester").env("HOME", self.host.path());
        command
    }

    /// Runs it; none where the kernel allows no lock, after it was seen that the run was refused.
    fn locked(&self, script: &str) -> Option<Output> {
        let output = self.command(&[], "on", script).output().unwrap();
        if self.who.may_lock() {
            return Some(output);
        }
        self.refused(&output, "cannot make a");
        None
    }

    fn refused(&self, output: &Output, why: &str) {
        assert_eq!(output.status.code(), Some(2), "{}", told(output));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(&format!("--lock-egress on: {why}")), "{}", told(output));
        assert!(self.host.runs().is_empty(), "nothing ran");
    }

    fn text(&self, name: &str) -> String {
        fs_err::read_to_string(self.host.path().join(name)).unwrap_or_default()
    }

    fn spawn(&self, script: &str) -> Child {
        self.command(&[], "on", script).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn awaited(&self, name: &str) -> String {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let text = self.text(name);
            match text.trim() {
                "" if Instant::now() > until => panic!("{name} never came"),
                "" => std::thread::sleep(Duration::from_millis(20)),
                text => return text.to_owned(),
            }
        }
    }
}

fn outcome(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", told(output)))
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

/// Something outside that counts what reaches it, over TCP and over UDP, at one port of each address.
struct Outside {
    addresses: Vec<SocketAddr>,
    tcp: Arc<AtomicUsize>,
    udp: Arc<AtomicUsize>,
}

impl Outside {
    fn start() -> Self {
        let mut here = vec![IpAddr::V4(Ipv4Addr::LOCALHOST)];
        // The machine's own address as well, where it has one; nothing is sent.
        let own = UdpSocket::bind("0.0.0.0:0").unwrap();
        if own.connect("192.0.2.1:9").is_ok() {
            here.push(own.local_addr().unwrap().ip());
        }
        let (tcp, udp) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut addresses = Vec::new();
        for ip in here {
            let listener = TcpListener::bind((ip, 0)).unwrap();
            let address = listener.local_addr().unwrap();
            let datagrams = UdpSocket::bind(address).unwrap();
            let (streams, packets) = (tcp.clone(), udp.clone());
            std::thread::spawn(move || {
                while let Ok((mut stream, _)) = listener.accept() {
                    streams.fetch_add(1, Ordering::SeqCst);
                    // To its end, so that the sender is not told that nobody listens.
                    let _ = std::io::copy(&mut stream, &mut std::io::sink());
                }
            });
            std::thread::spawn(move || {
                while datagrams.recv(&mut [0; 64]).is_ok() {
                    packets.fetch_add(1, Ordering::SeqCst);
                }
            });
            addresses.push(address);
        }
        Self { addresses, tcp, udp }
    }

    fn seen(&self) -> (usize, usize) {
        (self.tcp.load(Ordering::SeqCst), self.udp.load(Ordering::SeqCst))
    }

    /// Tries all of it with no proxy, and counts in `reached` what accepted a connection.
    fn script(&self) -> String {
        let mut script = "n=0\n".to_owned();
        for address in &self.addresses {
            let (ip, port) = (address.ip(), address.port());
            script += &format!(
                "(exec 3<>/dev/tcp/{ip}/{port} || exit 1; printf 'DELETE / HTTP/1.1\\r\\n\\r\\n' >&3; exit 0) 2>/dev/null && n=$((n+1))\n\
                 (printf x > /dev/udp/{ip}/{port}) 2>/dev/null\n"
            );
        }
        script + "echo $n > reached\n"
    }
}

fn settled(what: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while !what() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    what()
}

fn is_alive(pid: &str) -> bool {
    fs_err::read_to_string(format!("/proc/{}/stat", pid.trim()))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

/// The helper of a run, a child of the wrapper.
fn helper_of(wrapper: &Child) -> String {
    let output =
        Command::new("pgrep").args(["-P", &wrapper.id().to_string(), "-f", "qa-pilot inside"]).output();
    let found = String::from_utf8(output.unwrap().stdout).unwrap();
    assert_eq!(found.lines().count(), 1, "one helper: {found:?}");
    found.trim().to_owned()
}

/// Whether a process is in the network namespace `link`.
fn is_inhabited(link: &str) -> bool {
    fs_err::read_dir("/proc").unwrap().flatten().any(|entry| {
        fs_err::read_link(entry.path().join("ns/net"))
            .is_ok_and(|found| found.to_string_lossy() == link.trim())
    })
}

#[test]
fn without_the_guard_nothing_leads_out() {
    for who in Who::all() {
        let version = VersionServer::start(BUILD);
        let (place, outside) = (Place::new(version.address, who), Outside::start());
        let Some(output) = place.locked(&outside.script()) else { continue };
        assert_eq!(outcome(&output)["egress_locked"], true, "{who:?} {}", told(&output));
        assert_eq!(place.text("reached"), "0\n", "{who:?}");
        assert_eq!(outside.seen(), (0, 0), "{who:?}");
        // The same command without the lock gets there.
        let output = place.command(&[], "off", &outside.script()).output().unwrap();
        assert_eq!(outcome(&output)["egress_locked"], false, "{}", told(&output));
        let all = outside.addresses.len();
        assert_eq!(place.text("reached"), format!("{all}\n"), "{who:?}");
        assert!(settled(|| outside.seen() == (all, all)), "{who:?} {:?}", outside.seen());
    }
}

#[test]
fn through_the_guard_requests_are_judged_and_recorded() {
    for who in Who::all() {
        let version = VersionServer::start(BUILD);
        let place = Place::new(version.address, who);
        let script = format!(
            "through GET http://{0}/version.json > read; through POST http://{0}/orders > write; id -u > user; readlink /proc/self/ns/user > namespace",
            version.address
        );
        let Some(output) = place.locked(&script) else { continue };
        assert!(
            place.text("read").starts_with("HTTP/1.1 200"),
            "{who:?} {} {}",
            place.text("read"),
            told(&output)
        );
        assert!(place.text("read").contains("3f2a91c0"));
        assert!(place.text("write").starts_with("HTTP/1.1 403"), "{who:?} {}", place.text("write"));
        let record = json(&place.host.runs()[0].join("outside/writes.json"));
        assert_eq!((&record["egress_locked"], &record["blocked"]), (&Value::Bool(true), &Value::from(1)));
        // The user is the same one, and so is the owner of what it writes; only one without rights gets a user namespace.
        let (user, own) = match who {
            Who::Me => {
                (rustix::process::geteuid().as_raw(), fs_err::read_link("/proc/self/ns/user").unwrap())
            }
            Who::Nobody => (NOBODY, fs_err::read_link("/proc/self/ns/user").unwrap()),
        };
        assert_eq!(place.text("user"), format!("{user}\n"));
        assert_eq!(fs_err::metadata(place.host.path().join("user")).unwrap().uid(), user);
        assert_eq!(place.text("namespace").trim() == own.to_string_lossy(), user == 0, "{who:?}");
    }
}

/// Starts a server inside, on loopback at `port`, that answers everything with `inside`.
fn server_inside(port: u16) -> String {
    format!(
        "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => \"127.0.0.1\", LocalPort => {port}, Listen => 5) or die; \
             open F, \">up\"; print F 1; close F; while ($c = $s->accept) {{ while (<$c>) {{ last if /^\\r$/ }} \
             print $c \"HTTP/1.1 200 OK\\r\\ncontent-length: 6\\r\\nconnection: close\\r\\n\\r\\ninside\"; close $c }}' & \
             while ! test -s up; do sleep 0.02; done"
    )
}

#[test]
fn loopback_is_dialled_inside_first_and_then_outside() {
    for who in Who::all() {
        let version = VersionServer::start(BUILD);
        let place = Place::new(version.address, who);
        let port = version.address.port();
        let server = server_inside(port);
        let script = format!(
            "through GET http://localhost:{port}/a > before\n{server}\nthrough GET http://localhost:{port}/b > after"
        );
        let Some(output) = place.locked(&script) else { continue };
        assert!(place.text("before").ends_with(BUILD), "{who:?} {} {}", place.text("before"), told(&output));
        assert!(place.text("after").ends_with("inside"), "{who:?} {}", place.text("after"));
    }
}

#[test]
fn an_upstream_proxy_is_the_machines_whatever_is_inside() {
    for who in Who::all() {
        // It answers what it is asked for in absolute form, as a proxy does.
        let version = VersionServer::start(BUILD);
        let mut place = Place::new(version.address, who);
        place.options = vec!["--upstream-proxy".into(), format!("http://{}", version.address)];
        let script =
            format!("{}\nthrough GET http://shop.test/a > answer", server_inside(version.address.port()));
        let Some(output) = place.locked(&script) else { continue };
        assert!(place.text("answer").ends_with(BUILD), "{who:?} {} {}", place.text("answer"), told(&output));
    }
}

#[test]
fn nothing_of_ours_is_open_in_the_command() {
    for who in Who::all() {
        let version = VersionServer::start(BUILD);
        let place = Place::new(version.address, who);
        // What the test's own surroundings leave open is there without the lock as well.
        let script = "set -- /proc/$$/fd/*; echo \"${@##*/}\" > open.$TAG";
        let open = |when| {
            let output = place.command(&[], when, script).env("TAG", when).output().unwrap();
            assert_eq!(outcome(&output)["command_status"], 0, "{}", told(&output));
            place.text(&format!("open.{when}"))
        };
        if who.may_lock() {
            assert_eq!(open("on"), open("off"), "{who:?}");
        } else {
            place.refused(&place.command(&[], "on", script).output().unwrap(), "cannot make a");
        }
    }
}

#[test]
fn signals_and_statuses_pass_as_without_the_lock() {
    for who in Who::all() {
        let version = VersionServer::start(BUILD);
        let place = Place::new(version.address, who);
        let Some(output) = place.locked("setsid sh -c 'trap \"\" TERM; echo $$ > stray; sleep 300; sleep 1' >/dev/null 2>&1 & while ! test -s stray; do sleep 0.02; done; exit 3") else { continue };
        assert_eq!(outcome(&output)["command_status"], 3, "{}", told(&output));
        assert!(!is_alive(&place.text("stray")), "{who:?}");

        let place = Place::new(version.address, who);
        let child = place.spawn("trap 'echo INT > trapped; exit 7' INT; readlink /proc/self/ns/net > net; while :; do sleep 0.05; done");
        let (net, helper) = (place.awaited("net"), helper_of(&child));
        assert!(is_inhabited(&net));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{who:?} {}", told(&output));
        assert_eq!(place.text("trapped"), "INT\n");
        assert!(!is_alive(&helper) && !is_inhabited(&net), "{who:?}: the namespace ends with the run");
        let notes = outcome(&output)["notes"].to_string();
        assert!(!notes.contains("did not hold"), "{notes}");
    }
}

#[test]
fn a_wrapper_that_is_killed_leaves_no_process_and_no_namespace() {
    for who in Who::all() {
        let version = VersionServer::start(BUILD);
        let place = Place::new(version.address, who);
        if place.locked("true").is_none() {
            continue;
        }
        // One leads a session of its own, as a browser does, and does not listen.
        let mut child = place.spawn(
            "setsid sh -c 'trap \"\" TERM; echo $$ > stray; while :; do sleep 0.1; done' >/dev/null 2>&1 & \
             readlink /proc/self/ns/net > net; while ! test -s stray; do sleep 0.02; done; echo $$ > pid; while :; do sleep 0.05; done",
        );
        let (pid, stray, net) = (place.awaited("pid"), place.awaited("stray"), place.awaited("net"));
        let helper = helper_of(&child);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            settled(|| !is_alive(&pid) && !is_alive(&stray) && !is_alive(&helper) && !is_inhabited(&net)),
            "{who:?}: command {} stray {} helper {} namespace {}",
            is_alive(&pid),
            is_alive(&stray),
            is_alive(&helper),
            is_inhabited(&net)
        );
    }
}

#[test]
fn without_its_helper_a_run_fails_closed() {
    for who in Who::all() {
        let version = VersionServer::start(BUILD);
        let place = Place::new(version.address, who);
        if place.locked("true").is_none() {
            continue;
        }
        let script = format!(
            "echo 1 > started; while ! test -e go; do sleep 0.02; done\n\
             through GET http://{}/version.json > dialled\n\
             body='{{\"test_id\":\"t\",\"retry\":0,\"title\":\"t\",\"project\":\"p\",\"worker_index\":0,\"parallel_index\":0,\"output_dir\":\"'$QA_PILOT_RUN_DIR'/t\"}}'\n\
             main=${{QA_PILOT_CONTROL#http://127.0.0.1:}}; main=${{main%%/*}}\n\
             ask 127.0.0.1 $main \"POST /__qa_pilot__/v1/attempts HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer $QA_PILOT_TOKEN\\r\\nContent-Length: ${{#body}}\\r\\nConnection: close\\r\\n\\r\\n$body\" > begun",
            version.address
        );
        let child = place.spawn(&script);
        place.awaited("started");
        let helper = helper_of(&child);
        assert!(Command::new("kill").args(["-KILL", &helper]).status().unwrap().success());
        assert!(settled(|| !is_alive(&helper)));
        fs_err::write(place.host.path().join("go"), "").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{who:?} {}", told(&output));
        assert!(place.text("dialled").starts_with("HTTP/1.1 502"), "{}", place.text("dialled"));
        assert!(place.text("dialled").contains("the helper of the egress lock is gone"));
        assert!(place.text("begun").starts_with("HTTP/1.1 500"), "{}", place.text("begun"));
        let notes = outcome(&output)["notes"].to_string();
        assert!(notes.contains("the helper of the egress lock did not hold to the end"), "{notes}");
        let last = place.host.runs().pop().unwrap();
        assert_eq!(json(&last.join("meta.json"))["run_kind"], Value::Null, "the gate refuses it");
    }
}

#[test]
fn where_the_kernel_says_no_on_is_refused_and_auto_goes_without() {
    for who in Who::all() {
        let version = VersionServer::start(BUILD);
        // In a user namespace whose users are not mapped nobody may make another; in one that allows no network
        // namespace there is none.
        let unmapped = ["unshare", "-U"];
        let none =
            ["unshare", "-r", "sh", "-c", "echo 0 > /proc/sys/user/max_net_namespaces && exec \"$0\" \"$@\""];
        for (by, why, mend) in [
            (&unmapped[..], "cannot make a user namespace: ", "run as root"),
            (&none[..], "cannot make a network namespace: ", "sysctl user.max_net_namespaces"),
        ] {
            let place = Place::new(version.address, who);
            let output = place.command(by, "on", "echo 1 > ran").output().unwrap();
            if !who.may_lock() {
                assert!(!output.status.success() && place.text("ran").is_empty(), "{}", told(&output));
                continue;
            }
            place.refused(&output, why);
            assert!(String::from_utf8_lossy(&output.stderr).contains(mend), "{}", told(&output));
            assert!(place.text("ran").is_empty());

            let output = place.command(by, "auto", "echo 1 > ran").output().unwrap();
            assert_eq!(outcome(&output)["egress_locked"], false, "{}", told(&output));
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(stderr.contains(&format!("egress lock: off: {why}")), "{}", told(&output));
            assert_eq!(place.text("ran"), "1\n");
        }
    }
}

#[test]
fn auto_says_that_it_is_on_and_a_dry_run_says_it_too() {
    let version = VersionServer::start(BUILD);
    let place = Place::new(version.address, Who::Me);
    let may = Who::Me.may_lock();
    let output = place.command(&[], "auto", "true").output().unwrap();
    assert_eq!(outcome(&output)["egress_locked"], may, "{}", told(&output));
    let said = if may { "egress lock: on\n" } else { "egress lock: off: cannot make a" };
    assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{}", told(&output));

    let plan = |more: &[&str]| {
        let mut command =
            qa_pilot(place.host.path(), &["run", "--feature", "checkout", "--env", "qa", "--dry-run"]);
        command.args(more).args(["--", "true"]).env("USER", "tester").output().unwrap()
    };
    let locked = plan(&["--lock-egress", "auto"]);
    let row = if may { "egress     locked\n" } else { "egress     open\n" };
    assert!(String::from_utf8_lossy(&locked.stdout).contains(row), "{}", told(&locked));
    assert!(String::from_utf8_lossy(&plan(&[]).stdout).contains("egress     open\n"));
    assert_eq!(outcome(&plan(&["--json", "--lock-egress", "auto"]))["egress_locked"], may);
    let output = plan(&["--lock-egress", "yes"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_helper_without_a_channel_ends() {
    let folder = tempfile::tempdir().unwrap();
    let output = qa_pilot(folder.path(), &["inside"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the helper of the egress lock ended early"));
}

#[test]
fn a_namespace_that_is_gone_is_not_entered() {
    let folder = tempfile::tempdir().unwrap();
    let mut ended = Command::new("true").spawn().unwrap();
    let gone = ended.id().to_string();
    ended.wait().unwrap();
    let words = ["with-parent", "--inside", &gone, &std::process::id().to_string(), "--", "touch", "ran"];
    let output = qa_pilot(folder.path(), &words).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("cannot enter the egress lock"),
        "{}",
        told(&output)
    );
    assert!(!folder.path().join("ran").exists());
}
