//! Recovery: a breaker whose upstream is well again closes, however long its calls take.

use std::sync::Arc;
use std::time::Duration;

use cutout::{Breaker, Clock, Config, ManualClock, OpenWait, OwnedPermit, Settled, Window};
use proptest::prelude::*;

/// An upstream that is well, and those who call it.
#[derive(Clone, Debug)]
struct Scene {
    /// How long the calls take, one after the other, over and over.
    lengths: Vec<Duration>,
    /// The time between two calls.
    interval: Duration,
    lease: Option<Duration>,
    max_probes: u32,
    successes_to_close: u32,
}

/// What it took to recover.
#[derive(Debug)]
struct Recovery {
    /// When each probe was admitted, from the first call after the wait on.
    probes: Vec<Duration>,
    closed: Duration,
}

impl Scene {
    fn longest(&self) -> Duration {
        *self.lengths.iter().max().unwrap()
    }

    /// Makes calls until the breaker is closed. `None` if it is not after so many.
    fn play(&self, most_calls: u32) -> Option<Recovery> {
        let clock = ManualClock::new();
        let wait = Duration::from_secs(10);
        let breaker = Breaker::builder()
            .config(Config::default().with(|config| {
                config.window = Window::count(1);
                config.min_calls = Some(1);
                config.open_wait = OpenWait::fixed(wait);
                config.probe_lease = self.lease;
                config.max_probes = self.max_probes;
                config.successes_to_close = self.successes_to_close;
            }))
            .clock(clock.clone())
            .build()
            .unwrap();
        let breaker = Arc::new(breaker);
        breaker.allow().unwrap().failure();
        clock.advance(wait);

        let start = clock.now();
        let now = || Duration::from_nanos(clock.now() - start);
        let mut lengths = self.lengths.iter().cycle();
        let mut in_flight: Vec<(Duration, OwnedPermit<ManualClock>)> = Vec::new();
        let mut probes = Vec::new();
        for call in 0..most_calls {
            let calls_at = self.interval * call;
            // Calls that end before this one, in their order.
            in_flight.sort_by_key(|(end, _)| *end);
            let ended = in_flight.partition_point(|(end, _)| *end <= calls_at);
            for (end, permit) in in_flight.drain(..ended) {
                clock.advance(end.saturating_sub(now()));
                if permit.success() == Settled::Closed {
                    let closed = now();
                    return Some(Recovery { probes, closed });
                }
            }
            clock.advance(calls_at - now());
            if let Ok(permit) = breaker.allow_owned() {
                assert!(permit.is_probe());
                probes.push(now());
                in_flight.push((now() + *lengths.next().unwrap(), permit));
            }
        }
        None
    }

    /// How many probes it takes at most.
    fn most_probes(&self) -> u128 {
        let generations = self.lease.map_or(1, |lease| {
            self.longest().as_nanos().div_ceil(lease.as_nanos()) + 1
        });
        u128::from(self.successes_to_close) + u128::from(self.max_probes) * generations
    }
}

fn between(shortest: Duration, longest: Duration) -> impl Strategy<Value = Duration> {
    // As many short ones as long ones, whatever their order of magnitude.
    (
        shortest.as_millis().ilog2()..=longest.as_millis().ilog2(),
        0.0..1.0,
    )
        .prop_map(|(power, part)| Duration::from_secs_f64(2f64.powf(f64::from(power) + part) / 1e3))
}

fn scene() -> impl Strategy<Value = Scene> {
    let millisecond = Duration::from_millis(1);
    let lengths = between(millisecond, Duration::from_secs(1800));
    let lease = between(Duration::from_millis(4), Duration::from_secs(300));
    (
        prop::collection::vec(lengths, 1..8),
        between(millisecond, Duration::from_secs(60)),
        prop_oneof![1 => Just(None), 6 => lease.prop_map(Some)],
        1u32..=4,
        1u32..=5,
    )
        .prop_map(
            |(lengths, interval, lease, max_probes, successes_to_close)| Scene {
                lengths,
                interval,
                lease,
                max_probes,
                successes_to_close,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// The bound that the docs of `Config::probe_lease` state.
    #[test]
    fn a_well_upstream_closes_the_breaker_within_the_bound(scene in scene()) {
        // Enough for the last of the probes needed to come back, if each had to wait for the one before.
        let longest = scene.longest().max(scene.lease.unwrap_or_default());
        let span = longest * (scene.successes_to_close + 2);
        let most_calls = (span.as_nanos() / scene.interval.as_nanos()) as u32 + 10 * scene.successes_to_close;
        prop_assume!(most_calls < 2_000_000);
        let recovery = scene.play(most_calls);
        prop_assert!(recovery.is_some(), "half-open for ever");
        let recovery = recovery.unwrap();
        prop_assert!(recovery.probes.len() as u128 <= scene.most_probes(), "{recovery:?}");
        let needed = recovery.probes[scene.successes_to_close as usize - 1];
        prop_assert!(recovery.closed <= needed + scene.longest(), "{recovery:?}");
    }
}

/// Six hours of a call a second that takes longer than the default lease.
#[test]
fn calls_of_90_seconds_close_a_breaker_whose_lease_is_60() {
    let scene = Scene {
        lengths: vec![Duration::from_secs(90)],
        interval: Duration::from_secs(1),
        lease: Config::default().probe_lease,
        max_probes: 1,
        successes_to_close: 1,
    };
    let recovery = scene.play(21_600).expect("closed within six hours");
    assert_eq!(recovery.closed, Duration::from_secs(90));
    assert_eq!(recovery.probes.len(), 2);
}

#[test]
fn a_hung_upstream_is_probed_once_a_lease_and_recovers_with_the_first_that_answers() {
    let hung = Duration::from_secs(3600);
    let scene = Scene {
        lengths: [vec![hung; 30], vec![Duration::from_millis(20)]].concat(),
        interval: Duration::from_secs(1),
        lease: Some(Duration::from_secs(60)),
        max_probes: 1,
        successes_to_close: 1,
    };
    let recovery = scene.play(21_600).expect("closed within six hours");
    assert_eq!(recovery.probes.len(), 31);
    assert_eq!(
        recovery.closed,
        Duration::from_secs(30 * 60) + Duration::from_millis(20)
    );
}
