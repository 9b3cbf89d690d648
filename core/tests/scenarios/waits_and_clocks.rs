//! Waits, and clocks that misbehave.

use super::*;

replays! {
    an_endless_wait_never_ends:
        "O=max: f => open => left=max +100y => open a => rejected => left=max +500y => open";
    an_endless_lease_never_ends:
        "L=max: f +10s a1 +500y a => rejected s(1) => closed";
    an_endless_forced_opening_never_ends:
        "R=1: force=max +500y => forced-open a => rejected close => closed";
    waits_grow_up_to_the_longest_and_start_over_after_a_close:
        "O=10s*2..40s: f => left=10s +10s f => left=20s +20s f => left=40s +40s f => left=40s +40s s => closed f => left=10s";
    a_wait_ends_to_the_nanosecond:
        "O=10s: f +9999999999ns a => rejected => left=1ns +1ns a => admitted";
    a_fixed_wait_does_not_grow:
        "O=10s: f [ => left=10s +10s f ]*20";
    a_wait_may_grow_by_a_fraction:
        "O=8s*1.5..30s: f => left=8s +8s f => left=12s +12s f => left=18s +18s f => left=27s +27s f => left=30s";
    a_factor_of_one_does_not_grow:
        "O=7s*1..30s: f [ => left=7s +7s f ]*20";
    growth_saturates:
        "O=1s*1e8..max: f +1s f => left=100000000s +100000000s f => left=max => attempt=2 +500y => open";
    a_huge_factor_saturates:
        "O=1ns*1e300..1h: f +1s f => left=1h +1h f => left=1h";
    a_wait_of_many_years_ends:
        "O=36y: f +36y => half-open O=400y a1 f(1) => open => left=400y +400y => half-open";
    a_forced_opening_of_many_years_ends:
        "R=1: force=100y +100y => half-open";
    a_lease_of_many_years_ends:
        "L=100y: f +10s a1 +100y => half-open a => admitted";
    the_end_of_a_wait_of_minutes_is_rounded_up_to_a_millisecond:
        "O=4min: +1us f => left=4min O=5min +4min f => left=300000999us";
    the_longest_waits_of_each_grain_end_when_they_should:
        "O=268435454us: +1us f => left=268435454us O=268435455us +268435454us f => left=268435545us O=268435454ms +268435545us f => left=268435454ms";
    a_lease_ends_within_139_years_or_never:
        "O=10s L=4398046501102ms: f +10s a => admitted +4398046501102ms a => admitted L=4398046511103ms force=1ns +1ms a => admitted +400y a => rejected";
    the_upstream_may_ask_for_a_longer_wait_and_not_for_a_shorter_one:
        "O=10s: f@99s => left=99s +99s f@3s => left=10s +10s f@0s => left=10s a => rejected";
    what_the_upstream_asks_for_is_compared_with_the_wait_as_it_has_grown:
        "O=10s*2..80s: f +10s f@19s => left=20s +20s f@41s => left=41s +41s f@0s => left=80s +80s f@99s => left=99s";
    jitter_does_not_shorten_what_the_upstream_asks_for:
        "O=10s J=100: f@10s => left=10s +10s f@11s => left=11s";
    an_endless_retry_after_never_ends:
        "O=10s: f@max => left=max +500y => open";
    the_growth_of_the_wait_outlasts_a_forced_opening:
        "O=10s*2..1h: f +10s f +20s f +40s f => left=80s => attempt=3 force=5s => attempt=3 +5s f => left=160s => attempt=4";
    a_close_starts_the_growth_over:
        "O=10s*2..1h: f +10s f +20s f => attempt=2 force=5s close => attempt=0 f => left=10s";
    an_action_by_an_operator_starts_the_wait_over:
        "O=10s: f +9s force close f => left=10s +9999ms => open +1ms => half-open";
    a_forced_opening_ends_half_open:
        "R=1: force=5s a => rejected => left=5s +5s => half-open a => admitted s => rejected";
    an_endless_forced_opening_needs_an_operator:
        "R=1: force +30y a => rejected => forced-open close a => admitted";
    a_clock_that_stands_still_does_not_stop_the_rules:
        "M=10 R=0.5: s*5 f*5 => open";
    a_clock_that_steps_back_does_not_stop_the_rules:
        "M=4 R=0.5: +1h s f -60s s => closed -60s f => open -60s => open";
    a_wait_ends_when_a_clock_that_stepped_back_has_caught_up:
        "O=10s: +1h f -60s => open +60s => open +10s => half-open";
    a_wait_begun_after_a_step_back_is_no_longer:
        "O=10s C=1: s +60s -30s f => left=10s +10s => half-open";
    a_clock_that_steps_back_makes_no_call_slow:
        "R=1 SLOW=1s/1: +2min a1 -60s s(1) => recorded";
    a_clock_before_the_start_is_the_start:
        "O=10s: -1h -1h f => left=10s +1h +10s => half-open";
    a_lease_ends_with_its_generation_however_many_follow:
        "L=none: f +10s a1 L=5s [ close ]*16382 f +10s a2 => generation=16386 +5s a => admitted";
    reading_changes_nothing:
        "O=10s: f +10s [ +0s => half-open ]*100 => transitions=1 => generation=1";
}

/// A clock that counts how often it is read: a microsecond each time.
#[derive(Default)]
struct Counted(AtomicU64);

impl Clock for &Counted {
    fn now(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) * 1_000
    }
}

impl Counted {
    fn reads<T>(&self, call: impl FnOnce() -> T) -> (u64, T) {
        let before = self.0.load(Ordering::Relaxed);
        let value = call();
        (self.0.load(Ordering::Relaxed) - before, value)
    }
}

#[test]
fn a_closed_breaker_without_a_slow_rule_reads_no_clock() {
    let clock = Counted::default();
    let breaker = Breaker::builder().clock(&clock).build().unwrap();
    let calls = || {
        for _ in 0..100 {
            breaker.allow().unwrap().success();
            breaker.allow().unwrap().success();
            breaker.allow().unwrap().failure();
            drop(breaker.allow().unwrap());
        }
        assert_eq!(breaker.state(), State::Closed);
    };
    assert_eq!(clock.reads(calls).0, 0);
}

#[test]
fn no_call_reads_the_clock_twice() {
    let clock = Counted::default();
    let breaker = Breaker::builder()
        .window(Window::count(5))
        .min_calls(3)
        .slow(SlowRule {
            limit: Duration::from_micros(3),
            ratio: 0.9,
        })
        .open_wait(OpenWait::fixed(Duration::from_micros(20)))
        .probe_lease(Duration::from_micros(20))
        .max_probes(2)
        .listener(|_| ())
        .clock(&clock)
        .build()
        .unwrap();
    let mut most = 0;
    for call in 0..10_000 {
        let (reads, allowed) = clock.reads(|| breaker.allow());
        most = most.max(reads);
        let Ok(permit) = allowed else { continue };
        let (reads, _) = match call % 11 {
            0..4 => clock.reads(|| permit.failure()),
            4..10 => clock.reads(|| permit.success()),
            _ => {
                std::mem::forget(permit);
                continue;
            }
        };
        most = most.max(reads);
    }
    assert_eq!(most, 1);
    assert!(breaker.generation() > 100, "all states were seen");
}

#[test]
fn a_million_reopenings_saturate() {
    let clock = ManualClock::new();
    let endless = OpenWait::exponential(Duration::from_secs(1), 10.0, Duration::MAX);
    let breaker = Breaker::builder()
        .consecutive_failures(1)
        .open_wait(endless)
        .clock(clock.clone())
        .build()
        .unwrap();
    let short = breaker
        .config()
        .with(|config| config.open_wait = OpenWait::fixed(Duration::from_micros(1)));
    let growing = breaker.config();
    breaker.reconfigure(short).unwrap();
    breaker.allow().unwrap().failure();
    for _ in 0..1_000_000 {
        clock.advance(Duration::from_micros(1));
        assert_eq!(breaker.allow().unwrap().failure(), Settled::Reopened);
    }
    breaker.reconfigure(growing).unwrap();
    clock.advance(Duration::from_micros(1));
    breaker.allow().unwrap().failure();
    assert_eq!(breaker.snapshot().attempt, 127);
    let rejected = breaker.allow().unwrap_err();
    assert_eq!(rejected.retry_after(), Some(Duration::MAX));
    clock.advance(Duration::MAX);
    assert_eq!(breaker.state(), State::Open);
}

/// The waits of so many breakers, each of which trips once at the same reading of its clock.
fn first_waits(breakers: u64, wait: OpenWait, seed: impl Fn(u64) -> Option<u64>) -> Vec<Duration> {
    let waits = (0..breakers).map(|number| {
        let mut builder = Breaker::builder()
            .consecutive_failures(1)
            .open_wait(wait)
            .clock(ManualClock::new());
        if let Some(seed) = seed(number) {
            builder = builder.jitter_seed(seed);
        }
        let breaker = builder.build().unwrap();
        breaker.allow().unwrap().failure();
        breaker.snapshot().remaining.unwrap()
    });
    waits.collect()
}

#[test]
fn breakers_built_together_draw_their_jitter_independently() {
    let wait = OpenWait::fixed(Duration::from_secs(100)).jitter_percent(100);
    let mut tenths = BTreeMap::new();
    for wait in first_waits(1000, wait, |_| None) {
        *tenths.entry(wait.as_millis() / 100).or_insert(0) += 1;
    }
    // Of a thousand draws from a thousand values 632 differ on average.
    assert!(tenths.len() > 500, "{} different waits", tenths.len());
    let most = tenths.values().max().unwrap();
    assert!(*most < 12, "{most} breakers wait alike");
}

#[test]
fn breakers_of_one_jitter_seed_draw_the_same_waits() {
    let wait = OpenWait::fixed(Duration::from_secs(100)).jitter_percent(100);
    let same = first_waits(10, wait, |_| Some(42));
    assert!(same.iter().all(|wait| *wait == same[0]), "{same:?}");
    assert_ne!(first_waits(1, wait, |_| Some(43))[0], same[0]);
}

#[test]
fn jitter_shortens_a_wait_by_at_most_its_percentage() {
    let wait = OpenWait::fixed(Duration::from_secs(10)).jitter_percent(40);
    let mut waits = first_waits(200, wait, Some);
    waits.sort();
    assert!(waits[0] >= Duration::from_secs(6), "{:?}", waits[0]);
    assert!(waits[199] <= Duration::from_secs(10) + Duration::from_micros(1));
    assert!(waits[20] < Duration::from_secs(7), "spread out evenly");
    assert!(waits[180] > Duration::from_secs(9), "spread out evenly");
    waits.dedup();
    assert!(waits.len() > 190, "no two breakers wait alike");
}

/// A clock whose recent readings are as old as they may be, and which counts those of the other kind.
#[derive(Clone)]
struct Lagging {
    clock: ManualClock,
    reads: Arc<AtomicU32>,
}

const LAG: Duration = Duration::from_millis(50);

impl Clock for Lagging {
    fn now(&self) -> u64 {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.clock.now()
    }

    fn recent(&self) -> Option<u64> {
        Some(self.clock.now().saturating_sub(LAG.as_nanos() as u64))
    }
}

#[test]
fn most_rejections_go_by_a_recent_reading_and_none_that_matters_does() {
    let clock = Lagging {
        clock: ManualClock::new(),
        reads: Arc::default(),
    };
    let second = Duration::from_secs(1);
    clock.clock.advance(1000 * second);
    let breaker = Breaker::builder()
        .consecutive_failures(1)
        .open_wait(OpenWait::fixed(30 * second))
        .probe_lease(60 * second)
        .clock(clock.clone())
        .build()
        .unwrap();
    let left = || breaker.allow().unwrap_err().retry_after().unwrap();
    let reads = || clock.reads.swap(0, Ordering::Relaxed);
    let millis = Duration::from_millis;

    breaker.allow().unwrap().failure();
    for wait in [30 * second, 60 * second] {
        reads();
        clock.clock.advance(wait / 2);
        assert_eq!(
            left(),
            wait / 2 + LAG,
            "as much too long as the reading is old"
        );
        clock.clock.advance(wait / 2 - millis(51));
        assert_eq!(left(), millis(51) + LAG);
        assert_eq!(reads(), 0);
        clock.clock.advance(millis(1));
        assert_eq!((left(), reads()), (millis(50), 1));
        clock.clock.advance(millis(50) - Duration::from_nanos(1));
        assert_eq!((left(), reads()), (Duration::from_nanos(1), 1));
        clock.clock.advance(Duration::from_nanos(1));
        std::mem::forget(breaker.allow().unwrap());
        assert_eq!((breaker.state(), reads()), (State::HalfOpen, 1));
    }
    breaker.force_open(None, "no end");
    reads();
    assert_eq!(breaker.allow().unwrap_err().retry_after(), None);
    assert_eq!(reads(), 0, "there is nothing to ask a clock for");
}

#[test]
fn how_long_a_score_has_lasted_is_exact_and_its_age_is_to_50_ms() {
    let clock = Lagging {
        clock: ManualClock::new(),
        reads: Arc::default(),
    };
    let millis = Duration::from_millis;
    clock.clock.advance(millis(10_000));
    let score = Score {
        bad: 1,
        good: 1,
        limit: 3,
    };
    let scores = Cusum::of_failures(score)
        .lasting(millis(500))
        .max_age(Some(millis(60_000)));
    let breaker = Breaker::builder()
        .config(Config::cusum(scores))
        .clock(clock.clone())
        .build()
        .unwrap();
    let fail = || breaker.allow().unwrap().done(Outcome::Failure);
    let reads = || clock.reads.swap(0, Ordering::Relaxed);
    reads();

    fail();
    assert_eq!(reads(), 1, "the one that leaves zero tells since when");
    fail();
    assert_eq!(reads(), 0, "that of the second decides nothing");
    clock.clock.advance(millis(499));
    assert_eq!((fail(), reads()), (Settled::Recorded, 1));
    clock.clock.advance(millis(1));
    assert_eq!(fail(), Settled::Tripped);

    breaker.close("");
    fail();
    fail();
    // The second was at 10,500 by the clock, and at 10,450 by the recent reading.
    let score = || breaker.snapshot().scores.failures.value;
    clock.clock.advance(millis(60_000));
    fail();
    assert_eq!(score(), 1, "it has started again");
    fail();
    clock.clock.advance(millis(60_000) - LAG - millis(1));
    assert_eq!(fail(), Settled::Tripped, "it is not that old yet");
}
