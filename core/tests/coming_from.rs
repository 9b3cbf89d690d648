//! What the page `guide::coming_from` says of the surprises: a test for each.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cutout::{
    Breaker, Builder, Config, Counts, ManualClock, OpenWait, Outcome, Settled, SlowRule, State,
    Window,
};

const WAIT: Duration = Duration::from_secs(30);

fn builder(clock: &ManualClock) -> Builder<ManualClock> {
    Builder::new(clock.clone())
}

/// Opens at the first failure.
fn fragile(clock: &ManualClock) -> Builder<ManualClock> {
    builder(clock).failure_ratio(None).consecutive_failures(1)
}

fn open(clock: &ManualClock, builder: Builder<ManualClock>) -> Breaker<ManualClock> {
    let breaker = builder.build().unwrap();
    assert_eq!(breaker.allow().unwrap().failure(), Settled::Tripped);
    clock.advance(WAIT);
    breaker
}

#[test]
fn a_success_can_open() {
    let breaker = builder(&ManualClock::new()).min_calls(2).build().unwrap();
    breaker.allow().unwrap().failure();
    assert_eq!(breaker.allow().unwrap().success(), Settled::Tripped);
}

#[test]
fn a_ratio_that_is_reached_opens() {
    let breaker = builder(&ManualClock::new()).min_calls(10).build().unwrap();
    for call in 0..9 {
        let permit = breaker.allow().unwrap();
        permit.done(if call < 5 {
            Outcome::Success
        } else {
            Outcome::Failure
        });
    }
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(
        breaker.allow().unwrap().failure(),
        Settled::Tripped,
        "5 of 10"
    );
}

#[test]
fn a_call_that_takes_exactly_the_limit_is_slow() {
    let limit = Duration::from_secs(1);
    let settled = |elapsed| {
        let slow = SlowRule { limit, ratio: 1.0 };
        let builder = builder(&ManualClock::new()).min_calls(1).slow(slow);
        let breaker = builder.build().unwrap();
        breaker
            .allow()
            .unwrap()
            .done_after(Outcome::Success, elapsed)
    };
    assert_eq!(settled(limit), Settled::Tripped);
    assert_eq!(settled(limit - Duration::from_nanos(1)), Settled::Recorded);
}

#[test]
fn min_calls_above_the_window_are_refused() {
    let builder = builder(&ManualClock::new())
        .window(Window::count(5))
        .min_calls(6);
    assert_eq!(builder.build().unwrap_err().field(), "min_calls");
}

#[test]
fn the_state_reads_half_open_before_any_call_and_the_event_comes_with_the_call() {
    let clock = ManualClock::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let builder = fragile(&clock).listener(move |event| hears.lock().unwrap().push(event.to));
    let breaker = open(&clock, builder);
    assert_eq!(
        (breaker.state(), breaker.generation()),
        (State::HalfOpen, 1)
    );
    assert_eq!(*heard.lock().unwrap(), [State::Open]);
    let _probe = breaker.allow().unwrap();
    assert_eq!(breaker.generation(), 2);
    assert_eq!(*heard.lock().unwrap(), [State::Open, State::HalfOpen]);
}

#[test]
fn the_quota_of_probes_is_at_a_time() {
    let clock = ManualClock::new();
    let breaker = open(&clock, fragile(&clock).successes_to_close(3));
    for settled in [Settled::Recorded, Settled::Recorded, Settled::Closed] {
        let probe = breaker.allow().unwrap();
        assert!(breaker.allow().is_err(), "one at a time");
        assert_eq!(probe.success(), settled);
    }
}

#[test]
fn one_failed_probe_opens_again() {
    let clock = ManualClock::new();
    let breaker = open(
        &clock,
        fragile(&clock).max_probes(10).successes_to_close(10),
    );
    for _ in 0..9 {
        breaker.allow().unwrap().success();
    }
    breaker.allow().unwrap().failure();
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn probes_that_say_nothing_free_their_slots_and_sixteen_of_them_open_again() {
    let clock = ManualClock::new();
    let breaker = open(&clock, fragile(&clock));
    for _ in 0..16 {
        assert_eq!(breaker.state(), State::HalfOpen);
        breaker.allow().unwrap().ignore();
    }
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn a_late_failure_does_not_touch_a_recovered_breaker() {
    let clock = ManualClock::new();
    let breaker = fragile(&clock).build().unwrap();
    let late = breaker.allow().unwrap();
    breaker.allow().unwrap().failure();
    clock.advance(WAIT);
    breaker.allow().unwrap().success();
    assert_eq!(late.failure(), Settled::Stale);
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn once_open_the_window_is_empty_and_the_event_has_the_counts() {
    let clock = ManualClock::new();
    let counts = Arc::new(Mutex::new(Counts::default()));
    let told = Arc::clone(&counts);
    let builder = builder(&clock).min_calls(2).listener(move |event| {
        *told.lock().unwrap() = event.counts;
    });
    let breaker = builder.build().unwrap();
    breaker.allow().unwrap().success();
    breaker.allow().unwrap().failure();
    assert_eq!(breaker.state(), State::Open);
    assert_eq!(breaker.snapshot().counts(), Counts::default());
    let counts = *counts.lock().unwrap();
    assert_eq!((counts.samples, counts.failures), (2, 1));
}

#[test]
fn closing_starts_an_empty_window() {
    let clock = ManualClock::new();
    let breaker = open(&clock, fragile(&clock));
    assert_eq!(breaker.allow().unwrap().success(), Settled::Closed);
    assert_eq!(breaker.snapshot().counts(), Counts::default());
}

#[test]
fn nothing_may_be_nothing_and_the_bounds_are_as_told() {
    type Set = fn(Builder<ManualClock>) -> Builder<ManualClock>;
    let refused: [(&str, Set); 9] = [
        ("open_wait.base", |b| {
            b.open_wait(OpenWait::fixed(Duration::ZERO))
        }),
        ("max_probes", |b| b.max_probes(0)),
        ("max_probes", |b| b.max_probes(256)),
        ("successes_to_close", |b| b.successes_to_close(256)),
        ("max_inconclusive", |b| b.max_inconclusive(256)),
        ("window", |b| b.window(Window::count(0))),
        ("window", |b| b.window(Window::count(4097))),
        ("window", |b| b.window(Window::time(WAIT, 61))),
        ("failure_ratio", |b| b.failure_ratio(50.0)),
    ];
    let clock = ManualClock::new();
    for (field, set) in refused {
        let refused = set(builder(&clock)).build().unwrap_err();
        assert!(refused.field().starts_with(field), "{refused}");
    }
    let largest = builder(&clock)
        .window(Window::count(4096))
        .max_probes(255)
        .successes_to_close(255)
        .max_inconclusive(255);
    largest.build().unwrap();
}

#[test]
fn the_defaults_are_as_told() {
    let config = Config::default();
    assert_eq!((config.window, config.min_calls()), (Window::count(20), 10));
    assert_eq!(config.failure_ratio, Some(0.5));
    assert_eq!(config.open_wait, OpenWait::fixed(WAIT));
    assert_eq!((config.max_probes, config.max_inconclusive), (1, 16));
    assert_eq!(config.probe_lease, Some(Duration::from_secs(60)));
}

#[test]
fn half_open_by_hand() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).build().unwrap();
    breaker.force_open(Some(Duration::ZERO), "a drill");
    assert_eq!(breaker.state(), State::HalfOpen);
    assert_eq!(breaker.allow().unwrap().success(), Settled::Closed);
}

#[test]
fn a_ratio_over_a_full_window_is_failsafe_gos_so_many_of_so_many() {
    // 2 of 5.
    let builder = builder(&ManualClock::new()).window(Window::count(5));
    let breaker = builder.min_calls(5).failure_ratio(0.4).build().unwrap();
    for outcome in [
        Outcome::Failure,
        Outcome::Success,
        Outcome::Success,
        Outcome::Success,
    ] {
        assert_eq!(breaker.allow().unwrap().done(outcome), Settled::Recorded);
    }
    assert_eq!(breaker.allow().unwrap().failure(), Settled::Tripped);
}

#[test]
fn an_excluded_error_ends_a_run_of_failures_if_it_is_answered() {
    let builder = builder(&ManualClock::new()).failure_ratio(None);
    let breaker = builder.consecutive_failures(2).build().unwrap();
    for outcome in [Outcome::Failure, Outcome::Answered, Outcome::Failure] {
        breaker.allow().unwrap().done(outcome);
    }
    assert_eq!(breaker.state(), State::Closed);
    breaker.allow().unwrap().ignore();
    assert_eq!(
        breaker.allow().unwrap().failure(),
        Settled::Tripped,
        "ignored ends none"
    );
}
