//! The demo's day: what the report says of its four troubles is what the script put there.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cutout::{Breaker, Event, ManualClock, OwnedPermit, State};
use cutout_replay::demo::{self, DemoCall};
use cutout_replay::input::{By, Input, Options, Progress, Reading, Source};
use cutout_replay::report::{Kept, Report, Run};

/// The script's troubles, in milliseconds of the day.
const TROUBLES: [(&str, u64, u64); 4] = [
    ("outage", 190 * 60_000, 202 * 60_000),
    ("slow degradation", 540 * 60_000, 580 * 60_000),
    ("total hang", 870 * 60_000, 878 * 60_000),
    ("flapping", 1_200 * 60_000, 1_220 * 60_000),
];

/// How long after a trouble's end the last of its callers gives up.
const LAST_MS: u64 = 30_000;

/// When the breaker tripped and when it closed, in nanoseconds of the day, by a loop of its own.
fn by_hand(config: cutout::Config, calls: &[DemoCall]) -> (Vec<u64>, Vec<u64>) {
    let clock = ManualClock::new();
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let heard = events.clone();
    let first = calls[0].at_ms;
    clock.set(Duration::ZERO);
    let breaker = Breaker::builder()
        .config(config)
        .jitter_seed(0)
        .listener(move |event| heard.lock().unwrap().push(event.clone()))
        .clock(clock.clone())
        .build();
    let breaker = Arc::new(breaker.unwrap());
    let mut flights: Vec<(u64, DemoCall, OwnedPermit<ManualClock>)> = Vec::new();
    let settle = |flights: &mut Vec<(u64, DemoCall, OwnedPermit<ManualClock>)>, until: u64| {
        while let Some(next) = (0..flights.len()).min_by_key(|&index| flights[index].0) {
            if flights[next].0 > until {
                break;
            }
            let (end, call, permit) = flights.remove(next);
            clock.set(Duration::from_millis(end - first));
            permit.done(call.outcome());
        }
    };
    for call in calls {
        settle(&mut flights, call.at_ms);
        clock.set(Duration::from_millis(call.at_ms - first));
        if let Ok(permit) = breaker.allow_owned() {
            flights.push((call.at_ms + call.took_ms, *call, permit));
        }
    }
    settle(&mut flights, u64::MAX);
    let events = events.lock().unwrap();
    let at = |event: &&Event| event.at.as_nanos() as u64 + first * 1_000_000;
    let trips = events
        .iter()
        .filter(|event| event.from == State::Closed && event.to == State::Open);
    let closes = events.iter().filter(|event| event.to == State::Closed);
    (
        trips.map(|event| at(&event)).collect(),
        closes.map(|event| at(&event)).collect(),
    )
}

fn report() -> Report {
    let (calls, keys) = demo::calls();
    let kept = Kept {
        troubles: Some(demo::troubles()),
        slack: LAST_MS * 1_000_000,
    };
    let mut run = Run::new(demo::configs().unwrap(), kept, 1, 1).unwrap();
    run.feed(&calls);
    run.finish(Reading::of_calls(&calls), &keys, &demo::slow())
}

#[test]
fn delays_and_false_trips_are_those_of_the_script() {
    let calls: Vec<DemoCall> = demo::Day::new().collect();
    let report = report();
    for (index, (name, start, end)) in TROUBLES.into_iter().enumerate() {
        let trouble = &report.troubles[index];
        let of_day = |ns: i64| (ns / 1_000_000 - demo::BEGIN_MS) as u64;
        assert_eq!(
            (
                trouble.name.as_str(),
                of_day(trouble.start_ns),
                of_day(trouble.end_ns)
            ),
            (name, start, end)
        );
    }
    for (row, named) in report.configs.iter().zip(demo::configs().unwrap()) {
        let (trips, closes) = by_hand(named.guards.breaker.unwrap(), &calls);
        assert_eq!(row.trips.value, trips.len() as u64, "{}", row.name);
        let in_trouble = |at: &&u64| {
            TROUBLES.iter().any(|(_, start, end)| {
                (start * 1_000_000..=(end + LAST_MS) * 1_000_000).contains(*at)
            })
        };
        let false_trips = trips.len() - trips.iter().filter(in_trouble).count();
        assert_eq!(row.false_trips.value, false_trips as u64, "{}", row.name);
        for ((_, start, end), answer) in TROUBLES.into_iter().zip(&row.troubles) {
            let (start, end) = (start * 1_000_000, end * 1_000_000);
            let first = trips
                .iter()
                .find(|&&at| (start..=end + LAST_MS * 1_000_000).contains(&at));
            assert_eq!(answer.missed, first.is_none());
            assert_eq!(answer.trip_delay_ns, first.map(|at| at - start));
            // The breaker is open at the end if it tripped more often than it closed by then.
            let open = trips.iter().filter(|&&at| at < end).count()
                > closes.iter().filter(|&&at| at < end).count();
            if open {
                let closed = closes.iter().find(|&&at| at >= end).map(|at| at - end);
                assert_eq!(answer.close_delay_ns, closed, "{}", row.name);
            }
        }
    }
}

#[test]
fn the_demos_log_gives_the_table_that_its_calls_give() {
    let mut text = Vec::new();
    for (number, call) in (1..).zip(demo::Day::new()).take(150_000) {
        call.write(number, &mut text).unwrap();
    }
    let source = Source::Memory("log".into(), text.into());
    let options = Options {
        slow: demo::slow(),
        by: By::Upstream,
        ..Options::default()
    };
    let mut input = Input::open(&[source], options, &Progress::default()).unwrap();
    let mut read = Vec::new();
    while input.read(&mut read, 100_000).unwrap() {}
    assert_eq!(input.keys().name(0), demo::UPSTREAM);
    let (calls, _) = demo::calls();
    assert_eq!(read, calls[..150_000]);
}
