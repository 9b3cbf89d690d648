//! A breaker between real clients and an upstream that fails, hangs and recovers.
//!
//! The upstream is an HTTP server on loopback that follows [`SCHEDULE`]. Four
//! client threads call it over real sockets and share one breaker. The terminal
//! shows each transition as it happens; then the same schedule runs once more
//! without a breaker, and a table compares the two. It takes 15 seconds:
//!
//! ```text
//! cargo run --release --example flaky_upstream
//! ```

use std::error::Error;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use cutout::verdict::Verdicts;
use cutout::{Breaker, Cause, ConfigError, Event, OpenWait, Outcome, Rejected};

/// What the upstream does, and for how many milliseconds.
const SCHEDULE: [(Mood, u64); 5] = [
    (Mood::Works, 1000),
    (Mood::Fails, 1500),
    (Mood::Works, 1500),
    (Mood::Hangs, 2000),
    (Mood::Works, 1500),
];
const CLIENTS: u32 = 4;
/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_millis(300);
/// How long a client pauses between two calls.
const PAUSE: Duration = Duration::from_millis(10);
/// How long the upstream works on an answer.
const WORK: Duration = Duration::from_millis(5);

#[derive(Clone, Copy)]
enum Mood {
    /// Answers 200, or 404 for a path that does not exist.
    Works,
    /// Answers 500.
    Fails,
    /// Accepts the request and never answers.
    Hangs,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("With a breaker:");
    let breaker = build_breaker()?;
    let with = run(Some(&breaker))?;

    println!("\nThe same schedule without a breaker:");
    let without = run(None)?;

    print_comparison(&with, &without);
    check_story(&breaker.log(), with[IN_ALL], without[IN_ALL])
}

/// Opens when half of the last 20 calls failed, or a quarter timed out: a call
/// that times out holds its thread for all of [`PATIENCE`], so fewer are borne.
fn build_breaker() -> Result<Breaker, ConfigError> {
    let (base, max) = (Duration::from_millis(200), Duration::from_millis(500));
    Breaker::builder()
        .name("upstream")
        .failure_ratio(0.5)
        .timeout_ratio(0.25)
        .open_wait(OpenWait::exponential(base, 2.0, max))
        .successes_to_close(2)
        .listener(print_transition)
        .log(true)
        .build()
}

/// What one call came to and how long it took, or that it was not made.
type Call = Result<(Outcome, Duration), Rejected>;

/// The whole use of a breaker: ask, call, report.
fn guarded_call(breaker: Option<&Breaker>, upstream: SocketAddr, path: &str) -> Call {
    let permit = breaker.map(Breaker::allow).transpose()?;
    let start = Instant::now();
    let outcome = judge(&get(upstream, path));
    if let Some(permit) = permit {
        permit.done(outcome);
    }
    Ok((outcome, start.elapsed()))
}

/// What an answer says about the upstream's health. The statuses have a table: a 404, say, is an
/// answer of an upstream that works.
fn judge(answer: &io::Result<u16>) -> Outcome {
    match answer.as_ref().map_err(io::Error::kind) {
        Ok(&status) => Verdicts::http().of(status).outcome,
        // Which of the two an elapsed read timeout is depends on the platform.
        Err(ErrorKind::TimedOut | ErrorKind::WouldBlock) => Outcome::Timeout,
        Err(_) => Outcome::Failure,
    }
}

/// One GET on a connection of its own; the answer's status.
fn get(upstream: SocketAddr, path: &str) -> io::Result<u16> {
    let mut stream = TcpStream::connect_timeout(&upstream, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: upstream\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
    status.ok_or_else(|| ErrorKind::InvalidData.into())
}

/// One pass over the schedule; what the calls of each phase came to.
fn run(breaker: Option<&Breaker>) -> io::Result<Tallies> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let upstream = listener.local_addr()?;
    let schedule = Schedule(Instant::now());
    let over = AtomicBool::new(false);
    let (calls, results) = channel();
    thread::scope(|scope| {
        scope.spawn(|| serve(&listener, schedule, &over));
        for _ in 0..CLIENTS {
            let calls = calls.clone();
            scope.spawn(move || client(breaker, upstream, schedule, &calls));
        }
        drop(calls); // the results end when the last client does
        schedule.announce();
        let mut tallies = Tallies::default();
        for (phase, call) in results {
            tallies[phase].count(call);
            tallies[IN_ALL].count(call);
        }

        over.store(true, Ordering::Relaxed);
        TcpStream::connect(upstream)?; // wakes the server, which sees that it is over
        Ok(tallies)
    })
}

/// Calls until the schedule is over; every tenth call asks for what is not there.
fn client(
    breaker: Option<&Breaker>,
    upstream: SocketAddr,
    schedule: Schedule,
    calls: &Sender<(usize, Call)>,
) {
    for n in 1_u32.. {
        let Some(phase) = schedule.phase() else { break };
        let path = if n % 10 == 0 { "/missing" } else { "/" };
        let call = guarded_call(breaker, upstream, path);
        calls.send((phase, call)).expect("the run reads to the end");
        thread::sleep(PAUSE);
    }
}

/// The upstream: a thread per connection.
fn serve(listener: &TcpListener, schedule: Schedule, over: &AtomicBool) {
    thread::scope(|scope| {
        for stream in listener.incoming().map_while(Result::ok) {
            if over.load(Ordering::Relaxed) {
                break;
            }
            // That a client has hung up is no concern of the upstream's.
            scope.spawn(move || drop(answer(&stream, schedule.mood())));
        }
    });
}

fn answer(mut stream: &TcpStream, mood: Mood) -> io::Result<()> {
    let mut head = BufReader::new(stream).lines().map_while(Result::ok);
    let request = head.next().unwrap_or_default();
    head.find(String::is_empty);
    let status = match mood {
        Mood::Works if request.contains(" /missing ") => "404 Not Found",
        Mood::Works => "200 OK",
        Mood::Fails => "500 Internal Server Error",
        // Returns when the client has left.
        Mood::Hangs => return stream.read_to_end(&mut Vec::new()).map(drop),
    };
    thread::sleep(WORK);
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes())
}

/// [`SCHEDULE`], counted from the start of a run.
#[derive(Clone, Copy)]
struct Schedule(Instant);

impl Schedule {
    /// The phase that is on, `None` once the schedule is over.
    fn phase(self) -> Option<usize> {
        (0..SCHEDULE.len()).find(|&phase| self.0.elapsed() < starts(phase + 1))
    }

    /// What the upstream does now; calls under way at the end still find it at work.
    fn mood(self) -> Mood {
        self.phase().map_or(Mood::Works, |phase| SCHEDULE[phase].0)
    }

    /// Says each phase as it begins; returns when the last one is over.
    fn announce(self) {
        for (phase, (mood, _)) in SCHEDULE.into_iter().enumerate() {
            let at = starts(phase).as_secs_f64();
            println!("{at:>6.2} s  the upstream {}", verb(mood));
            thread::sleep(starts(phase + 1).saturating_sub(self.0.elapsed()));
        }
    }
}

/// When a phase starts, counted from the start of the run.
fn starts(phase: usize) -> Duration {
    Duration::from_millis(SCHEDULE[..phase].iter().map(|(_, length)| length).sum())
}

fn verb(mood: Mood) -> &'static str {
    match mood {
        Mood::Works => "works",
        Mood::Fails => "answers 500",
        Mood::Hangs => "hangs",
    }
}

/// A tally per phase, and one of all calls.
type Tallies = [Tally; IN_ALL + 1];
const IN_ALL: usize = SCHEDULE.len();

/// What calls came to.
#[derive(Clone, Copy, Default)]
struct Tally {
    answered: u32,
    failed: u32,
    rejected: u32,
    /// The seconds that threads spent in calls that failed.
    wasted: f64,
}

impl Tally {
    fn count(&mut self, call: Call) {
        match call {
            Ok((outcome, _)) if outcome.is_alive() => self.answered += 1,
            Ok((_, elapsed)) => {
                self.failed += 1;
                self.wasted += elapsed.as_secs_f64();
            }
            Err(_) => self.rejected += 1,
        }
    }
}

/// The breaker's listener: called after the transition, by a thread that made one.
fn print_transition(event: &Event) {
    let (at, counts) = (event.at.as_secs_f64(), event.counts);
    let window = match counts.samples {
        0 => String::new(),
        calls => format!(" ({} of {calls} failed)", counts.failures),
    };
    let (from, to, cause) = (event.from, event.to, event.cause);
    println!("{at:>6.2} s    {from} -> {to}: {cause}{window}");
}

fn print_comparison(with: &Tallies, without: &Tallies) {
    println!("\n{:14}{:37}|  without it", "", "with the breaker");
    println!("the upstream  answered  rejected  failed   waited  |  answered  failed   waited");
    for (n, (mood, _)) in SCHEDULE.into_iter().enumerate() {
        print_row(verb(mood), with[n], without[n]);
    }
    let (with, without) = (with[IN_ALL], without[IN_ALL]);
    print_row("in all", with, without);
    let saved = without.wasted - with.wasted;
    println!("\nSaved: {saved:.2} s that threads would have waited for calls that failed.");
    let lost = without.answered.saturating_sub(with.answered);
    println!("Lost: {lost} answers, rejected before a probe found the upstream well again.");
}

fn print_row(name: &str, with: Tally, without: Tally) {
    print!("{name:12}{:>10}{:>10}", with.answered, with.rejected);
    print!("{:>8}{:>7.2} s  |", with.failed, with.wasted);
    print!("{:>10}{:>8}", without.answered, without.failed);
    println!("{:>7.2} s", without.wasted);
}

/// Whether it went as it should; the error says what did not.
fn check_story(log: &[Event], with: Tally, without: Tally) -> Result<(), Box<dyn Error>> {
    let count = |cause| log.iter().filter(|event| event.cause == cause).count();
    let claims = [
        ("failures open it", count(Cause::FailureRatio) == 1),
        ("timeouts open it", count(Cause::TimeoutRatio) == 1),
        ("it closes twice", count(Cause::ProbesPassed) == 2),
        ("it rejects calls", with.rejected > 0),
        ("fewer calls fail", with.failed < without.failed),
        ("less time is wasted", with.wasted < without.wasted),
    ];
    match claims.into_iter().find(|(_, holds)| !holds) {
        Some((claim, _)) => Err(format!("not as expected: {claim}").into()),
        None => Ok(()),
    }
}
