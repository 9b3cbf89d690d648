//! On a real server, with members that are processes: what must hold whatever happens to the server. Skipped, and said so, where none
//! is installed. Times are told and decide nothing; what is counted decides.
//!
//! `cargo test -p cutout-fleet --test server -- --nocapture` shows the numbers.
#![cfg(feature = "redis")]

#[path = "../examples/eight/member.rs"]
mod member;
#[path = "../examples/eight/server.rs"]
mod server;
#[path = "../examples/eight/upstream.rs"]
mod upstream;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cutout::{Breaker, OpenWait, State};
use cutout_fleet::{Action, Fleet, Ignored, Settings};
use member::{Member, Report};
use server::Server;
use upstream::Upstream;

const LONG: Duration = Duration::from_secs(60);

/// One at a time: they share two processors.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A server, or none is installed.
fn server() -> Option<Server> {
    let server = Server::start();
    if server.is_none() {
        println!("skipped: neither redis-server nor valkey-server is installed");
    }
    server
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "not so: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn settings() -> Settings {
    Settings::default().with(|settings| {
        settings.heartbeat = Duration::from_millis(200);
        settings.lease = Duration::from_secs(1);
        settings.patience = Duration::from_millis(300);
    })
}

/// A member of this process.
struct Local {
    fleet: Fleet,
    breaker: Arc<Breaker>,
}

impl Local {
    fn new(address: &str, name: &str) -> Self {
        let fleet = Fleet::builder()
            .member(name)
            .settings(settings())
            .connect(address)
            .unwrap();
        let wait = OpenWait::fixed(Duration::from_millis(500));
        let builder = Breaker::builder()
            .name("upstream")
            .consecutive_failures(3)
            .open_wait(wait);
        let breaker = fleet.guard(builder).unwrap();
        Self { fleet, breaker }
    }

    fn fail(&self) {
        for _ in 0..3 {
            if let Ok(permit) = self.breaker.allow() {
                permit.failure();
            }
        }
    }
}

fn three(address: &str) -> [Local; 3] {
    ["a", "b", "c"].map(|name| Local::new(address, name))
}

fn know_each_other(members: &[Local]) {
    until("all know each other", || {
        let others = members.len() - 1;
        members
            .iter()
            .all(|it| it.fleet.health().members.len() == others)
    });
}

/// Calls a well upstream until all are closed.
fn all_close(members: &[Local]) {
    until("all are closed", || {
        for member in members {
            if let Ok(permit) = member.breaker.allow() {
                permit.success();
            }
        }
        members.iter().all(|it| it.breaker.state() == State::Closed)
    });
}

/// Two of three trip, and the third takes it over.
fn trip(members: &[Local; 3]) {
    know_each_other(members);
    let before = members[2].fleet.health().takeovers;
    members[0].fail();
    members[1].fail();
    until("the third has taken it over", || {
        members[2].fleet.health().takeovers > before
    });
}

/// Not a test by itself: a member in a process of its own.
#[test]
#[ignore = "a process of another test"]
fn a_member() {
    let Ok(arguments) = std::env::var("CUTOUT_FLEET_MEMBER") else {
        return;
    };
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let [index, upstream, bus, millis] = arguments.as_slice() else {
        panic!("{arguments:?}");
    };
    let fleet = (*bus != "none").then(|| {
        let builder = Fleet::builder().member(format!("member {index}"));
        builder.settings(member::settings()).connect(bus).unwrap()
    });
    let total = Duration::from_millis(millis.parse().unwrap());
    let member = Member::new(fleet, upstream.parse().unwrap());
    println!("\nreport {}", member.run(total));
}

fn process(index: usize, upstream: SocketAddr, bus: &str, total: Duration) -> Child {
    let arguments = format!("{index} {upstream} {bus} {}", total.as_millis());
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_member", "--ignored", "--nocapture"])
        .env("CUTOUT_FLEET_MEMBER", arguments)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn report(mut process: Child) -> Report {
    let mut output = String::new();
    process
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut output)
        .unwrap();
    process.wait().unwrap();
    let line = output.lines().find_map(|line| line.strip_prefix("report "));
    line.unwrap_or_else(|| panic!("no report in {output}"))
        .parse()
        .unwrap()
}

/// Eight processes before an upstream that is well, dies, and is well again.
fn eight(bus: &str) -> Vec<Report> {
    let [well, dead, again] = [1500, 10_000, 3500].map(Duration::from_millis);
    let upstream = Upstream::start();
    let processes: Vec<_> = (0..8)
        .map(|index| process(index, upstream.address(), bus, well + dead + again))
        .collect();
    thread::sleep(well);
    upstream.set_alive(false);
    thread::sleep(dead);
    upstream.set_alive(true);
    processes.into_iter().map(report).collect()
}

#[test]
fn eight_processes_probe_the_dead_a_third_as_often_as_a_fleet() {
    let _turn = turn();
    let Some(server) = server() else {
        return;
    };
    let alone = eight("none");
    let together = eight(&server.address());
    let sum = |all: &[Report], of: fn(&Report) -> u64| all.iter().map(of).sum::<u64>();
    let (failed_alone, failed) = (sum(&alone, |it| it.failed), sum(&together, |it| it.failed));
    let (probes_alone, probes) = (sum(&alone, |it| it.probes), sum(&together, |it| it.probes));
    let mut opened: Vec<_> = together.iter().filter_map(|it| it.opened).collect();
    opened.sort_unstable();
    println!(
        "calls into the dead: {failed_alone} alone, {failed} as a fleet; probes: {probes_alone}, {probes}"
    );
    println!(
        "last opening after the second: {} ms",
        (opened[7] - opened[1]) / 1000
    );
    println!("takeovers: {}", sum(&together, |it| it.takeovers));
    assert_eq!(opened.len(), 8, "each has opened");
    assert!(
        together.iter().all(|it| it.closed.is_some()),
        "each has closed again"
    );
    // With one probe for each wait the fleet makes about an eighth of those that eight make.
    assert!(
        probes * 3 <= probes_alone,
        "{probes} of {probes_alone} probes"
    );
    // Ten calls each until they know, as long as all see it die at the same moment; the rest are probes.
    assert!(failed <= probes + 8 * 12, "{failed} calls");
    assert!(failed < failed_alone, "{failed} of {failed_alone} calls");
}

#[test]
fn a_server_that_is_killed_leaves_each_by_itself_and_is_found_again() {
    let _turn = turn();
    let Some(mut server) = server() else {
        return;
    };
    let members = three(&server.address());
    trip(&members);
    server.kill();
    // Nobody stays open before a well upstream, though nobody can have the right to probe.
    all_close(&members);
    until("it is seen to be gone", || {
        members.iter().all(|it| !it.fleet.health().is_connected)
    });
    members[0].fail();
    assert_eq!(members[0].breaker.state(), State::Open);
    all_close(&members);

    server.restart();
    until("it is found again", || {
        members.iter().all(|it| it.fleet.health().is_connected)
    });
    trip(&members);
    all_close(&members);
}

#[test]
fn a_server_that_stands_still_blocks_nobody() {
    let _turn = turn();
    let Some(server) = server() else {
        return;
    };
    let members = three(&server.address());
    trip(&members);
    server.signal("STOP");
    let start = Instant::now();
    let mut longest = Duration::ZERO;
    let mut calls = 0;
    while start.elapsed() < Duration::from_secs(10) {
        for member in &members {
            let called = Instant::now();
            if let Ok(permit) = member.breaker.allow() {
                permit.success();
            }
            longest = longest.max(called.elapsed());
            calls += 1;
        }
        thread::sleep(Duration::from_micros(500));
    }
    println!("{calls} calls while the server stood still, the longest {longest:?}");
    let closed = members.iter().all(|it| it.breaker.state() == State::Closed);
    assert!(closed, "all have closed while it stood still");
    server.signal("CONT");
    until("it goes on", || {
        members.iter().all(|it| it.fleet.health().is_connected)
    });
    trip(&members);
    all_close(&members);
}

#[test]
fn a_server_that_is_restarted_empty_is_told_the_orders_again() {
    let _turn = turn();
    let Some(mut server) = server() else {
        return;
    };
    let members = three(&server.address());
    know_each_other(&members);
    let [first, ..] = &members;
    first
        .fleet
        .order(Some("upstream"), Action::ForceOpen, None, "moved", "ada")
        .unwrap();
    until("all are forced open", || {
        members
            .iter()
            .all(|it| it.breaker.state() == State::ForcedOpen)
    });
    server.kill();
    server.restart();
    until("it is found again", || {
        members.iter().all(|it| it.fleet.health().is_connected)
    });
    assert!(
        members
            .iter()
            .all(|it| it.breaker.state() == State::ForcedOpen)
    );
    until("the order is kept again", || {
        server
            .command(&["EXISTS", "{cutout}:order:upstream"])
            .starts_with(":1")
    });
    drop(members);
    let late = Local::new(&server.address(), "late");
    until("who joins later has it", || {
        late.breaker.state() == State::ForcedOpen
    });
}

#[test]
fn a_server_that_is_full_carries_news_and_each_probes_by_itself() {
    let _turn = turn();
    let Some(server) = server() else {
        return;
    };
    let members = three(&server.address());
    know_each_other(&members);
    server.command(&["CONFIG", "SET", "maxmemory", "1"]);
    assert!(server.command(&["SET", "key", "value"]).starts_with("-OOM"));
    trip(&members);
    all_close(&members);
}

#[test]
fn a_server_that_is_far_away_is_a_server() {
    let _turn = turn();
    let Some(server) = server() else {
        return;
    };
    let far = far_away(server.port(), Duration::from_millis(100));
    let members = three(&format!("redis://127.0.0.1:{far}"));
    trip(&members);
    all_close(&members);
}

/// A port that passes on to another, each way so much later.
fn far_away(to: u16, late: Duration) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let far = TcpStream::connect((Ipv4Addr::LOCALHOST, to)).unwrap();
            for (from, to) in [(&near, &far), (&far, &near)] {
                let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                let (sender, pieces) = std::sync::mpsc::channel::<(Instant, Vec<u8>)>();
                thread::spawn(move || {
                    for (at, piece) in pieces {
                        thread::sleep(at.saturating_duration_since(Instant::now()));
                        if to.write_all(&piece).is_err() {
                            return;
                        }
                    }
                });
                thread::spawn(move || {
                    let mut buffer = vec![0; 65536];
                    while let Ok(length @ 1..) = from.read(&mut buffer) {
                        let piece = buffer[..length].to_vec();
                        if sender.send((Instant::now() + late, piece)).is_err() {
                            return;
                        }
                    }
                });
            }
        }
    });
    port
}

#[test]
fn whatever_is_in_the_keys_is_ignored_and_counted() {
    let _turn = turn();
    let Some(server) = server() else {
        return;
    };
    // Keys of the fleet in which somebody has put something else.
    server.command(&["SET", "{cutout}:probe:upstream", "\u{7f}nonsense"]);
    server.command(&[
        "SADD",
        "{cutout}:orders",
        "{cutout}:order:x",
        "{cutout}:order:y",
        "gone",
    ]);
    server.command(&["SET", "{cutout}:order:x", "not an order"]);
    server.command(&["LPUSH", "{cutout}:order:y", "a list"]);
    let members = three(&server.address());
    know_each_other(&members);
    let key = |member: &Local| member.fleet.health().ignored(Ignored::Key);
    until("the key is counted", || {
        members.iter().all(|it| key(it) >= 1)
    });
    server.command(&["PUBLISH", "{cutout}:news", "any bytes"]);
    let malformed = |member: &Local| member.fleet.health().ignored(Ignored::Malformed);
    until("the news is counted", || {
        members.iter().all(|it| malformed(it) == 1)
    });
    assert!(members.iter().all(|it| it.breaker.state() == State::Closed));
    // What is no lease keeps nobody from probing.
    trip(&members);
    all_close(&members);
}

#[test]
fn a_password_is_needed_where_there_is_one() {
    let _turn = turn();
    let Some(server) = server() else {
        return;
    };
    server.command(&[
        "ACL",
        "SETUSER",
        "fleet",
        "on",
        ">secret",
        "resetkeys",
        "~{cutout}:*",
        "resetchannels",
        "&{cutout}:*",
        "-@all",
        "+hello",
        "+subscribe",
        "+publish",
        "+ping",
        "+set",
        "+get",
        "+del",
        "+pttl",
        "+pexpire",
        "+sadd",
        "+eval",
        "+type",
        "+strlen",
        "+srandmember",
        "+srem",
    ]);
    let with = |user: &str| format!("redis://{user}@127.0.0.1:{}", server.port());
    let members = three(&with("fleet:secret"));
    trip(&members);
    all_close(&members);
    let [first, ..] = &members;
    first
        .fleet
        .order(None, Action::ForceOpen, None, "drill", "ada")
        .unwrap();
    until("the order is kept", || {
        server
            .command(&["EXISTS", "{cutout}:order:"])
            .starts_with(":1")
    });
    let stranger = Local::new(&with("fleet:wrong"), "stranger");
    until("it is told why", || {
        let trouble = stranger.fleet.health().trouble;
        trouble.is_some_and(|trouble| {
            trouble.contains("WRONGPASS") || trouble.contains("uthentication")
        })
    });
    assert!(!stranger.fleet.health().is_connected);
    stranger.breaker.allow().unwrap().success();
}
