//! One of the eight: it makes a thousand calls a second, and counts.

use std::fmt;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use cutout::{Breaker, Cause, Event, OpenWait, State};
use cutout_fleet::{Fleet, Settings};

/// What a member has counted; times in microseconds since it started.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Report {
    pub(crate) calls: u64,
    pub(crate) failed: u64,
    pub(crate) probes: u64,
    pub(crate) trips: u64,
    pub(crate) takeovers: u64,
    pub(crate) opened: Option<u64>,
    pub(crate) closed: Option<u64>,
    /// How often a wait was over and it probed.
    pub(crate) waits: u64,
}

/// How long a breaker waits; the rest of its config is the default: ten calls, half of them failed.
pub(crate) const WAIT: Duration = Duration::from_millis(500);

pub(crate) fn settings() -> Settings {
    Settings::default().with(|settings| {
        settings.heartbeat = Duration::from_millis(500);
        settings.lease = Duration::from_millis(1500);
        settings.lead = Duration::from_millis(250);
        settings.patience = Duration::from_millis(500);
    })
}

pub(crate) struct Member {
    breaker: Arc<Breaker>,
    upstream: SocketAddr,
    events: Arc<Mutex<Vec<(u64, Event)>>>,
    started: Instant,
    // Dropped with the member.
    _fleet: Option<Fleet>,
}

impl Member {
    pub(crate) fn new(fleet: Option<Fleet>, upstream: SocketAddr) -> Self {
        let (events, started) = (Arc::<Mutex<Vec<_>>>::default(), Instant::now());
        let heard = Arc::clone(&events);
        let builder = Breaker::builder()
            .name("upstream")
            .open_wait(OpenWait::fixed(WAIT).jitter_percent(20))
            .listener(move |event| {
                let at = started.elapsed().as_micros() as u64;
                heard.lock().unwrap().push((at, event.clone()));
            });
        let breaker = match &fleet {
            Some(fleet) => fleet.guard(builder).expect("a breaker"),
            None => Arc::new(builder.build().expect("a breaker")),
        };
        Self {
            breaker,
            upstream,
            events,
            started,
            _fleet: fleet,
        }
    }

    /// Calls, for so long.
    pub(crate) fn run(self, total: Duration) -> Report {
        let mut report = Report::default();
        let mut stream = TcpStream::connect(self.upstream).expect("the upstream");
        stream.set_nodelay(true).expect("a socket");
        let mut call = || {
            let mut answer = [0];
            let sent = stream
                .write_all(b"?")
                .and_then(|()| stream.read_exact(&mut answer));
            sent.is_ok() && answer == *b"+"
        };
        let pace = Duration::from_millis(1);
        let mut next = self.started;
        while self.started.elapsed() < total {
            report.calls += 1;
            if let Ok(permit) = self.breaker.allow() {
                let is_probe = permit.is_probe();
                if call() {
                    permit.success();
                } else {
                    report.failed += 1;
                    report.probes += u64::from(is_probe);
                    permit.failure();
                }
            }
            next += pace;
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        for (at, event) in self.events.lock().unwrap().iter() {
            match (event.from, event.to, event.cause) {
                (State::Closed, State::Open, cause) => {
                    report.opened.get_or_insert(*at);
                    let taken_over = cause == Cause::Peers;
                    report.takeovers += u64::from(taken_over);
                    report.trips += u64::from(!taken_over);
                }
                (_, State::Closed, _) => report.closed = Some(*at),
                (State::Open, State::HalfOpen, _) => report.waits += 1,
                _ => {}
            }
        }
        report
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |at: Option<u64>| at.map_or("-".to_owned(), |at| at.to_string());
        let numbers = [
            self.calls,
            self.failed,
            self.probes,
            self.trips,
            self.takeovers,
            self.waits,
        ];
        for number in numbers {
            write!(f, "{number} ")?;
        }
        write!(f, "{} {}", time(self.opened), time(self.closed))
    }
}

impl FromStr for Report {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [
            calls,
            failed,
            probes,
            trips,
            takeovers,
            waits,
            opened,
            closed,
        ] = words.as_slice()
        else {
            return Err(format!("no report: {line}"));
        };
        let number = |word: &str| word.parse().map_err(|_| format!("no number: {word}"));
        Ok(Self {
            calls: number(calls)?,
            failed: number(failed)?,
            probes: number(probes)?,
            trips: number(trips)?,
            takeovers: number(takeovers)?,
            waits: number(waits)?,
            opened: number(opened).ok(),
            closed: number(closed).ok(),
        })
    }
}
