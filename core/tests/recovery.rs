//! Recovery: a breaker whose upstream is well again closes, however long its calls take.

use std::sync::Arc;
use std::time::Duration;

use cutout::{Breaker, Clock, Config, ManualClock, OpenWait, OwnedPermit, Settled, Stages, Window};
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
    stages: Option<Stages>,
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
                config.stages = self.stages;
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

    /// How many probes the stages admit, one after the other.
    fn quotas(stages: Stages) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(stages.first), move |&quota| {
            (quota < stages.until).then(|| (quota * stages.growth).min(stages.until))
        })
    }

    /// How many have to come back well for the breaker to close.
    fn needed(&self) -> u32 {
        let Some(stages) = self.stages else {
            return self.successes_to_close;
        };
        // So many of each that the share of bad ones is not reached, were all the others bad.
        let of_stage = |quota: u32| {
            let is_enough =
                |good: &u32| f64::from(quota - good) / f64::from(quota) < stages.failure_ratio;
            (1..=quota).find(is_enough).unwrap()
        };
        Self::quotas(stages).map(of_stage).sum()
    }

    /// How many probes it takes at most.
    fn most_probes(&self) -> u128 {
        let generations = self.lease.map_or(1, |lease| {
            self.longest().as_nanos().div_ceil(lease.as_nanos()) + 1
        });
        let (outcomes, quota) = match self.stages {
            None => (self.successes_to_close, self.max_probes),
            Some(stages) => (Self::quotas(stages).sum(), stages.until),
        };
        u128::from(outcomes) + u128::from(quota) * generations
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
        prop::option::of(stages()),
    )
        .prop_map(
            |(lengths, interval, lease, max_probes, successes_to_close, stages)| Scene {
                lengths,
                interval,
                lease,
                max_probes,
                successes_to_close,
                stages,
            },
        )
}

fn stages() -> impl Strategy<Value = Stages> {
    let until = prop_oneof![8 => 1u32..=8, 1 => Just(64)];
    let share = (1u32..=10).prop_map(|tenths| f64::from(tenths) / 10.0);
    (any::<prop::sample::Index>(), 2u32..=4, until, share).prop_map(
        |(first, growth, until, failure_ratio)| Stages {
            first: 1 + first.index(until as usize) as u32,
            growth,
            until,
            failure_ratio,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// The bound that the docs of `Config::probe_lease` state, also by stages.
    #[test]
    fn a_well_upstream_closes_the_breaker_within_the_bound(scene in scene()) {
        // Enough for the last of the probes needed to come back, if each had to wait for the one before.
        let longest = scene.longest().max(scene.lease.unwrap_or_default());
        let span = longest * (scene.needed() + 2);
        let most_calls = (span.as_nanos() / scene.interval.as_nanos()) as u32 + 10 * scene.needed();
        prop_assume!(most_calls < 500_000);
        let recovery = scene.play(most_calls);
        prop_assert!(recovery.is_some(), "half-open for ever");
        let recovery = recovery.unwrap();
        prop_assert!(recovery.probes.len() as u128 <= scene.most_probes(), "{recovery:?}");
        let needed = recovery.probes[scene.needed() as usize - 1];
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
        stages: None,
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
        stages: None,
    };
    let recovery = scene.play(21_600).expect("closed within six hours");
    assert_eq!(recovery.probes.len(), 31);
    assert_eq!(
        recovery.closed,
        Duration::from_secs(30 * 60) + Duration::from_millis(20)
    );
}
