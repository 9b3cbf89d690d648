//! Transitions as `tracing` events.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cutout::{Breaker, Config, Cusum, ManualClock, Score, Window};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Keeps the events: level, and fields as text.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<(Level, Fields)>>>);

type Fields = BTreeMap<&'static str, String>;

struct Writer<'a>(&'a mut Fields);

impl Visit for Writer<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "cutout::adapters::tracing"
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::new();
        event.record(&mut Writer(&mut fields));
        self.0
            .lock()
            .unwrap()
            .push((*event.metadata().level(), fields));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The events of what `work` does with a breaker that opens at the first failure.
fn events(work: impl FnOnce(&Breaker<ManualClock>, &ManualClock)) -> Vec<(Level, Fields)> {
    let recorder = Recorder::default();
    let clock = ManualClock::new();
    let breaker = Breaker::builder()
        .named_listener(cutout::adapters::tracing::transition)
        .name("search")
        .consecutive_failures(1)
        .clock(clock.clone())
        .build()
        .unwrap();
    tracing::subscriber::with_default(recorder.clone(), || work(&breaker, &clock));
    recorder.0.lock().unwrap().clone()
}

#[test]
fn an_outage_is_one_event_per_transition() {
    let events = events(|breaker, clock| {
        breaker.allow().unwrap().failure();
        breaker.allow().unwrap_err();
        clock.advance(Duration::from_secs(30));
        breaker.allow().unwrap().success();
    });
    let story: Vec<_> = events
        .iter()
        .map(|(level, fields)| (*level, &*fields["from"], &*fields["to"], &*fields["cause"]))
        .collect();
    let expected = [
        (Level::WARN, "closed", "open", "consecutive_failures"),
        (Level::INFO, "open", "half_open", "wait_elapsed"),
        (Level::INFO, "half_open", "closed", "probes_passed"),
    ];
    assert_eq!(story, expected);
    let fields = &events[0].1;
    assert_eq!(fields["breaker"], "search");
    assert_eq!(fields["generation"], "1");
    assert_eq!((&*fields["samples"], &*fields["failures"]), ("1", "1"));
    assert!(!fields.contains_key("reason"));
}

#[test]
fn a_score_that_opened_is_written_with_its_limit() {
    let events = events(|breaker, _| {
        let score = Score {
            bad: 10,
            good: 1,
            limit: 20,
        };
        let scores = Cusum::of_failures(score).lasting(Duration::ZERO);
        breaker.reconfigure(Config::cusum(scores)).unwrap();
        breaker.allow().unwrap().failure();
        breaker.allow().unwrap().failure();
    });
    let fields = &events.last().unwrap().1;
    assert_eq!(fields["cause"], "failure_score");
    assert_eq!(fields["threshold"], "a score of 20");
}

#[test]
fn an_operators_reason_is_written() {
    let events = events(|breaker, _| {
        breaker.force_open(None, "maintenance");
        breaker.disable("done");
    });
    assert_eq!(
        (events[0].0, &*events[0].1["reason"]),
        (Level::WARN, "maintenance")
    );
    assert_eq!(
        (events[1].0, &*events[1].1["reason"]),
        (Level::INFO, "done")
    );
}

#[test]
fn a_would_trip_is_a_warning_and_other_changes_while_observing_are_not() {
    let events = events(|breaker, _| {
        breaker.observe_only("a trial");
        breaker.allow().unwrap().failure();
        let config = breaker
            .config()
            .with(|config| config.window = Window::count(50));
        breaker.reconfigure(config).unwrap();
    });
    let levels: Vec<_> = events.iter().map(|(level, _)| *level).collect();
    assert_eq!(levels, [Level::INFO, Level::WARN, Level::INFO]);
    assert_eq!(events[1].1["message"], "breaker would have opened");
}
