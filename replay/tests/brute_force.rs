//! The replay against a plain count: one call after the other, no heap, no batches, no threads.

use std::time::Duration;

use cutout::{Breaker, Cause, Config, ManualClock, OwnedPermit, State};
use cutout_replay::configs::{Named, parse};
use cutout_replay::input::Reading;
use cutout_replay::report::{Kept, Run};
use cutout_replay::{Call, Keys, Slow};
use proptest::prelude::*;

const MS: i64 = 1_000_000;
const BEGIN: i64 = 1_767_571_200_000 * MS;

/// What the plain count finds of one key: `(made well, made bad, spared, lost, saved, trips)`.
type Found = (u64, u64, u64, u64, u64, u64);

struct Flight {
    end: i64,
    call: Call,
    permit: OwnedPermit<ManualClock>,
}

fn by_hand(calls: &[Call], config: Config, key: u32) -> Found {
    let clock = ManualClock::new();
    let set = |to: i64| clock.set(Duration::from_nanos((to - calls[0].start).unsigned_abs()));
    let own: Vec<Call> = calls
        .iter()
        .copied()
        .filter(|call| call.key == key)
        .collect();
    set(own[0].start);
    let breaker = Breaker::builder()
        .config(config)
        .totals(true)
        .clock(clock.clone())
        .build();
    let breaker = std::sync::Arc::new(breaker.unwrap());
    let mut flights: Vec<Flight> = Vec::new();
    let mut found = (0, 0, 0, 0, 0, 0);
    let settle = |flights: &mut Vec<Flight>, until: i64| {
        // The earliest, and of equals the one that was admitted first.
        while let Some(next) = (0..flights.len()).min_by_key(|&index| flights[index].end) {
            if flights[next].end > until {
                break;
            }
            let flight = flights.remove(next);
            set(flight.end);
            flight.permit.done(flight.call.outcome);
        }
    };
    for call in own {
        settle(&mut flights, call.start);
        set(call.start);
        match (breaker.allow_owned(), call.bad) {
            (Ok(permit), bad) => {
                *(if bad { &mut found.1 } else { &mut found.0 }) += 1;
                let end = call.start + call.took as i64;
                flights.push(Flight { end, call, permit });
                settle(&mut flights, call.start);
            }
            (Err(_), true) => {
                found.2 += 1;
                found.4 += call.took;
            }
            (Err(_), false) => found.3 += 1,
        }
    }
    settle(&mut flights, i64::MAX);
    let rules = [
        Cause::ConsecutiveFailures,
        Cause::FailureRatio,
        Cause::TimeoutRatio,
        Cause::SlowRatio,
    ];
    let totals = breaker.totals().unwrap();
    let trips = totals
        .transitions
        .iter()
        .filter(|(to, cause, _)| *to == State::Open && rules.contains(cause));
    found.5 = trips.map(|(_, _, count)| count).sum();
    found
}

prop_compose! {
    fn config()(
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
    ) -> Config {
        let (window, size) = window;
        let rule = if ratio == "'none'" && run == "'none'" { "1".to_owned() } else { run };
        let (min_calls, rule) = (min_calls.min(size), rule.parse::<u32>().map_or(rule.clone(), |run| run.min(size).to_string()));
        let text = format!(
            "window = {window}\nmin_calls = {min_calls}\nfailure_ratio = {ratio}\nconsecutive_failures = {rule}\nslow = {slow}\n\
             overdue = {overdue}\nopen_wait = '{wait}ms'\nmax_probes = {probes}\nsuccesses_to_close = {successes}\nprobe_lease = '700ms'\n"
        );
        parse("any", &text).unwrap()[0].config
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
        configs in prop::collection::vec(config(), 1..3),
        batch in 1_usize..200,
    ) {
        let mut keys = Keys::default();
        for key in ["a", "b", "c"] {
            keys.number(key);
        }
        let named = |(index, config): (usize, &Config)| Named { name: index.to_string(), config: *config };
        let configs_named = configs.iter().enumerate().map(named).collect();
        let mut run = Run::new(configs_named, Kept::default(), 1, 1).unwrap();
        for part in calls.chunks(batch) {
            run.feed(part);
        }
        let report = run.finish(Reading::of_calls(&calls), &keys, &Slow::default());
        for (row, config) in report.configs.iter().zip(&configs) {
            let mut trips = 0;
            for key in 0..3 {
                let mine = calls.iter().filter(|call| call.key == key);
                let sums = row.keys.get(keys.name(key)).copied().unwrap_or_default();
                prop_assert_eq!(sums.calls(), mine.clone().count() as u64);
                prop_assert_eq!(sums.made_bad + sums.spared, mine.clone().filter(|call| call.bad).count() as u64);
                if mine.count() == 0 {
                    continue;
                }
                let (well, bad, spared, lost, saved, opened) = by_hand(&calls, *config, key);
                let found = (sums.made_well, sums.made_bad, sums.spared, sums.lost, sums.saved_ns);
                prop_assert_eq!(found, (well, bad, spared, lost, saved), "{:?}", config);
                trips += opened;
            }
            prop_assert_eq!(row.trips.value, trips);
            let total = [row.made_well, row.made_bad, row.spared, row.lost].map(|of| of.value);
            prop_assert_eq!(total.iter().sum::<u64>(), calls.len() as u64);
        }
    }
}
