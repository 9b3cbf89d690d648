//! A window of scores, call by call.

use std::time::Duration;

use cutout::{
    Breaker, Cause, Config, Cusum, HeldScore, ManualClock, Outcome, Report, Score, Settled, State,
    Threshold, Window,
};

const SCORE: Score = Score {
    bad: 10,
    good: 1,
    limit: 35,
};

const MS: Duration = Duration::from_millis(1);

struct Rig {
    clock: ManualClock,
    breaker: Breaker<ManualClock>,
}

impl Rig {
    fn of(config: Config) -> Self {
        let clock = ManualClock::new();
        let breaker = Breaker::builder()
            .clock(clock.clone())
            .config(config)
            .build()
            .unwrap();
        Self { clock, breaker }
    }

    fn scores(cusum: Cusum) -> Self {
        Self::of(Config::cusum(cusum))
    }

    fn done(&self, report: impl Into<Report>) -> Settled {
        self.breaker.allow().unwrap().done(report)
    }

    fn fail(&self) -> Settled {
        self.done(Outcome::Failure)
    }

    fn took(&self, outcome: Outcome, millis: u64) -> Settled {
        let elapsed = Duration::from_millis(millis);
        self.breaker.allow().unwrap().done_after(outcome, elapsed)
    }

    fn failures(&self) -> u32 {
        self.breaker.snapshot().scores.failures.value
    }

    fn slow(&self) -> u32 {
        self.breaker.snapshot().scores.slow.value
    }
}

fn at_once() -> Cusum {
    Cusum::of_failures(SCORE).lasting(Duration::ZERO)
}

#[test]
fn failures_raise_the_score_and_successes_lower_it_to_zero_and_no_further() {
    let rig = Rig::scores(at_once());
    rig.fail();
    assert_eq!(rig.failures(), 10);
    rig.done(Outcome::Timeout);
    assert_eq!(rig.failures(), 20);
    rig.done(Outcome::Ignored);
    assert_eq!(rig.failures(), 20);
    rig.done(Outcome::Success);
    rig.done(Outcome::Answered);
    assert_eq!(rig.failures(), 18);
    for _ in 0..20 {
        rig.done(Outcome::Success);
    }
    assert_eq!(rig.failures(), 0);
}

#[test]
fn the_outcome_that_raises_the_score_to_its_limit_opens_the_breaker_and_says_why() {
    let rig = Rig::scores(at_once());
    for _ in 0..3 {
        assert_eq!(rig.fail(), Settled::Recorded);
    }
    assert_eq!(rig.fail(), Settled::Tripped);
    assert_eq!(rig.breaker.state(), State::Open);
    let trip = rig.breaker.evidence().trip.unwrap();
    assert_eq!(trip.cause, Cause::FailureScore);
    assert_eq!(trip.threshold, Some(Threshold::Score(35)));
    assert_eq!(
        trip.to_string(),
        "failure score reached 0.0ns ago: the rule asks for a score of 35"
    );
}

#[test]
fn slow_calls_have_a_score_of_their_own_and_a_failure_that_is_slow_raises_both() {
    let slow = Score { limit: 20, ..SCORE };
    let rig = Rig::scores(at_once().and_slow(100 * MS, slow));
    rig.took(Outcome::Failure, 99);
    assert_eq!((rig.failures(), rig.slow()), (10, 0));
    rig.took(Outcome::Failure, 100);
    assert_eq!((rig.failures(), rig.slow()), (20, 10));
    rig.took(Outcome::Success, 1);
    assert_eq!((rig.failures(), rig.slow()), (19, 9));
    assert_eq!(rig.took(Outcome::Success, 100), Settled::Recorded);
    assert_eq!((rig.failures(), rig.slow()), (18, 19));
    assert_eq!(rig.took(Outcome::Success, 100), Settled::Tripped);
    let trip = rig.breaker.evidence().trip.unwrap();
    assert_eq!(
        (trip.cause, trip.threshold),
        (Cause::SlowScore, Some(Threshold::Score(20)))
    );
}

#[test]
fn a_score_that_has_not_lasted_stays_at_its_limit_until_a_bad_outcome_comes_that_is_late_enough() {
    let rig = Rig::scores(Cusum::of_failures(SCORE).lasting(500 * MS));
    rig.clock.advance(7 * MS);
    for _ in 0..50 {
        assert_eq!(rig.fail(), Settled::Recorded);
    }
    assert_eq!(rig.failures(), 35);
    rig.clock.advance(499 * MS);
    assert_eq!(rig.fail(), Settled::Recorded);
    rig.clock.advance(MS);
    assert_eq!(rig.done(Outcome::Success), Settled::Recorded);
    assert_eq!(rig.fail(), Settled::Tripped);
}

#[test]
fn a_score_that_was_at_zero_again_lasts_from_when_it_left_it_last() {
    let rig = Rig::scores(Cusum::of_failures(SCORE).lasting(500 * MS));
    rig.fail();
    rig.clock.advance(400 * MS);
    for _ in 0..10 {
        rig.done(Outcome::Success);
    }
    assert_eq!(rig.failures(), 0);
    for _ in 0..4 {
        rig.fail();
    }
    rig.clock.advance(499 * MS);
    assert_eq!(rig.fail(), Settled::Recorded);
    rig.clock.advance(MS);
    assert_eq!(rig.fail(), Settled::Tripped);
}

#[test]
fn a_score_that_nothing_has_raised_for_its_greatest_age_starts_again_at_zero() {
    let rig = Rig::scores(at_once().max_age(Some(1000 * MS)));
    for _ in 0..3 {
        rig.fail();
    }
    rig.clock.advance(999 * MS);
    rig.done(Outcome::Success);
    assert_eq!(rig.fail(), Settled::Tripped);

    let rig = Rig::scores(at_once().max_age(Some(1000 * MS)));
    for _ in 0..3 {
        rig.fail();
    }
    rig.clock.advance(1000 * MS);
    // A good outcome has no clock.
    rig.done(Outcome::Success);
    assert_eq!(rig.failures(), 29);
    assert_eq!(rig.fail(), Settled::Recorded);
    assert_eq!(rig.failures(), 10);
}

#[test]
fn a_run_of_failures_may_stand_beside_the_scores() {
    let config = Config::cusum(Cusum::of_failures(SCORE));
    let rig = Rig::of(config.with(|config| config.consecutive_failures = Some(3)));
    rig.fail();
    rig.fail();
    rig.done(Outcome::Success);
    rig.fail();
    rig.fail();
    assert_eq!(rig.fail(), Settled::Tripped);
    let trip = rig.breaker.evidence().trip.unwrap();
    assert_eq!(trip.cause, Cause::ConsecutiveFailures);
    assert_eq!(trip.threshold, Some(Threshold::Failures(3)));
}

#[test]
fn after_probes_it_begins_with_its_head_start_and_after_an_operator_at_zero() {
    let rig = Rig::scores(at_once().head_start_percent(50));
    assert_eq!(rig.failures(), 0);
    while rig.fail() != Settled::Tripped {}
    rig.clock.advance(Duration::from_secs(30));
    assert_eq!(rig.done(Outcome::Success), Settled::Closed);
    assert_eq!(rig.failures(), 17);
    assert_eq!(rig.fail(), Settled::Recorded);
    assert_eq!(rig.fail(), Settled::Tripped);
    rig.breaker.close("repaired");
    assert_eq!(rig.failures(), 0);
}

#[test]
fn observe_only_reports_and_starts_again() {
    let rig = Rig::scores(at_once());
    rig.breaker.observe_only("trial");
    for _ in 0..3 {
        rig.fail();
    }
    assert_eq!(rig.fail(), Settled::WouldTrip);
    assert_eq!(rig.failures(), 0);
    assert_eq!(rig.breaker.state(), State::ObserveOnly);
}

#[test]
fn another_config_keeps_the_scores_as_long_as_the_window_is_the_same() {
    let rig = Rig::scores(Cusum::of_failures(SCORE));
    rig.fail();
    let config = rig.breaker.config();
    let generation = rig.breaker.generation();
    for limit in [3, 4, 5] {
        let changed = config.with(|config| config.consecutive_failures = Some(limit));
        rig.breaker.reconfigure(changed).unwrap();
        assert_eq!(rig.breaker.config(), changed);
        assert_eq!((rig.failures(), rig.breaker.generation()), (10, generation));
    }
    for window in [
        Window::Cusum(Cusum::of_failures(SCORE).lasting(Duration::ZERO)),
        Window::count(20),
        Window::Cusum(Cusum::of_failures(SCORE)),
    ] {
        let ratio = matches!(window, Window::Count(_)).then_some(0.5);
        let changed = config.with(|config| {
            config.window = window;
            config.failure_ratio = ratio;
        });
        let generation = rig.breaker.generation();
        rig.breaker.reconfigure(changed).unwrap();
        assert_eq!(rig.breaker.config(), changed);
        assert_eq!(rig.breaker.generation(), generation + 1);
        assert_eq!(rig.failures(), 0);
        rig.fail();
    }
    assert_eq!(rig.failures(), 10);
}

#[test]
fn a_snapshot_takes_the_scores_and_their_times_over_a_restart() {
    let rig = Rig::scores(Cusum::of_failures(SCORE).lasting(500 * MS));
    rig.fail();
    rig.clock.advance(100 * MS);
    for _ in 0..3 {
        rig.fail();
    }
    rig.clock.advance(200 * MS);
    let snapshot = rig.breaker.snapshot();
    let held = HeldScore {
        value: 35,
        above_zero: Some(300 * MS),
        raised: Some(200 * MS),
    };
    assert_eq!(snapshot.scores.failures, held);
    assert_eq!(snapshot.scores.slow, HeldScore::default());

    let clock = ManualClock::new();
    let restored = Breaker::builder()
        .clock(clock.clone())
        .config(rig.breaker.config())
        .restore(snapshot.clone())
        .build()
        .unwrap();
    assert_eq!(restored.snapshot().scores, snapshot.scores);
    clock.advance(199 * MS);
    let fail = || restored.allow().unwrap().done(Outcome::Failure);
    assert_eq!(fail(), Settled::Recorded);
    clock.advance(MS);
    assert_eq!(fail(), Settled::Tripped);

    let other = Cusum::of_failures(Score { bad: 9, ..SCORE });
    let started_anew = Breaker::builder()
        .clock(ManualClock::new())
        .config(Config::cusum(other))
        .restore(snapshot)
        .build()
        .unwrap();
    assert_eq!(started_anew.snapshot().scores.failures.value, 0);
}

#[test]
fn the_builder_leaves_out_the_default_ratio_and_not_one_that_was_said() {
    let builder = || Breaker::builder().window(Window::cusum(SCORE));
    let breaker = builder().build().unwrap();
    assert_eq!(breaker.config(), Config::cusum(Cusum::of_failures(SCORE)));
    let refused = builder().failure_ratio(0.5).build().unwrap_err();
    assert_eq!(refused.field(), "failure_ratio");
}

#[cfg(feature = "odds")]
#[test]
fn a_breaker_opens_as_soon_as_its_odds_say() {
    use cutout::odds::Traffic;

    const ROUNDS: u32 = 4_000;
    let config = Config::for_rates(0.05, 0.5, 1e6).unwrap().with(|config| {
        let Window::Cusum(cusum) = config.window else {
            panic!("{config:?}")
        };
        config.window = Window::Cusum(cusum.lasting(Duration::ZERO));
    });
    // Xorshift64*.
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut draw = || {
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        (random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    };
    for share in [0.3, 0.5, 0.9] {
        let said = config.odds(Traffic::failing(share)).unwrap();
        let said = said.from_empty.mean_calls();
        let rig = Rig::of(config);
        let mut calls = 0;
        for _ in 0..ROUNDS {
            loop {
                calls += 1;
                let outcome = match draw() < share {
                    true => Outcome::Failure,
                    false => Outcome::Success,
                };
                if rig.done(outcome) == Settled::Tripped {
                    break;
                }
            }
            rig.breaker.close("again");
        }
        let mean = f64::from(calls) / f64::from(ROUNDS);
        assert!(
            (mean / said - 1.0).abs() < 0.1,
            "{share}: {mean}, not {said}"
        );
    }
}

#[test]
fn a_score_that_each_success_takes_to_zero_is_a_run_of_failures() {
    let run = Score {
        bad: 1,
        good: 3,
        limit: 3,
    };
    let score = Rig::scores(Cusum::of_failures(run).lasting(Duration::ZERO));
    let run = Rig::of(Config::low_traffic());
    let mut trips = 0;
    for round in 0..2_000_u32 {
        let outcome = match round.wrapping_mul(0x9E37_79B9) >> 30 {
            0 => Outcome::Success,
            1 => Outcome::Timeout,
            _ => Outcome::Failure,
        };
        let settled = score.done(outcome);
        assert_eq!(settled, run.done(outcome), "{round}");
        if settled == Settled::Tripped {
            trips += 1;
            score.breaker.close("again");
            run.breaker.close("again");
        }
    }
    assert!(trips > 100, "{trips}");
}

#[cfg(feature = "serde")]
#[test]
fn it_is_read_from_a_table_without_a_ratio_and_written_to_be_read_again() {
    let text = "window = { cusum = { failures = { bad = 10, good = 1, limit = 35 } } }";
    let config: Config = toml::from_str(text).unwrap();
    assert_eq!(config, Config::cusum(Cusum::of_failures(SCORE)));
    let text = r#"window = { cusum = { slow = { limit = "1s", score = { bad = 10, good = 1, limit = 35 } }, lasting = "1s", max_age = "none", head_start_percent = 50 } }"#;
    let config: Config = toml::from_str(text).unwrap();
    let cusum = Cusum::of_slow(1000 * MS, SCORE).lasting(1000 * MS);
    assert_eq!(
        config,
        Config::cusum(cusum.max_age(None).head_start_percent(50))
    );
    let written = toml::to_string(&config).unwrap();
    assert_eq!(
        toml::from_str::<Config>(&written).unwrap(),
        config,
        "{written}"
    );

    let breaker = Breaker::new(config).unwrap();
    let elapsed = Duration::from_secs(1);
    breaker
        .allow()
        .unwrap()
        .done_after(Outcome::Success, elapsed);
    let snapshot = breaker.snapshot();
    assert_eq!(snapshot.scores.slow.value, 10);
    let json = serde_json::to_string(&snapshot).unwrap();
    assert_eq!(
        serde_json::from_str::<cutout::Snapshot>(&json).unwrap(),
        snapshot
    );
    let bytes = postcard::to_allocvec(&snapshot).unwrap();
    assert_eq!(
        postcard::from_bytes::<cutout::Snapshot>(&bytes).unwrap(),
        snapshot
    );
    assert!(
        toml::from_str::<Config>(
            "window = { cusum = { failures = { bad = 10, good = 1, limit = 35 } }, count = 5 }"
        )
        .is_err()
    );
}

#[test]
fn the_clock_is_read_by_outcomes_that_raise_a_score_alone() {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    struct Counting<'a>(&'a AtomicU64);
    impl cutout::Clock for Counting<'_> {
        fn now(&self) -> u64 {
            self.0.fetch_add(1, Relaxed)
        }
    }
    let reads = AtomicU64::new(0);
    let breaker = Breaker::builder()
        .clock(Counting(&reads))
        .window(Window::cusum(SCORE))
        .build()
        .unwrap();
    let reads_of = |outcome| {
        let before = reads.load(Relaxed);
        breaker.allow().unwrap().done(outcome);
        reads.load(Relaxed) - before
    };
    assert_eq!(reads_of(Outcome::Success), 0);
    assert_eq!(reads_of(Outcome::Failure), 1);
    assert_eq!(reads_of(Outcome::Success), 0);
}
