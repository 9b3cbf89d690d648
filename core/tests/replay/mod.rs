//! Replays in one line: a small notation for what happens to a breaker and
//! what must hold. Each line is replayed on the breaker and on the sequential
//! model, which must agree after every step.
//!
//! ```text
//! H=2 S=2: f +10s a1 a2 s(1) i(2) a3 => admitted s(3) => closed
//! ```
//!
//! | settings | meaning (what is not set before the colon is `W=10 M=1 R=1 O=10s H=1 S=1`) |
//! | --- | --- |
//! | `W=10 M=5` | window of ten outcomes, five needed for a ratio |
//! | `W=10s/5` | window of ten seconds in five buckets |
//! | `HUNG=8s`, `HUNG=slow` | calls in flight count as timeouts after so long, or as slow |
//! | `R=0.5 TR=0.5 C=3 SLOW=1s/0.6` | ratios of failures and timeouts, consecutive failures, slow limit and ratio; each may be `none` |
//! | `O=10s`, `O=10s*2..40s` | open wait: fixed, or base, factor and max |
//! | `J=50` | jitter in percent |
//! | `H=1 S=1 L=5s I=16` | probes at a time, successes to close, lease (or `none`), inconclusive probes |
//! | `G=1*2..4/0.5` | stages: first, growth, until, and the share of failures; or `none` |
//! | `RAMP=10s` | how long a share of the calls is refused after a close; or `none` |
//! | `D=f P=i` | what a dropped permit and one dropped by a panic settle as |
//!
//! | steps | meaning |
//! | --- | --- |
//! | `a1`, `a` | ask for admission; permit 1 is in flight until it is settled, one without a name for ever |
//! | `s(1) f(1) t(1) i(1)` | settle permit 1 as success, failure, timeout, ignored |
//! | `d(1) p(1)` | drop permit 1, or have a panic drop it |
//! | `w(1)` | withdraw permit 1 |
//! | `f`, `f*5` | a call that fails at once; five of them |
//! | `s~3s`, `f@7s` | a call that took 3 s; a failure whose upstream asks for 7 s |
//! | `+5s -5s wall+5s wall-5s` | move the clock, or the wall clock alone |
//! | `force force=5s close disable observe resume` | operator actions |
//! | `peers wait=5s` | others have tripped; others set how long it waits |
//! | `C=3` | reconfigure |
//! | `save restore` | take a snapshot; go on in a new breaker made from it |
//! | `[ … ]*5` | five times over |
//! | `=> closed` | what must hold now: a state, or the last answer, or a count |

use std::collections::BTreeMap;
use std::time::Duration;

use cutout::{
    Clock, Config, ManualClock, OpenWait, Outcome, Overdue, Report, Settled, SlowRule, Snapshot,
    Stages, State, Window,
};

use crate::lockstep::{Held, Lockstep};

/// Replays a line and gives what it came to: every answer, and the state after it.
pub(crate) fn replay(line: &str) -> Vec<String> {
    let (settings, steps) = line.split_once(':').expect("settings: steps");
    let mut config = Config::default().with(|config| {
        config.window = Window::count(10);
        config.min_calls = Some(1);
        config.failure_ratio = Some(1.0);
        config.open_wait = OpenWait::fixed(Duration::from_secs(10));
    });
    for word in settings.split_whitespace() {
        let (key, value) = word.split_once('=').expect("KEY=value");
        set(&mut config, key, value);
    }

    let clock = ManualClock::new();
    clock.set(Duration::from_secs(3_600));
    clock.set_unix_time(Duration::from_secs(1_750_000_000));
    let mut replay = Replay {
        line,
        lockstep: Lockstep::new(config, &clock, true).expect("a legal config"),
        clock,
        config,
        held: BTreeMap::new(),
        saved: None,
        answer: Answer::None,
        trace: Vec::new(),
    };
    let steps: Vec<&str> = steps.split_whitespace().collect();
    replay.steps(&steps);
    replay.trace.clone()
}

/// A replay under way.
struct Replay<'a> {
    line: &'a str,
    clock: ManualClock,
    config: Config,
    lockstep: Lockstep,
    held: BTreeMap<&'a str, Held>,
    saved: Option<Snapshot>,
    answer: Answer,
    trace: Vec<String>,
}

/// What the last step was answered with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    None,
    Admitted,
    Rejected,
    Settled(Settled),
    Refused,
}

impl<'a> Replay<'a> {
    fn steps(&mut self, mut words: &[&'a str]) {
        while let [word, rest @ ..] = words {
            words = match *word {
                "[" => {
                    let (times, inner, rest) = group(rest);
                    for _ in 0..times {
                        self.steps(inner);
                    }
                    rest
                }
                "=>" => {
                    self.expect(rest[0]);
                    &rest[1..]
                }
                word => {
                    self.step(word);
                    self.trace
                        .push(format!("{word}: {:?}, {:?}", self.answer, self.state()));
                    rest
                }
            };
        }
    }

    fn step(&mut self, word: &'a str) {
        let lockstep = &mut self.lockstep;
        self.answer = Answer::None;
        match word {
            "force" => lockstep.force_open(None),
            "close" => lockstep.close(),
            "disable" => lockstep.disable(),
            "observe" => lockstep.observe_only(),
            "resume" => {
                lockstep.resume();
            }
            "peers" => {
                lockstep.take_over();
            }
            "save" => self.saved = Some(lockstep.snapshot()),
            "restore" => {
                let saved = self.saved.as_ref().expect("a saved snapshot");
                self.held.clear();
                self.lockstep = Lockstep::restore(self.config, &self.clock, true, saved).unwrap();
            }
            _ if word.starts_with('+') => lockstep.advance(duration(&word[1..])),
            _ if word.starts_with('-') => {
                let back = duration(&word[1..]).as_nanos() as u64;
                lockstep.set_clock(lockstep.now().saturating_sub(back));
            }
            _ if word.starts_with("wall") => {
                let (wall, by) = (self.clock.unix_time(), duration(&word[5..]));
                let forward = word.starts_with("wall+");
                lockstep.set_wall(if forward { wall + by } else { wall - by });
            }
            _ if word.starts_with('a') => {
                let allowed = lockstep.allow();
                self.answer = match allowed {
                    Ok(permit) => {
                        self.keep(&word[1..], permit);
                        Answer::Admitted
                    }
                    Err(_) => Answer::Rejected,
                }
            }
            _ => match word.split_once('=') {
                Some(("force", how_long)) => lockstep.force_open(Some(duration(how_long))),
                Some(("wait", wait)) => {
                    lockstep.set_wait(duration(wait));
                }
                Some((key, value)) => {
                    let mut config = self.config;
                    set(&mut config, key, value);
                    match lockstep.reconfigure(config) {
                        Ok(()) => self.config = config,
                        Err(_) => self.answer = Answer::Refused,
                    }
                }
                None => self.answer = self.settle(word),
            },
        }
    }

    fn keep(&mut self, label: &'a str, permit: Held) {
        if label.is_empty() {
            self.lockstep.forget(permit);
        } else {
            let replaced = self.held.insert(label, permit);
            assert!(replaced.is_none(), "permit {label} is in flight");
        }
    }

    /// `f`, `f(1)`, `f~3s`, `f@7s`, `f*5`.
    fn settle(&mut self, word: &'a str) -> Answer {
        let (word, times) = split(word, '*');
        let (word, retry_after) = split(word, '@');
        let (word, elapsed) = split(word, '~');
        let (how, label) = match word.split_once('(') {
            Some((how, label)) => (how, label.strip_suffix(')')),
            None => (word, None),
        };
        let lockstep = &mut self.lockstep;
        let mut permit = label.map(|label| self.held.remove(label).expect("a permit"));
        if let "d" | "p" = how {
            let permit = match permit.take() {
                Some(permit) => permit,
                None => match lockstep.allow() {
                    Ok(permit) => permit,
                    Err(_) => return Answer::Rejected,
                },
            };
            return Answer::Settled(match how {
                "d" => lockstep.drop(permit),
                _ => lockstep.panic(permit),
            });
        }

        if how == "w" {
            lockstep.withdraw(permit.expect("a permit by its name"));
            return Answer::None;
        }

        let mut report = Report::from(outcome(how));
        report.elapsed = elapsed.map(duration);
        report.retry_after = retry_after.map(duration);
        match permit {
            Some(permit) => Answer::Settled(lockstep.done(permit, report)),
            None => {
                let times = times.map_or(1, |times| times.parse().expect("a number"));
                match lockstep.calls(times, report).expect("a call") {
                    Ok(settled) => Answer::Settled(settled),
                    Err(_) => Answer::Rejected,
                }
            }
        }
    }

    fn state(&self) -> State {
        self.snapshot().state
    }

    fn snapshot(&self) -> Snapshot {
        self.lockstep.snapshot()
    }

    fn expect(&self, word: &str) {
        let snapshot = self.snapshot();
        let is = |state: State| (format!("{state:?}"), format!("{:?}", snapshot.state));
        let answered = |answer: Answer| (format!("{answer:?}"), format!("{:?}", self.answer));
        let settled = |settled: Settled| answered(Answer::Settled(settled));
        let (expected, found) = match word {
            "closed" => is(State::Closed),
            "open" => is(State::Open),
            "half-open" => is(State::HalfOpen),
            "forced-open" => is(State::ForcedOpen),
            "disabled" => is(State::Disabled),
            "observe-only" => is(State::ObserveOnly),
            "admitted" => answered(Answer::Admitted),
            "rejected" => answered(Answer::Rejected),
            "refused" => answered(Answer::Refused),
            "recorded" => settled(Settled::Recorded),
            "ignored" => settled(Settled::Ignored),
            "tripped" => settled(Settled::Tripped),
            "would-trip" => settled(Settled::WouldTrip),
            "reopened" => settled(Settled::Reopened),
            "overdue" => settled(Settled::Overdue),
            "stale" => settled(Settled::Stale),
            _ => {
                let (what, expected) = word.split_once('=').expect("an expectation");
                let found = match what {
                    "left" => match snapshot.remaining {
                        Some(left) if left == duration(expected) => expected.to_owned(),
                        left => format!("{left:?}"),
                    },
                    "cause" => format!("{:?}", snapshot.cause.expect("a cause")),
                    "attempt" => snapshot.attempt.to_string(),
                    "out" => snapshot.probes_out.to_string(),
                    "stage" => snapshot.stage.to_string(),
                    "ramp" => match snapshot.ramp_left {
                        Some(left) if left == duration(expected) => expected.to_owned(),
                        left => format!("{left:?}"),
                    },
                    "failed" => snapshot.probes_failed.to_string(),
                    "passed" => snapshot.probes_passed.to_string(),
                    "samples" => snapshot.counts().samples.to_string(),
                    "generation" => snapshot.generation.to_string(),
                    "transitions" => self.lockstep.history().len().to_string(),
                    "stale" => self.lockstep.model().stale().to_string(),
                    _ => panic!("unknown expectation {word}"),
                };
                (expected.to_owned(), found)
            }
        };
        assert_eq!(found, expected, "=> {word}");
    }
}

impl Drop for Replay<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let steps = self.trace.join("\n  ");
            eprintln!("replay of `{}` failed after\n  {steps}", self.line);
        }
    }
}

/// `inner ]*5 rest`, taken apart.
fn group<'a, 'b>(words: &'b [&'a str]) -> (u32, &'b [&'a str], &'b [&'a str]) {
    let end = words.iter().position(|word| word.starts_with("]*"));
    let end = end.expect("the end of a group");
    let times = words[end][2..].parse().expect("a number");
    (times, &words[..end], &words[end + 1..])
}

fn split(word: &str, at: char) -> (&str, Option<&str>) {
    match word.split_once(at) {
        Some((word, rest)) => (word, Some(rest)),
        None => (word, None),
    }
}

fn set(config: &mut Config, key: &str, value: &str) {
    let number = || value.parse().expect("a number");
    let ratio = || (value != "none").then(|| value.parse().expect("a ratio"));
    match key {
        "W" => {
            config.window = match value.split_once('/') {
                Some((length, buckets)) => {
                    Window::time(duration(length), buckets.parse().expect("a number"))
                }
                None => Window::count(number()),
            }
        }
        "M" => config.min_calls = Some(number()),
        "R" => config.failure_ratio = ratio(),
        "TR" => config.timeout_ratio = ratio(),
        "SLOW" => {
            config.slow = value.split_once('/').map(|(limit, ratio)| SlowRule {
                limit: duration(limit),
                ratio: ratio.parse().expect("a ratio"),
            });
        }
        "HUNG" => {
            config.overdue = match value {
                "none" => None,
                "slow" => Some(Overdue::Slow),
                limit => Some(Overdue::Timeout(duration(limit))),
            }
        }
        "F" => config.failures = (value != "none").then(number),
        "DA" => config.abandoned_after = (value != "none").then(|| duration(value)),
        "C" => config.consecutive_failures = (value != "none").then(number),
        "O" => config.open_wait = open_wait(value),
        "J" => config.open_wait = config.open_wait.jitter_percent(number()),
        "H" => config.max_probes = number(),
        "S" => config.successes_to_close = number(),
        "G" => config.stages = (value != "none").then(|| stages(value)),
        "RAMP" => config.ramp = (value != "none").then(|| duration(value)),
        "L" => config.probe_lease = (value != "none").then(|| duration(value)),
        "I" => config.max_inconclusive = number(),
        "D" => config.abandoned = outcome(value),
        "P" => config.panicked = outcome(value),
        _ => panic!("unknown setting {key}"),
    }
}

/// `10s`, `10s*2..40s`.
fn open_wait(text: &str) -> OpenWait {
    let (base, growth) = split(text, '*');
    let base = duration(base);
    match growth.and_then(|growth| growth.split_once("..")) {
        Some((factor, max)) => {
            OpenWait::exponential(base, factor.parse().expect("a factor"), duration(max))
        }
        None => OpenWait::fixed(base),
    }
}

/// `1*2..4/0.5`.
fn stages(text: &str) -> Stages {
    let (first, rest) = text.split_once('*').expect("a growth");
    let (growth, rest) = rest.split_once("..").expect("an end");
    let (until, ratio) = rest.split_once('/').expect("a ratio");
    let number = |text: &str| text.parse().expect("a number");
    Stages {
        first: number(first),
        growth: number(growth),
        until: number(until),
        failure_ratio: ratio.parse().expect("a ratio"),
    }
}

fn outcome(letter: &str) -> Outcome {
    match letter {
        "s" => Outcome::Success,
        "f" => Outcome::Failure,
        "t" => Outcome::Timeout,
        "i" => Outcome::Ignored,
        "n" => Outcome::Answered,
        _ => panic!("unknown step {letter}"),
    }
}

fn duration(text: &str) -> Duration {
    if text == "max" {
        return Duration::MAX;
    }
    let unit = text.find(char::is_alphabetic).expect("a unit");
    let number: u64 = text[..unit].parse().expect("a number");
    match &text[unit..] {
        "ns" => Duration::from_nanos(number),
        "us" => Duration::from_micros(number),
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        "min" => Duration::from_secs(number * 60),
        "h" => Duration::from_secs(number * 3_600),
        "d" => Duration::from_secs(number * 86_400),
        "y" => Duration::from_secs(number * 365 * 86_400),
        unit => panic!("unknown unit {unit}"),
    }
}
