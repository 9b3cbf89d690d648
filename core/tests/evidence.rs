//! A breaker that is not closed says why: in rejections, events, log, snapshots, and when asked.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cutout::{
    Breaker, Builder, CallEvent, Cause, Counts, Event, Evidence, Label, ManualClock, OpenWait,
    OperatorAction, Outcome, Rejected, Report, SlowRule, State, Threshold, Window,
};

const WAIT: Duration = Duration::from_secs(10);
const LEASE: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

fn builder(clock: &ManualClock) -> Builder<ManualClock> {
    Breaker::builder()
        .name("search")
        .window(Window::count(10))
        .min_calls(10)
        .failure_ratio(0.6)
        .open_wait(OpenWait::fixed(WAIT))
        .probe_lease(LEASE)
        .clock(clock.clone())
}

fn failure(label: &str) -> Report {
    Report::from(Outcome::Failure).label(label)
}

/// Four successes and five failures, of which two are timeouts, and then one more failure.
fn trip(breaker: &Breaker<ManualClock>) {
    for outcome in [Outcome::Success, Outcome::Failure] {
        for _ in 0..3 {
            breaker.allow().unwrap().done(outcome);
        }
    }
    breaker.allow().unwrap().success();
    breaker.allow().unwrap().timeout();
    breaker.allow().unwrap().timeout();
    breaker.allow().unwrap().done(failure("connection refused"));
    assert_eq!(breaker.state(), State::Open);
}

const AT_TRIP: Counts = Counts {
    samples: 10,
    failures: 6,
    timeouts: 2,
    slow: 0,
};

#[test]
fn a_trip_is_explained_by_rule_counts_threshold_age_and_label() {
    let clock = ManualClock::new();
    clock.set(Duration::from_secs(100));
    let breaker = builder(&clock).build().unwrap();
    assert_eq!(breaker.evidence(), Evidence::default());
    trip(&breaker);
    clock.advance(SECOND * 3);
    let trip = breaker.evidence().trip.unwrap();
    assert_eq!(trip.cause, Cause::FailureRatio);
    assert_eq!(trip.counts, AT_TRIP);
    assert_eq!(trip.threshold, Some(Threshold::Ratio(0.6)));
    assert_eq!(trip.age, SECOND * 3);
    assert_eq!(trip.label.as_deref(), Some("connection refused"));
    assert_eq!(
        trip.to_string(),
        "failure ratio reached 3.0s ago: 6 of 10 failed, 2 by timeout, 0 slow; the rule asks \
         for a share of 0.6; last failure: connection refused"
    );
}

#[test]
fn each_rule_is_told_with_what_it_asked_for() {
    let clock = ManualClock::new();
    let slow = SlowRule {
        limit: SECOND,
        ratio: 0.125,
    };
    for (builder, report, cause, threshold) in [
        (
            builder(&clock).consecutive_failures(7).min_calls(10),
            Report::from(Outcome::Failure),
            Cause::ConsecutiveFailures,
            Threshold::Failures(7),
        ),
        (
            builder(&clock).failure_ratio(None).timeout_ratio(0.57),
            Outcome::Timeout.into(),
            Cause::TimeoutRatio,
            Threshold::Ratio(0.57),
        ),
        (
            builder(&clock).slow(slow),
            Report::from(Outcome::Success).elapsed(SECOND),
            Cause::SlowRatio,
            Threshold::Ratio(0.125),
        ),
        (
            builder(&clock)
                .window(Window::time(WAIT, 10))
                .failure_ratio(1.0 / 3.0),
            Outcome::Failure.into(),
            Cause::FailureRatio,
            Threshold::Ratio(0.333_333_333),
        ),
    ] {
        let breaker = builder.build().unwrap();
        while let Ok(permit) = breaker.allow() {
            permit.done(report);
        }
        let trip = breaker.evidence().trip.unwrap();
        assert_eq!((trip.cause, trip.threshold), (cause, Some(threshold)));
        assert_eq!(trip.label, None);
    }
}

#[test]
fn the_threshold_is_the_one_that_held_at_the_trip() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).build().unwrap();
    trip(&breaker);
    let config = breaker
        .config()
        .with(|config| config.failure_ratio = Some(0.9));
    breaker.reconfigure(config).unwrap();
    let trip = breaker.evidence().trip.unwrap();
    assert_eq!(trip.threshold, Some(Threshold::Ratio(0.6)));
}

#[test]
fn it_is_kept_over_re_openings_with_the_last_label_until_the_breaker_closes() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).build().unwrap();
    trip(&breaker);
    let label = || breaker.evidence().trip.and_then(|trip| trip.label);
    for (said, kept) in [
        (None, "connection refused"),
        (Some("503"), "503"),
        (None, "503"),
    ] {
        clock.advance(WAIT);
        let probe = breaker.allow().unwrap();
        assert_eq!(breaker.evidence().trip.unwrap().counts, AT_TRIP);
        let report = said.map_or(Outcome::Failure.into(), failure);
        probe.done(report);
        assert_eq!(label().as_deref(), Some(kept));
        let trip = breaker.evidence().trip.unwrap();
        assert_eq!((trip.cause, trip.counts), (Cause::FailureRatio, AT_TRIP));
    }
    assert_eq!(breaker.evidence().trip.unwrap().age, WAIT * 3);
    // A lost probe starts another generation, and no other outage.
    clock.advance(WAIT);
    std::mem::forget(breaker.allow().unwrap());
    clock.advance(LEASE);
    let probe = breaker.allow().unwrap();
    assert_eq!(breaker.evidence().trip.unwrap().counts, AT_TRIP);
    probe.success();
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(breaker.evidence(), Evidence::default());
    // The next outage has nothing of the last one.
    for _ in 0..10 {
        breaker.allow().unwrap().failure();
    }
    let trip = breaker.evidence().trip.unwrap();
    assert_eq!((trip.age, trip.label), (Duration::ZERO, None));
    assert_eq!(trip.counts.failures, 10);
}

#[test]
fn an_operators_order_is_told_beside_the_outage_it_was_given_in() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).build().unwrap();
    breaker.force_open(Some(WAIT), "rollout of 4711");
    clock.advance(SECOND);
    let evidence = breaker.evidence();
    assert_eq!(evidence.trip, None);
    let operator = evidence.operator.unwrap();
    assert_eq!(
        (&*operator.reason, operator.age),
        ("rollout of 4711", SECOND)
    );
    assert_eq!(
        operator.to_string(),
        "by an operator 1.0s ago: rollout of 4711"
    );
    // Half-open by that order.
    clock.advance(WAIT);
    let probe = breaker.allow().unwrap();
    assert_eq!(
        &*breaker.evidence().operator.unwrap().reason,
        "rollout of 4711"
    );
    probe.success();
    assert_eq!(breaker.evidence(), Evidence::default());

    trip(&breaker);
    breaker.disable("it is a false alarm");
    let evidence = breaker.evidence();
    assert_eq!(&*evidence.operator.unwrap().reason, "it is a false alarm");
    assert_eq!(evidence.trip.unwrap().counts, AT_TRIP);
    breaker.force_open(None, "it is not");
    let evidence = breaker.evidence();
    assert_eq!(&*evidence.operator.unwrap().reason, "it is not");
    assert_eq!(evidence.trip.unwrap().counts, AT_TRIP);
    breaker.observe_only("who knows");
    assert_eq!(breaker.evidence(), Evidence::default());
}

#[test]
fn a_rejection_names_breaker_and_cause_and_is_no_larger_than_three_words() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).build().unwrap();
    trip(&breaker);
    let rejected = breaker.allow().unwrap_err();
    assert_eq!(size_of::<Rejected>(), 24);
    assert_eq!(rejected.breaker_name().as_deref(), Some("search"));
    assert_eq!(
        rejected.to_string(),
        "circuit breaker `search` is open (failure ratio reached); retry in 10.0s"
    );
    assert_eq!(breaker.refusal(), Some(rejected));
    let evidence = breaker.evidence_for(&rejected).unwrap();
    assert_eq!(evidence.trip.unwrap().counts, AT_TRIP);
    // The name goes with the breaker, also where another one comes in its place.
    let copies = [rejected; 2];
    drop(breaker);
    let other = builder(&clock).name("other").build().unwrap();
    for rejected in copies {
        assert_eq!(rejected.breaker_name(), None);
        assert_eq!(
            rejected.to_string(),
            "circuit breaker is open (failure ratio reached); retry in 10.0s"
        );
    }
    other.force_open(None, "test");
    let rejected = other.allow().unwrap_err();
    assert_eq!(rejected.breaker_name().as_deref(), Some("other"));
}

#[test]
fn evidence_for_a_rejection_is_that_of_its_outage_or_none() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).build().unwrap();
    trip(&breaker);
    let rejected = breaker.allow().unwrap_err();
    clock.advance(WAIT);
    breaker.allow().unwrap().failure();
    assert!(breaker.evidence_for(&rejected).is_some(), "it goes on");
    clock.advance(WAIT);
    breaker.allow().unwrap().success();
    assert_eq!(breaker.evidence_for(&rejected), None, "it is over");
    trip(&breaker);
    assert_eq!(breaker.evidence_for(&rejected), None, "another one");
    let rejected = breaker.allow().unwrap_err();
    assert!(breaker.evidence_for(&rejected).is_some());
}

#[test]
fn a_half_open_breaker_says_until_when_its_probes_may_be_out() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).build().unwrap();
    trip(&breaker);
    clock.advance(WAIT);
    let probe = breaker.allow().unwrap();
    clock.advance(SECOND * 20);
    let rejected = breaker.allow().unwrap_err();
    assert_eq!(rejected.retry_after(), Some(SECOND * 40));
    assert_eq!(breaker.refusal(), Some(rejected));
    assert_eq!(
        rejected.to_string(),
        "circuit breaker `search` is half-open (failure ratio reached); all probes are out, \
         the last for 40.0s at most"
    );
    drop(probe);
    let unleased = builder(&clock).probe_lease(None).build().unwrap();
    trip(&unleased);
    clock.advance(WAIT);
    let _probe = unleased.allow().unwrap();
    assert_eq!(unleased.allow().unwrap_err().retry_after(), None);
}

#[test]
fn events_and_log_carry_threshold_and_label() {
    let clock = ManualClock::new();
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&events);
    let breaker = builder(&clock)
        .log(true)
        .listener(move |event| heard.lock().unwrap().push(event.clone()))
        .build()
        .unwrap();
    trip(&breaker);
    breaker.close("repaired");
    breaker.observe_only("trial");
    for _ in 0..10 {
        breaker.allow().unwrap().done(failure("503"));
    }
    let told = |event: &Event| {
        (
            event.to,
            event.threshold,
            event.label.as_deref().map(String::from),
        )
    };
    let expected = [
        (
            State::Open,
            Some(Threshold::Ratio(0.6)),
            Some("connection refused".to_owned()),
        ),
        (State::Closed, None, None),
        (State::ObserveOnly, None, None),
        (
            State::ObserveOnly,
            Some(Threshold::Ratio(0.6)),
            Some("503".to_owned()),
        ),
    ];
    assert_eq!(
        events.lock().unwrap().iter().map(told).collect::<Vec<_>>(),
        expected
    );
    assert_eq!(breaker.log(), *events.lock().unwrap());
}

#[test]
fn a_listener_reads_the_evidence_of_the_trip_it_is_told_of() {
    let clock = ManualClock::new();
    let seen = Arc::new(Mutex::new(None));
    let breaker = Arc::new_cyclic(|weak: &std::sync::Weak<Breaker<ManualClock>>| {
        let (weak, seen) = (weak.clone(), Arc::clone(&seen));
        builder(&clock)
            .listener(move |_| {
                let breaker = weak.upgrade().unwrap();
                *seen.lock().unwrap() = breaker.evidence().trip;
            })
            .build()
            .unwrap()
    });
    trip(&breaker);
    let seen = seen.lock().unwrap().take();
    assert_eq!(seen.unwrap().label.as_deref(), Some("connection refused"));
}

#[test]
fn a_restart_keeps_it_and_counts_the_time_it_took() {
    let clock = ManualClock::new();
    clock.set_unix_time(Duration::from_secs(1_000_000));
    let breaker = builder(&clock).build().unwrap();
    trip(&breaker);
    clock.advance(SECOND);
    let restore = |snapshot| builder(&clock).restore(snapshot).build().unwrap();
    let snapshot = breaker.snapshot();
    assert_eq!(snapshot.evidence, breaker.evidence());
    clock.advance(SECOND);
    let open = restore(snapshot);
    let trip = open.evidence().trip.unwrap();
    assert_eq!((trip.age, trip.counts), (SECOND * 2, AT_TRIP));
    assert_eq!(trip.label.as_deref(), Some("connection refused"));
    // It goes on over a probe, an order, and another restart.
    clock.advance(WAIT);
    open.allow().unwrap().failure();
    open.force_open(None, "maintenance");
    clock.advance(SECOND);
    let snapshot = open.snapshot();
    clock.advance(SECOND);
    let forced = restore(snapshot);
    let evidence = forced.evidence();
    assert_eq!(evidence.trip.unwrap().counts, AT_TRIP);
    let operator = evidence.operator.unwrap();
    assert_eq!(
        (operator.age, &*operator.reason),
        (SECOND * 2, "maintenance")
    );
    forced.close("done");
    assert_eq!(restore(forced.snapshot()).evidence(), Evidence::default());
}

#[test]
fn a_snapshot_without_it_is_explained_by_its_cause() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).build().unwrap();
    trip(&breaker);
    let mut snapshot = breaker.snapshot();
    snapshot.evidence = Evidence::default();
    let restored = builder(&clock).restore(snapshot).build().unwrap();
    let trip = restored.evidence().trip.unwrap();
    assert_eq!(trip.cause, Cause::FailureRatio);
    assert_eq!((trip.counts, trip.threshold), (Counts::default(), None));
}

#[test]
fn texts_of_a_megabyte_are_cut() {
    let clock = ManualClock::new();
    let breaker = builder(&clock).consecutive_failures(1).build().unwrap();
    let megabyte = "é".repeat(500_000);
    breaker.allow().unwrap().done(failure(&megabyte));
    let label = breaker.evidence().trip.unwrap().label.unwrap();
    assert_eq!(label.len(), Label::MAX_LEN);
    breaker.force_open(None, megabyte.as_str());
    let reason = breaker.evidence().operator.unwrap().reason;
    assert_eq!(reason.len(), OperatorAction::MAX_REASON - 1);
    assert!(megabyte.starts_with(&*reason));
    // Texts of every length come back as they were.
    for len in 0..=Label::MAX_LEN {
        let text: String = ('a'..='z').cycle().take(len).collect();
        breaker.close("test");
        breaker.allow().unwrap().done(failure(&text));
        let label = breaker.evidence().trip.unwrap().label;
        assert_eq!(label.as_deref(), Some(&*text));
        breaker.force_open(None, text.as_str());
        assert_eq!(&*breaker.evidence().operator.unwrap().reason, text);
    }
}

#[test]
fn a_call_listener_is_told_of_successes_failures_and_rejections() {
    let clock = ManualClock::new();
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&told);
    let breaker = builder(&clock)
        .consecutive_failures(1)
        .call_listener(move |name, event| {
            assert_eq!(name, "search");
            listener.lock().unwrap().push(*event);
        })
        .build()
        .unwrap();
    breaker.allow().unwrap().success();
    drop(breaker.allow().unwrap());
    breaker.allow().unwrap().done(failure("503"));
    let rejected = breaker.allow().unwrap_err();
    clock.advance(WAIT);
    breaker.allow().unwrap().success();
    let settled = |report, is_probe| CallEvent::Settled { report, is_probe };
    assert_eq!(
        *told.lock().unwrap(),
        [
            settled(Outcome::Success.into(), false),
            CallEvent::Abandoned { is_probe: false },
            settled(failure("503"), false),
            CallEvent::Rejected(rejected),
            settled(Outcome::Success.into(), true),
        ]
    );
    assert_eq!(breaker.totals(), None, "nobody asked to count");
}

#[test]
fn rejections_are_equal_if_all_that_they_tell_is() {
    let clock = ManualClock::new();
    let breaker = |name: &str| {
        let breaker = Breaker::builder().name(name).clock(clock.clone());
        let breaker = breaker.build().unwrap();
        breaker.force_open(Some(Duration::from_secs(10)), "drill");
        breaker
    };
    let (one, other) = (breaker("one"), breaker("other"));
    let rejected = one.allow().unwrap_err();
    assert_eq!(one.allow().unwrap_err(), rejected);
    let of_another_breaker = other.allow().unwrap_err();
    clock.advance(Duration::from_secs(1));
    let later = one.allow().unwrap_err();
    one.force_open(Some(Duration::from_secs(10)), "drill");
    let of_another_generation = one.allow().unwrap_err();
    for unequal in [of_another_breaker, later, of_another_generation] {
        assert_ne!(unequal, rejected);
    }
    assert_eq!(of_another_generation.retry_after(), rejected.retry_after());
}
