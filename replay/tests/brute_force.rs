//! The replay against a plain count: one call after the other, no heap, no batches, no threads.

use std::sync::Arc;
use std::time::Duration;

use cutout::{
    AnyPermit, Breaker, Cause, ManualClock, OwnedPermit, OwnedThrottlePermit, Rejected, State,
    Throttle,
};
use cutout_replay::configs::{Guards, Named, parse};
use cutout_replay::input::Reading;
use cutout_replay::report::{Kept, Run};
use cutout_replay::{Call, Keys, Slow};
use proptest::prelude::*;

const MS: i64 = 1_000_000;
const BEGIN: i64 = 1_767_571_200_000 * MS;

/// What the plain count finds of one key.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Found {
    made_well: u64,
    made_bad: u64,
    spared: u64,
    lost: u64,
    saved: u64,
    throttled: u64,
    ramped: u64,
    trips: u64,
}

type Permits = (
    Option<OwnedPermit<ManualClock>>,
    Option<OwnedThrottlePermit<ManualClock>>,
);

struct Flight {
    end: i64,
    call: Call,
    permits: Permits,
}

/// A breaker and a throttle as their guide says that they are asked.
struct Pair {
    breaker: Option<Arc<Breaker<ManualClock>>>,
    throttle: Option<Arc<Throttle<ManualClock>>>,
}

impl Pair {
    fn new(guards: Guards, clock: &ManualClock, key: u32) -> Self {
        let seed = u64::from(key);
        let breaker = guards.breaker.map(|config| {
            let builder = Breaker::builder().config(config).totals(true);
            let builder = builder.jitter_seed(seed).clock(clock.clone());
            Arc::new(builder.build().unwrap())
        });
        let throttle = guards.throttle.map(|config| {
            let builder = Throttle::builder().config(config).clock(clock.clone());
            Arc::new(builder.seed(seed).build().unwrap())
        });
        Self { breaker, throttle }
    }

    fn ask(&self) -> Result<Permits, Rejected> {
        if let Some(refused) = self.breaker.as_ref().and_then(|breaker| breaker.refusal()) {
            return Err(refused);
        }
        let second = self
            .throttle
            .as_ref()
            .map(|throttle| throttle.allow_owned());
        let second = second.transpose()?;
        match self.breaker.as_ref().map(|breaker| breaker.allow_owned()) {
            None => Ok((None, second)),
            Some(Ok(first)) => Ok((Some(first), second)),
            Some(Err(rejected)) => {
                if let Some(permit) = second {
                    permit.withdraw();
                }
                Err(rejected)
            }
        }
    }
}

fn by_hand(calls: &[Call], guards: Guards, key: u32) -> Found {
    let clock = ManualClock::new();
    let set = |to: i64| clock.set(Duration::from_nanos((to - calls[0].start).unsigned_abs()));
    let own: Vec<Call> = calls
        .iter()
        .copied()
        .filter(|call| call.key == key)
        .collect();
    set(own[0].start);
    let pair = Pair::new(guards, &clock, key);
    let mut flights: Vec<Flight> = Vec::new();
    let mut found = Found::default();
    let settle = |flights: &mut Vec<Flight>, until: i64| {
        // The earliest, and of equals the one that was admitted first.
        while let Some(next) = (0..flights.len()).min_by_key(|&index| flights[index].end) {
            if flights[next].end > until {
                break;
            }
            let flight = flights.remove(next);
            set(flight.end);
            if let Some(permit) = flight.permits.1 {
                permit.done(flight.call.outcome);
            }
            if let Some(permit) = flight.permits.0 {
                permit.done(flight.call.outcome);
            }
        }
    };
    for call in own {
        settle(&mut flights, call.start);
        set(call.start);
        let asked = pair.ask();
        match asked.as_ref().map_err(Rejected::cause) {
            Err(Cause::Throttled) => found.throttled += 1,
            Err(Cause::Ramping) => found.ramped += 1,
            _ => {}
        }
        match (asked, call.bad) {
            (Ok(permits), bad) => {
                *(if bad {
                    &mut found.made_bad
                } else {
                    &mut found.made_well
                }) += 1;
                let end = call.start + call.took as i64;
                flights.push(Flight { end, call, permits });
                settle(&mut flights, call.start);
            }
            (Err(_), true) => {
                found.spared += 1;
                found.saved += call.took;
            }
            (Err(_), false) => found.lost += 1,
        }
    }
    settle(&mut flights, i64::MAX);
    let rules = [
        Cause::ConsecutiveFailures,
        Cause::FailureRatio,
        Cause::TimeoutRatio,
        Cause::SlowRatio,
    ];
    let totals = pair.breaker.and_then(|breaker| breaker.totals());
    let transitions = totals.iter().flat_map(|totals| totals.transitions.iter());
    let trips = transitions.filter(|(to, cause, _)| *to == State::Open && rules.contains(cause));
    found.trips = trips.map(|(_, _, count)| count).sum();
    found
}

prop_compose! {
    fn guards()(
        window in prop_oneof![
            (1_u32..30).prop_map(|size| (format!("{{ count = {size} }}"), size)),
            (1_u32..20, 1_u32..10).prop_map(|(hundreds, buckets)| (format!("{{ time = '{}ms', buckets = {buckets} }}", hundreds * 100), 100)),
        ],
        min_calls in 1_u32..10,
        ratio in prop_oneof![Just("'none'".to_owned()), (1_u32..=10).prop_map(|tenths| (f64::from(tenths) / 10.0).to_string())],
        run in prop_oneof![Just("'none'".to_owned()), (1_u32..8).prop_map(|run| run.to_string())],
        slow in prop_oneof![Just("'none'".to_owned()), (1_u32..300).prop_map(|ms| format!("{{ limit = '{ms}ms', ratio = 0.5 }}"))],
        overdue in prop_oneof![Just("'none'".to_owned()), (1_u32..300).prop_map(|ms| format!("'{ms}ms'"))],
        wait in 1_u32..2_000,
        probes in 1_u32..4,
        successes in 1_u32..4,
        ramp in prop_oneof![Just("'none'".to_owned()), (1_u32..4_000).prop_map(|ms| format!("'{ms}ms'"))],
        stages in prop_oneof![
            Just("'none'".to_owned()),
            (1_u32..4, 2_u32..4, 0_u32..9, 1_u32..=10).prop_map(|(first, growth, more, tenths)| {
                format!("{{ first = {first}, growth = {growth}, until = {}, failure_ratio = {} }}",
                    first + more, f64::from(tenths) / 10.0)
            }),
        ],
        throttle in prop_oneof![
            Just(None),
            (1_u32..20, 1_u32..10, 10_u32..40, 1_u32..50).prop_map(|(hundreds, buckets, k, probes)| Some(format!(
                "{{ length = '{}ms', buckets = {buckets}, k = {}, probes_per_second = {} }}",
                hundreds * 100, f64::from(k) / 10.0, f64::from(probes) / 10.0
            ))),
        ],
        alone in prop::bool::weighted(0.3),
    ) -> Guards {
        let (window, size) = window;
        let rule = if ratio == "'none'" && run == "'none'" { "1".to_owned() } else { run };
        let (min_calls, rule) = (min_calls.min(size), rule.parse::<u32>().map_or(rule.clone(), |run| run.min(size).to_string()));
        let text = format!(
            "window = {window}\nmin_calls = {min_calls}\nfailure_ratio = {ratio}\nconsecutive_failures = {rule}\nslow = {slow}\n\
             overdue = {overdue}\nopen_wait = '{wait}ms'\nmax_probes = {probes}\nsuccesses_to_close = {successes}\nprobe_lease = '700ms'\n\
             ramp = {ramp}\nstages = {stages}\n"
        );
        let text = match throttle {
            Some(throttle) if alone => format!("breaker = 'none'\nthrottle = {throttle}\n"),
            Some(throttle) => format!("{text}throttle = {throttle}\n"),
            None => text,
        };
        parse("any", &text).unwrap()[0].guards
    }
}

prop_compose! {
    /// Calls of three keys; some begin at once, some take no time, and their kinds come in runs.
    fn traffic()(
        calls in prop::collection::vec((0_u64..120, prop_oneof![Just(0_u64), 1_u64..900], 0_u32..3, 0_u8..10), 1..400),
        ill in prop::collection::vec(any::<bool>(), 8),
    ) -> Vec<Call> {
        use cutout::Outcome::{Failure, Ignored, Success, Timeout};
        let mut start = BEGIN;
        let mut all = Vec::new();
        for (index, (pause, took, key, kind)) in calls.into_iter().enumerate() {
            start += pause as i64 * MS;
            let outcome = match (ill[index / 50], kind) {
                (true, 0..6) | (false, 0) => Failure,
                (true, 6) => Timeout,
                (_, 9) => Ignored,
                _ => Success,
            };
            let bad = matches!(outcome, Failure | Timeout) || took >= 800;
            all.push(Call { start, took: took * MS as u64, key, outcome, label: 0, bad });
        }
        all
    }
}

proptest! {
    #[test]
    fn the_reports_sums_are_those_of_a_plain_count_and_each_call_is_in_one_of_four(
        calls in traffic(),
        all in prop::collection::vec(guards(), 1..3),
        batch in 1_usize..200,
    ) {
        let mut keys = Keys::default();
        for key in ["a", "b", "c"] {
            keys.number(key);
        }
        let named = |(index, guards): (usize, &Guards)| Named { name: index.to_string(), guards: *guards };
        let named = all.iter().enumerate().map(named).collect();
        let mut run = Run::new(named, Kept::default(), 1, 1).unwrap();
        for part in calls.chunks(batch) {
            run.feed(part);
        }
        let report = run.finish(Reading::of_calls(&calls), &keys, &Slow::default());
        for (row, guards) in report.configs.iter().zip(&all) {
            let (mut trips, mut ramped, mut throttled) = (0, 0, 0);
            for key in 0..3 {
                let mine = calls.iter().filter(|call| call.key == key);
                let sums = row.keys.get(keys.name(key)).copied().unwrap_or_default();
                prop_assert_eq!(sums.calls(), mine.clone().count() as u64);
                prop_assert_eq!(sums.made_bad + sums.spared, mine.clone().filter(|call| call.bad).count() as u64);
                if mine.count() == 0 {
                    continue;
                }
                let expected = by_hand(&calls, *guards, key);
                let found = Found {
                    made_well: sums.made_well,
                    made_bad: sums.made_bad,
                    spared: sums.spared,
                    lost: sums.lost,
                    saved: sums.saved_ns,
                    throttled: sums.throttled,
                    ramped: sums.ramped,
                    trips: expected.trips,
                };
                prop_assert_eq!(found, expected, "{:?}", guards);
                trips += expected.trips;
                ramped += expected.ramped;
                throttled += expected.throttled;
            }
            prop_assert_eq!(row.trips.value, trips);
            prop_assert_eq!((row.ramped.value, row.throttled.value), (ramped, throttled));
            prop_assert!(ramped + throttled <= row.spared.value + row.lost.value);
            let total = [row.made_well, row.made_bad, row.spared, row.lost].map(|of| of.value);
            prop_assert_eq!(total.iter().sum::<u64>(), calls.len() as u64);
        }
    }
}
