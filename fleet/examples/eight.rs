//! Eight processes before one upstream that dies and comes back, once each by itself and once as a fleet.
//!
//! `cargo run --release -p cutout-fleet --example eight -- redis://127.0.0.1:6379`; without an address it starts a
//! `redis-server` if one is installed, and else has the eight in one process on the in-process bus.

#[path = "eight/member.rs"]
mod member;
#[path = "eight/server.rs"]
mod server;
#[path = "eight/upstream.rs"]
mod upstream;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use cutout_fleet::{Fleet, InProcess};
use member::{Member, Report};
use server::Server;
use upstream::Upstream;

const MEMBERS: usize = 8;
/// How long the upstream lives, is dead, and lives again.
const STAGES: [Duration; 3] = [
    Duration::from_secs(2),
    Duration::from_secs(20),
    Duration::from_secs(4),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, index, upstream, bus] = arguments.as_slice()
        && role == "member"
    {
        let fleet = (bus != "none").then(|| {
            let builder = Fleet::builder().member(format!("member {index}"));
            let builder = builder.settings(member::settings()).prefix("eight");
            builder.connect(bus).expect("an address")
        });
        let report = Member::new(fleet, upstream.parse().expect("an address")).run(total());
        println!("{report}");
        return;
    }
    let (address, _server) = match arguments.first() {
        Some(address) => (Some(address.clone()), None),
        None => match Server::start() {
            Some(server) => (Some(server.address()), Some(server)),
            None => (None, None),
        },
    };
    match &address {
        Some(address) => println!("eight processes, on {address}"),
        None => println!(
            "no redis-server is installed: eight members of one process, on the in-process bus"
        ),
    }
    let alone = run(None, false);
    let together = run(address.as_deref(), true);
    let row = |what: &str, of: fn(&[Report]) -> String| {
        println!("{what:<64} {:>10} {:>10}", of(&alone), of(&together));
    };
    println!("{:<64} {:>10} {:>10}", "", "alone", "fleet");
    row("calls that reached the dead upstream", |all| {
        sum(all, |it| it.failed)
    });
    row("of these, probes", |all| sum(all, |it| it.probes));
    row(
        "members that opened by what they have seen themselves",
        |all| sum(all, |it| it.trips),
    );
    row("members that took over what others had found", |all| {
        sum(all, |it| it.takeovers)
    });
    row(
        "milliseconds from the second member's trip to the last opening",
        |all| {
            let mut opened: Vec<_> = all.iter().filter_map(|it| it.opened).collect();
            opened.sort_unstable();
            match opened.as_slice() {
                [_, second, .., last] => format!("{}", (last - second) / 1000),
                _ => "-".to_owned(),
            }
        },
    );
    row(
        "milliseconds from the upstream's return to the last closing",
        |all| {
            let closed = all.iter().filter_map(|it| it.closed).max();
            let returned = micros(STAGES[0] + STAGES[1]);
            closed.map_or("-".to_owned(), |closed| {
                format!("{}", closed.saturating_sub(returned) / 1000)
            })
        },
    );
}

fn total() -> Duration {
    STAGES.iter().sum()
}

fn micros(duration: Duration) -> u64 {
    duration.as_micros() as u64
}

fn sum(all: &[Report], of: fn(&Report) -> u64) -> String {
    all.iter().map(of).sum::<u64>().to_string()
}

/// Eight members before an upstream that dies and comes back.
fn run(bus: Option<&str>, is_fleet: bool) -> Vec<Report> {
    let upstream = Upstream::start();
    let address = upstream.address();
    // The upstream goes by the members' time: all start when it does.
    let stages = thread::spawn(move || {
        thread::sleep(STAGES[0]);
        upstream.set_alive(false);
        thread::sleep(STAGES[1]);
        upstream.set_alive(true);
        thread::sleep(STAGES[2]);
    });
    let reports = match (bus, is_fleet) {
        (None, true) => {
            let bus = InProcess::new();
            let member = |index| {
                let fleet = Fleet::builder().member(format!("member {index}"));
                let fleet = fleet
                    .settings(member::settings())
                    .start(bus.clone())
                    .expect("a member");
                thread::spawn(move || Member::new(Some(fleet), address).run(total()))
            };
            let members: Vec<_> = (0..MEMBERS).map(member).collect();
            members
                .into_iter()
                .map(|member| member.join().expect("a report"))
                .collect()
        }
        _ => {
            let bus = bus.filter(|_| is_fleet).unwrap_or("none");
            let processes: Vec<_> = (0..MEMBERS)
                .map(|index| process(index, address, bus))
                .collect();
            processes.into_iter().map(report).collect()
        }
    };
    stages.join().expect("the upstream");
    reports
}

fn process(index: usize, upstream: std::net::SocketAddr, bus: &str) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["member", &index.to_string(), &upstream.to_string(), bus])
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process")
}

fn report(mut process: Child) -> Report {
    let output = process.stdout.take().expect("its output");
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    let report = lines.last().expect("a report");
    process.wait().expect("its end");
    report.parse().expect("a report")
}
