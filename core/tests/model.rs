//! Random programs, run on a breaker and on the sequential model: answers,
//! states, windows, and transitions must agree after every step.

mod lockstep;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic;
use std::time::Duration;

use cutout::{
    Cause, Config, Counts, Cusum, HeldScore, Interrupted, Label, ManualClock, OpenWait, Outcome,
    Overdue, Report, Sample, Score, Scores, SlowRule, Snapshot, Stages, State, Window,
};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRunner};

use lockstep::{Held, Lockstep};

const CASES: u32 = 8_000;

#[test]
fn the_breaker_does_what_the_model_does() {
    let config = ProptestConfig {
        cases: CASES,
        // A program that failed is worth a replay of its own in `scenarios.rs`.
        failure_persistence: None,
        // The default, ChaCha, takes most of the time in an unoptimized build.
        rng_algorithm: RngAlgorithm::XorShift,
        ..ProptestConfig::default()
    };
    let seen = RefCell::new(BTreeSet::new());
    // A program that fails panics many times while it shrinks; the error says it once.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let result = TestRunner::new(config).run(&program(), |program| {
        let came_to = run(program);
        seen.borrow_mut().extend(came_to);
        Ok(())
    });
    panic::set_hook(hook);
    if let Err(error) = result {
        panic!("{error}");
    }

    // Programs that never get anywhere would prove little.
    let seen = seen.into_inner();
    for expected in EXPECTED {
        assert!(seen.contains(*expected), "{expected} not seen in {seen:?}");
    }
}

/// What some program must have come to: each transition's cause, each answer.
const EXPECTED: &[&str] = &[
    "ConsecutiveFailures",
    "Failures",
    "FailureRatio",
    "TimeoutRatio",
    "SlowRatio",
    "FailureScore",
    "SlowScore",
    "ProbeFailed",
    "ProbeTimedOut",
    "ProbeSlow",
    "ProbesInconclusive",
    "ProbesPassed",
    "WaitElapsed",
    "LeaseLost",
    "Operator",
    "Peers",
    "Reconfigured",
    "Recorded",
    "Ignored",
    "Tripped",
    "WouldTrip",
    "Reopened",
    "Closed",
    "Overdue",
    "Stale",
    "Rejected by Open",
    "Rejected by HalfOpen",
    "Rejected by Closed",
    "Rejected by ForcedOpen",
    "Resumed Closed",
    "Resumed Open",
    "Resumed HalfOpen",
    "Not resumed Closed",
    "Taken over",
    "Not taken over",
    "Wait set",
    "Wait not set",
    "Refused",
    "Stage 1",
    "Stage 2",
    "Stage 3",
    "Tolerated",
    "Restored Closed",
    "Restored Open",
    "Restored HalfOpen",
    "Restored ForcedOpen",
    "Restored Disabled",
    "Restored ObserveOnly",
];

/// A life of a breaker.
#[derive(Clone, Debug)]
struct Program {
    config: Config,
    /// The clocks' readings when it is built.
    start: Duration,
    wall: Duration,
    log: bool,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    /// Ask for admission and keep the permit.
    Allow,
    /// Settle a kept permit, or end it otherwise.
    Done(prop::sample::Index, Report),
    Drop(prop::sample::Index),
    Panic(prop::sample::Index),
    Forget(prop::sample::Index),
    Withdraw(prop::sample::Index),
    /// So many calls that end at once.
    Calls(u32, Report),
    /// Move the clock: forward, to the next deadline and so many nanoseconds
    /// on, back, or to a reading.
    Advance(Duration),
    ToDeadline(i64),
    /// The same with the next bucket of a time window.
    ToBucket(i64),
    Back(Duration),
    SetClock(Duration),
    SetWall(Duration),
    /// The shortest way to half-open: forced open for a moment, then a probe.
    Probe,
    ForceOpen(Option<Duration>),
    Close,
    Disable,
    ObserveOnly,
    Resume,
    /// Others have tripped; others set how long it waits.
    TakeOver,
    SetWait(Duration),
    Reconfigure(Change),
    /// Take a snapshot; go on in a breaker built from it.
    Save,
    Restart(Forgery, Change),
}

/// A change to a config; what comes out may be illegal.
#[expect(clippy::large_enum_variant, reason = "a program has a few")]
#[derive(Clone, Debug)]
enum Change {
    Nothing,
    All(Config),
    Window(Window),
    MinCalls(u32),
    FailureRatio(Option<f64>),
    Slow(Option<SlowRule>),
    Overdue(Option<Overdue>),
    Consecutive(Option<u32>),
    Failures(Option<u32>),
    AbandonedAfter(Option<Duration>),
    OpenWait(OpenWait),
    Quota(u32, u32, u32),
    Stages(Option<Stages>),
    Lease(Option<Duration>),
    Ramp(Option<Duration>),
}

/// A change to a snapshot that was stored.
#[derive(Clone, Debug)]
enum Forgery {
    None,
    Remaining(Option<Duration>),
    Interrupted(Option<Interrupted>),
    Attempt(u32),
    Generation(u32),
    Cause(Option<Cause>),
    Sample(Sample),
    /// Change the counts of the newest bucket; what comes out may be impossible.
    Counts(Counts),
    Age(Duration),
    Ramp(Option<Duration>),
    State(State),
    /// Change the scores, and the run of failures beside them; what comes out may be impossible.
    Scores(HeldScore, HeldScore, u32),
}

/// Runs a program and tells what was seen on the way.
fn run(program: Program) -> BTreeSet<String> {
    let clock = ManualClock::new();
    clock.set(program.start);
    clock.set_unix_time(program.wall);
    let mut both = Lockstep::new(program.config, &clock, program.log).unwrap();
    let mut held: Vec<Held> = Vec::new();
    let mut saved = None;
    let mut seen = BTreeSet::new();

    for step in program.steps {
        let seen_now = both.snapshot();
        if seen_now.stage > 0 {
            seen.insert(format!("Stage {}", seen_now.stage));
        }
        if seen_now.probes_failed > 0 {
            seen.insert("Tolerated".to_owned());
        }
        let mut pick = |index: prop::sample::Index| {
            (!held.is_empty()).then(|| held.swap_remove(index.index(held.len())))
        };
        match step {
            Step::Allow => match both.allow() {
                Ok(permit) => held.push(permit),
                Err(rejected) => {
                    seen.insert(format!("Rejected by {:?}", rejected.state()));
                }
            },
            Step::Done(index, report) => {
                if let Some(permit) = pick(index) {
                    seen.insert(format!("{:?}", both.done(permit, report)));
                }
            }
            Step::Drop(index) => {
                if let Some(permit) = pick(index) {
                    both.drop(permit);
                }
            }
            Step::Panic(index) => {
                if let Some(permit) = pick(index) {
                    both.panic(permit);
                }
            }
            Step::Forget(index) => {
                if let Some(permit) = pick(index) {
                    both.forget(permit);
                }
            }
            Step::Withdraw(index) => {
                if let Some(permit) = pick(index) {
                    both.withdraw(permit);
                }
            }
            Step::Calls(times, report) => {
                if let Some(Ok(settled)) = both.calls(times, report) {
                    seen.insert(format!("{settled:?}"));
                }
            }
            Step::Advance(by) => both.advance(by),
            Step::ToDeadline(by) => {
                if let Some(deadline) = both.model().deadline() {
                    both.set_clock(deadline.saturating_add_signed(by));
                }
            }
            Step::ToBucket(by) => {
                if let Some(reading) = both.model().next_bucket(both.now()) {
                    both.set_clock(reading.saturating_add_signed(by));
                }
            }
            Step::Back(by) => both.set_clock(both.now().saturating_sub(nanos(by))),
            Step::SetClock(reading) => both.set_clock(nanos(reading)),
            Step::SetWall(since_epoch) => both.set_wall(since_epoch),
            Step::Probe => {
                both.force_open(Some(Duration::from_micros(1)));
                both.advance(Duration::from_micros(2));
                held.extend(both.allow());
            }
            Step::ForceOpen(how_long) => both.force_open(how_long),
            Step::Close => both.close(),
            Step::Disable => both.disable(),
            Step::ObserveOnly => both.observe_only(),
            Step::Resume => {
                let resumed = if both.resume() {
                    "Resumed"
                } else {
                    "Not resumed"
                };
                seen.insert(format!("{resumed} {:?}", both.model().state(both.now())));
            }
            Step::TakeOver => {
                let told = both.take_over();
                seen.insert(if told { "Taken over" } else { "Not taken over" }.to_owned());
            }
            Step::SetWait(wait) => {
                let told = both.set_wait(wait);
                seen.insert(if told { "Wait set" } else { "Wait not set" }.to_owned());
            }
            Step::Reconfigure(change) => {
                let config = change.apply(both.model().config());
                if both.reconfigure(config).is_err() {
                    seen.insert("Refused".to_owned());
                }
            }
            Step::Save => saved = Some(both.snapshot()),
            Step::Restart(forgery, change) => {
                let snapshot = saved.take().unwrap_or_else(|| both.snapshot());
                let snapshot = forgery.apply(snapshot);
                let config = change.apply(both.model().config());
                let restored = Lockstep::restore(config, &clock, program.log, &snapshot);
                if let Ok(restored) = restored {
                    seen.insert(format!("Restored {:?}", snapshot.state));
                    seen.extend(causes(&both));
                    held.clear();
                    both = restored;
                }
            }
        }
    }
    seen.extend(causes(&both));
    seen
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn causes(both: &Lockstep) -> impl Iterator<Item = String> {
    let causes = both.history().iter().map(|event| event.cause);
    causes.map(|cause| format!("{cause:?}"))
}

impl Change {
    fn apply(self, mut config: Config) -> Config {
        match self {
            Self::Nothing => {}
            Self::All(other) => config = other,
            Self::Window(window) => {
                config.window = window;
                if let Window::Cusum(_) = window {
                    (config.failure_ratio, config.timeout_ratio) = (None, None);
                    config.slow = None;
                    (config.min_calls, config.failures) = (None, None);
                }
            }
            Self::MinCalls(calls) => config.min_calls = Some(calls),
            Self::FailureRatio(ratio) => config.failure_ratio = ratio,
            Self::Slow(rule) => config.slow = rule,
            Self::Overdue(overdue) => config.overdue = overdue,
            Self::Consecutive(run) => config.consecutive_failures = run,
            Self::Failures(failures) => config.failures = failures,
            Self::AbandonedAfter(after) => config.abandoned_after = after,
            Self::OpenWait(wait) => config.open_wait = wait,
            Self::Quota(probes, successes, inconclusive) => {
                config.max_probes = probes;
                config.successes_to_close = successes;
                config.max_inconclusive = inconclusive;
            }
            Self::Stages(stages) => config.stages = stages,
            Self::Lease(lease) => config.probe_lease = lease,
            Self::Ramp(ramp) => config.ramp = ramp,
        }
        config
    }
}

impl Forgery {
    fn apply(self, mut snapshot: Snapshot) -> Snapshot {
        match self {
            Self::None => {}
            Self::Remaining(left) => snapshot.remaining = left,
            Self::Interrupted(interrupted) => snapshot.interrupted = interrupted,
            Self::Attempt(attempt) => snapshot.attempt = attempt,
            Self::Generation(generation) => snapshot.generation = generation,
            Self::Cause(cause) => snapshot.cause = cause,
            Self::Sample(sample) => snapshot.samples.push(sample),
            Self::Counts(counts) => {
                if let Some(bucket) = snapshot.buckets.last_mut() {
                    bucket.counts = counts;
                }
            }
            Self::Ramp(left) => snapshot.ramp_left = left,
            Self::Age(age) => {
                if let Some(bucket) = snapshot.buckets.last_mut() {
                    bucket.age = age;
                }
            }
            Self::State(state) => snapshot.state = state,
            Self::Scores(failures, slow, run) => {
                snapshot.scores = Scores { failures, slow };
                snapshot.failures_in_a_row = run;
            }
        }
        snapshot
    }
}

// Programs.

fn program() -> impl Strategy<Value = Program> {
    (
        config(),
        prop_oneof![Just(Duration::ZERO), duration()],
        prop_oneof![Just(Duration::ZERO), duration()],
        any::<bool>(),
        prop::collection::vec(step(), 1..80),
    )
        .prop_map(|(config, start, wall, log, steps)| Program {
            config,
            start,
            wall,
            log,
            steps,
        })
}

fn step() -> BoxedStrategy<Step> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        12 => Just(Step::Allow),
        12 => (index(), report()).prop_map(|(index, report)| Step::Done(index, report)),
        2 => index().prop_map(Step::Drop),
        1 => index().prop_map(Step::Panic),
        2 => index().prop_map(Step::Forget),
        3 => index().prop_map(Step::Withdraw),
        16 => (1u32..8, report()).prop_map(|(times, report)| Step::Calls(times, report)),
        1 => (1u32..300, report()).prop_map(|(times, report)| Step::Calls(times, report)),
        4 => duration().prop_map(Step::Advance),
        10 => deadline_offset().prop_map(Step::ToDeadline),
        8 => deadline_offset().prop_map(Step::ToBucket),
        2 => duration().prop_map(Step::Back),
        1 => duration().prop_map(Step::SetClock),
        1 => duration().prop_map(Step::SetWall),
        2 => Just(Step::Probe),
        1 => prop::option::of(duration()).prop_map(Step::ForceOpen),
        1 => Just(Step::Close),
        1 => Just(Step::Disable),
        1 => Just(Step::ObserveOnly),
        2 => Just(Step::Resume),
        1 => Just(Step::TakeOver),
        2 => duration().prop_map(Step::SetWait),
        3 => change().prop_map(Step::Reconfigure),
        1 => Just(Step::Save),
        1 => (forgery(), change()).prop_map(|(forgery, change)| Step::Restart(forgery, change)),
    ]
    .boxed()
}

fn report() -> BoxedStrategy<Report> {
    let elapsed = prop_oneof![
        4 => Just(None),
        1 => around(SLOW).prop_map(Some),
        1 => Just(Some(Duration::MAX)),
    ];
    let retry_after = prop_oneof![9 => Just(None), 1 => duration().prop_map(Some)];
    let label = prop_oneof![
        9 => Just(None),
        1 => ".{0,80}".prop_map(|text| Some(Label::new(&text))),
    ];
    (outcome(), elapsed, retry_after, label)
        .prop_map(|(outcome, elapsed, retry_after, label)| Report {
            outcome,
            elapsed,
            retry_after,
            label,
        })
        .boxed()
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        4 => Just(Outcome::Success),
        4 => Just(Outcome::Failure),
        2 => Just(Outcome::Timeout),
        2 => Just(Outcome::Ignored),
        2 => Just(Outcome::Answered),
    ]
}

/// The slow limit of most configs.
const SLOW: Duration = Duration::from_millis(10);

fn around(limit: Duration) -> impl Strategy<Value = Duration> {
    let nanosecond = Duration::from_nanos(1);
    prop::sample::select(vec![limit - nanosecond, limit, limit + nanosecond])
}

/// Nanoseconds to a deadline: at it, on either side of it, of its microsecond.
fn deadline_offset() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => Just(0),
        2 => prop::sample::select(vec![-1, 1, -1_000, 1_000, -1_001]),
    ]
}

/// From nothing to for ever, most of it around the waits and leases in use.
fn duration() -> BoxedStrategy<Duration> {
    let second = Duration::from_secs(1);
    prop_oneof![
        1 => prop::sample::select(vec![Duration::ZERO, Duration::from_nanos(1)]),
        2 => (0u64..5_000).prop_map(Duration::from_nanos),
        2 => around(SLOW),
        4 => (1u32..40).prop_map(move |seconds| second * seconds),
        1 => any::<u64>().prop_map(Duration::from_nanos),
        1 => prop::sample::select(vec![
            Duration::from_nanos(u64::MAX),
            Duration::MAX,
        ]),
    ]
    .boxed()
}

fn positive_duration() -> impl Strategy<Value = Duration> {
    duration().prop_map(|duration| duration.max(Duration::from_nanos(1)))
}

fn config() -> BoxedStrategy<Config> {
    let quotas = [quota(), quota(), quota()];
    let too_long = prop::option::weighted(0.3, positive_duration());
    let policies = ([outcome(), outcome()], too_long, stages(), ramp());
    (rules(), open_wait(), quotas, lease(), policies)
        .prop_map(
            |(rules, open_wait, quotas, probe_lease, (policies, too_long, stages, ramp))| {
                rules.with(|config| {
                    config.open_wait = open_wait;
                    config.max_probes = quotas[0];
                    config.successes_to_close = quotas[1];
                    config.max_inconclusive = quotas[2];
                    config.stages = stages;
                    config.probe_lease = probe_lease;
                    config.ramp = ramp;
                    config.abandoned = policies[0];
                    config.abandoned_after = too_long;
                    config.panicked = policies[1];
                })
            },
        )
        .boxed()
}

fn ramp() -> impl Strategy<Value = Option<Duration>> {
    prop::option::weighted(0.4, positive_duration())
}

/// A config by its window and rules, of which it has at least one.
fn rules() -> impl Strategy<Value = Config> {
    let up_to_size = any::<[prop::sample::Index; 3]>();
    (
        window(),
        1u8..32,
        0u8..6,
        up_to_size,
        [ratio(), ratio()],
        (slow(), overdue()),
    )
        .prop_map(
            |(window, rules, min_calls, up_to_size, ratios, (slow, overdue))| {
                let size = match window {
                    Window::Count(size) => size,
                    _ => 12,
                };
                let [any_calls, run, failures] =
                    up_to_size.map(|index| 1 + index.index(size as usize) as u32);
                let has = |rule: u8| rules & rule != 0;
                if let Window::Cusum(cusum) = window {
                    let is_timed = cusum.slow.is_some();
                    return Config::cusum(cusum).with(|config| {
                        config.overdue =
                            overdue.filter(|overdue| *overdue != Overdue::Slow || is_timed);
                        config.consecutive_failures = has(8).then_some(run);
                    });
                }
                Config::default().with(|config| {
                    config.window = window;
                    config.min_calls = match min_calls {
                        0 | 1 => Some(1),
                        2 => Some(size),
                        3 => None,
                        _ => Some(any_calls),
                    };
                    config.failure_ratio = has(1).then_some(ratios[0]);
                    config.timeout_ratio = has(2).then_some(ratios[1]);
                    config.slow = has(4).then_some(slow);
                    config.overdue = overdue.filter(|overdue| *overdue != Overdue::Slow || has(4));
                    config.consecutive_failures = has(8).then_some(run);
                    config.failures = has(16).then_some(failures);
                })
            },
        )
}

fn window() -> BoxedStrategy<Window> {
    let size = prop_oneof![
        60 => 1u32..=12,
        // As many as fit beside the word, and one more.
        2 => prop::sample::select(vec![119, 120, 121]),
        2 => 13u32..300,
        1 => Just(Window::MAX_COUNT),
    ];
    let length = prop_oneof![
        8 => (1u64..=12).prop_map(|tens| Duration::from_secs(tens * 5)),
        // Not a whole number of nanoseconds to a bucket.
        1 => Just(Window::MIN_LENGTH + Duration::from_nanos(1)),
        1 => Just(Window::MIN_LENGTH),
        1 => Just(Duration::from_secs(86_400 * 365)),
        1 => Just(Duration::MAX),
    ];
    let buckets = prop_oneof![6 => 1u32..=10, 1 => Just(16), 1 => Just(17), 1 => Just(60)];
    prop_oneof![
        2 => size.prop_map(Window::count),
        1 => (length, buckets).prop_map(|(length, buckets)| Window::time(length, buckets)),
        1 => cusum().prop_map(Window::Cusum),
    ]
    .boxed()
}

/// Scores that a program of some outcomes takes to their limits, and times that it can wait for.
fn cusum() -> BoxedStrategy<Cusum> {
    let score = || {
        (1u16..=12, 1u16..=4, 0u16..=30).prop_map(|(bad, good, more)| Score {
            bad,
            good,
            limit: bad + more,
        })
    };
    let limit = prop_oneof![3 => Just(SLOW), 1 => positive_duration()];
    let slow = (limit, score());
    let lasting = prop_oneof![
        3 => Just(0u64),
        3 => Just(500),
        1 => 1u64..=20_000,
    ];
    let age = prop::option::of(prop_oneof![
        1 => Just(1u64),
        3 => 1u64..=20_000,
        1 => Just(60_000),
    ]);
    let head_start = prop::sample::select(vec![0, 0, 50, 99]);
    (1u8..4, score(), slow, lasting, age, head_start)
        .prop_map(|(which, score, (limit, slow), lasting, age, head_start)| {
            let mut cusum = Cusum::of_failures(score)
                .lasting(Duration::from_millis(lasting))
                .max_age(age.map(|more| Duration::from_millis(lasting + more)))
                .head_start_percent(head_start);
            if which & 1 == 0 {
                cusum.failures = None;
            }
            if which & 2 != 0 {
                cusum = cusum.and_slow(limit, slow);
            }
            cusum
        })
        .boxed()
}

fn ratio() -> impl Strategy<Value = f64> {
    let thirds = [1.0 / 3.0, 2.0 / 3.0];
    prop_oneof![
        prop::sample::select(vec![0.01, 0.2, thirds[0], 0.5, 0.57, thirds[1], 1.0]),
        (1u32..=12, 1u32..=12).prop_map(|(some, all)| f64::from(some.min(all)) / f64::from(all)),
    ]
}

fn slow() -> BoxedStrategy<SlowRule> {
    let limit = prop_oneof![3 => Just(SLOW), 1 => positive_duration()];
    (limit, ratio())
        .prop_map(|(limit, ratio)| SlowRule { limit, ratio })
        .boxed()
}

fn overdue() -> BoxedStrategy<Option<Overdue>> {
    let limit =
        prop_oneof![3 => (1u64..=20).prop_map(Duration::from_secs), 1 => positive_duration()];
    prop_oneof![
        4 => Just(None),
        1 => Just(Some(Overdue::Slow)),
        2 => limit.prop_map(|limit| Some(Overdue::Timeout(limit))),
    ]
    .boxed()
}

fn open_wait() -> BoxedStrategy<OpenWait> {
    let factor = prop::sample::select(vec![1.0, 1.1, 1.5, 2.0, 10.0, 1e300]);
    let jitter = prop::sample::select(vec![0, 0, 1, 50, 100]);
    (positive_duration(), factor, positive_duration(), jitter)
        .prop_map(|(base, factor, max, jitter)| {
            OpenWait::exponential(base, factor, max.max(base)).jitter_percent(jitter)
        })
        .boxed()
}

fn quota() -> impl Strategy<Value = u32> {
    prop_oneof![3 => Just(1), 6 => 1u32..=4, 1 => Just(255)]
}

/// Stages that a program of some outcomes comes through, and some that it does not.
fn stages() -> BoxedStrategy<Option<Stages>> {
    let until = prop_oneof![6 => 1u32..=8, 1 => Just(64), 1 => Just(128)];
    let few = (any::<prop::sample::Index>(), 2u32..=4, until, ratio());
    let few = few.prop_map(|(first, growth, until, failure_ratio)| Stages {
        first: if until == 128 {
            1
        } else {
            1 + first.index(until as usize) as u32
        },
        growth,
        until,
        failure_ratio,
    });
    prop_oneof![2 => Just(None), 1 => few.prop_map(Some)].boxed()
}

fn lease() -> impl Strategy<Value = Option<Duration>> {
    prop_oneof![1 => Just(None), 4 => positive_duration().prop_map(Some)]
}

fn change() -> BoxedStrategy<Change> {
    let run = prop_oneof![Just(0), 1u32..=12];
    let illegal = (0u32..=130, 0u32..=130, 0u32..=130, ratio()).prop_map(
        |(first, growth, until, failure_ratio)| {
            Some(Stages {
                first,
                growth,
                until,
                failure_ratio,
            })
        },
    );
    let any_ratio = prop_oneof![8 => ratio(), 1 => Just(f64::NAN), 1 => Just(0.0)];
    prop_oneof![
        4 => Just(Change::Nothing),
        1 => config().prop_map(Change::All),
        2 => prop_oneof![8 => window(), 1 => Just(Window::count(0))].prop_map(Change::Window),
        1 => (1u32..=12).prop_map(Change::MinCalls),
        2 => prop::option::of(any_ratio).prop_map(Change::FailureRatio),
        1 => prop::option::of(slow()).prop_map(Change::Slow),
        1 => overdue().prop_map(Change::Overdue),
        1 => prop::option::of(run.clone()).prop_map(Change::Consecutive),
        1 => prop::option::of(run).prop_map(Change::Failures),
        1 => prop::option::of(positive_duration()).prop_map(Change::AbandonedAfter),
        1 => open_wait().prop_map(Change::OpenWait),
        2 => (quota(), quota(), quota()).prop_map(|(one, two, three)| Change::Quota(one, two, three)),
        2 => prop_oneof![3 => stages(), 1 => illegal].prop_map(Change::Stages),
        2 => lease().prop_map(Change::Lease),
        2 => prop_oneof![8 => ramp(), 1 => Just(Some(Duration::ZERO))].prop_map(Change::Ramp),
    ]
    .boxed()
}

fn held() -> impl Strategy<Value = HeldScore> {
    let value = prop_oneof![6 => 0u32..40, 1 => Just(70_000)];
    let age = || prop::option::of(duration());
    (value, age(), age()).prop_map(|(value, above_zero, raised)| HeldScore {
        value,
        above_zero,
        raised,
    })
}

fn forgery() -> BoxedStrategy<Forgery> {
    let cause = prop::sample::select(vec![
        Cause::TimeoutRatio,
        Cause::ProbeFailed,
        Cause::ProbesInconclusive,
        Cause::ProbesPassed,
        Cause::WaitElapsed,
        Cause::LeaseLost,
        Cause::Operator,
        Cause::Reconfigured,
    ]);
    let state = prop::sample::select(vec![
        State::Closed,
        State::Open,
        State::HalfOpen,
        State::ForcedOpen,
        State::Disabled,
        State::ObserveOnly,
    ]);
    let interrupted = (
        state.clone(),
        prop::option::of(cause.clone()),
        prop::option::of(duration()),
    );
    let interrupted = interrupted.prop_map(|(state, cause, remaining)| Interrupted {
        state,
        cause,
        remaining,
    });
    let sample = (outcome(), any::<bool>()).prop_map(|(outcome, slow)| Sample { outcome, slow });
    let counts = [0u32..9, 0u32..9, 0u32..9, 0u32..9];
    let counts = counts.prop_map(|[samples, failures, timeouts, slow]| Counts {
        samples,
        failures,
        timeouts,
        slow,
    });
    prop_oneof![
        6 => Just(Forgery::None),
        1 => prop::option::of(duration()).prop_map(Forgery::Remaining),
        1 => prop::option::of(interrupted).prop_map(Forgery::Interrupted),
        1 => prop_oneof![0u32..5, Just(u32::MAX)].prop_map(Forgery::Attempt),
        1 => prop::sample::select(vec![(1 << 22) - 2, 1 << 22, u32::MAX]).prop_map(Forgery::Generation),
        1 => prop::option::of(cause).prop_map(Forgery::Cause),
        1 => sample.prop_map(Forgery::Sample),
        1 => counts.prop_map(Forgery::Counts),
        1 => duration().prop_map(Forgery::Age),
        1 => prop::option::of(duration()).prop_map(Forgery::Ramp),
        2 => state.prop_map(Forgery::State),
        2 => (held(), held(), 0u32..300).prop_map(|(failures, slow, run)| Forgery::Scores(failures, slow, run)),
    ]
    .boxed()
}
