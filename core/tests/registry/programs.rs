//! Random programs of use, failures, sweeps and time: what may be evicted, must be kept, must go.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use cutout::registry::{Registry, RegistryError};
use cutout::{Breaker, ManualClock, OpenWait, OwnedPermit, State};
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::{IDLE, builder, config};

const KEYS: u8 = 8;

#[derive(Clone, Debug)]
enum Op {
    Get(u8),
    Use(u8),
    Hold(u8),
    LetGo(usize),
    TakePermit(u8),
    Settle(usize, bool),
    Fail(u8),
    Close(u8),
    Sweep,
    /// So many tenths of the idle time pass.
    Wait(u32),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        2 => (0..KEYS).prop_map(Op::Get),
        4 => (0..KEYS).prop_map(Op::Use),
        1 => (0..KEYS).prop_map(Op::Hold),
        2 => any::<usize>().prop_map(Op::LetGo),
        1 => (0..KEYS).prop_map(Op::TakePermit),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(permit, fails)| Op::Settle(permit, fails)),
        1 => (0..KEYS).prop_map(Op::Fail),
        1 => (0..KEYS).prop_map(Op::Close),
        3 => Just(Op::Sweep),
        3 => (1..15_u32).prop_map(Op::Wait),
    ]
}

/// What is known of a key's breaker, without holding it.
struct Known {
    breaker: Weak<Breaker<ManualClock>>,
    last_used: Duration,
    is_closed: bool,
}

struct Run {
    clock: ManualClock,
    now: Duration,
    registry: Registry<String, ManualClock>,
    max_keys: usize,
    known: HashMap<u8, Known>,
    held: Vec<(u8, Arc<Breaker<ManualClock>>)>,
    permits: Vec<(u8, OwnedPermit<ManualClock>)>,
}

impl Run {
    fn new(max_keys: usize) -> Self {
        let clock = ManualClock::new();
        let mut config = config(max_keys);
        // What opens stays open until it is closed.
        config.breaker.open_wait = OpenWait::fixed(Duration::MAX);
        Self {
            registry: builder(&clock, max_keys).config(config).build().unwrap(),
            now: Duration::ZERO,
            max_keys,
            known: HashMap::new(),
            held: Vec::new(),
            permits: Vec::new(),
            clock,
        }
    }

    fn step(&mut self, op: &Op) {
        match *op {
            Op::Get(key) => {
                let got = self.registry.get(&key.to_string());
                let known = self.known.get_mut(&key);
                let alive = known.and_then(|known| {
                    let alive = known.breaker.upgrade()?;
                    known.last_used = self.now;
                    Some(alive)
                });
                assert_eq!(
                    got.map(|got| Arc::as_ptr(&got)),
                    alive.map(|alive| Arc::as_ptr(&alive))
                );
            }
            Op::Use(key) => drop(self.make(key)),
            Op::Hold(key) => {
                if let Some(breaker) = self.make(key) {
                    self.held.push((key, breaker));
                }
            }
            Op::LetGo(held) if !self.held.is_empty() => {
                let (key, _) = self.held.swap_remove(held % self.held.len());
                self.touch(key);
            }
            Op::TakePermit(key) => {
                let permit = self
                    .make(key)
                    .and_then(|breaker| breaker.allow_owned().ok());
                self.permits.extend(permit.map(|permit| (key, permit)));
            }
            Op::Settle(permit, fails) if !self.permits.is_empty() => {
                let (key, permit) = self.permits.swap_remove(permit % self.permits.len());
                if fails {
                    permit.failure()
                } else {
                    permit.success()
                };
                self.touch(key);
            }
            Op::LetGo(_) | Op::Settle(..) => {}
            Op::Fail(key) => {
                if let Some(Ok(permit)) = self.make(key).map(|breaker| breaker.allow_owned()) {
                    permit.failure();
                    self.touch(key);
                }
            }
            Op::Close(key) => {
                if let Some(breaker) = self.make(key) {
                    breaker.close("test");
                    drop(breaker);
                    self.touch(key);
                }
            }
            Op::Sweep => drop(self.registry.sweep()),
            Op::Wait(tenths) => {
                self.clock.advance(IDLE / 10 * tenths);
                self.now += IDLE / 10 * tenths;
            }
        }
        self.check();
    }

    /// The breaker of a key, made if it has none. `None` if the registry is full, rightly.
    fn make(&mut self, key: u8) -> Option<Arc<Breaker<ManualClock>>> {
        let breaker = match self.registry.get_or_create(&key.to_string()) {
            Ok(breaker) => breaker,
            Err(RegistryError::Full { .. }) => {
                assert_eq!(self.registry.len(), self.max_keys);
                return None;
            }
            Err(other) => panic!("{other}"),
        };
        let known = self
            .known
            .get(&key)
            .and_then(|known| known.breaker.upgrade());
        if let Some(known) = known {
            assert!(Arc::ptr_eq(&known, &breaker), "two breakers of one key");
        }
        let known = Known {
            breaker: Arc::downgrade(&breaker),
            last_used: self.now,
            is_closed: breaker.state() == State::Closed,
        };
        self.known.insert(key, known);
        Some(breaker)
    }

    fn touch(&mut self, key: u8) {
        let known = self.known.get_mut(&key).unwrap();
        known.last_used = self.now;
        known.is_closed = known
            .breaker
            .upgrade()
            .is_some_and(|breaker| breaker.state() == State::Closed);
    }

    fn is_in_use(&self, key: u8) -> bool {
        self.held.iter().any(|(held, _)| *held == key)
            || self.permits.iter().any(|(held, _)| *held == key)
    }

    /// What must be there is there, and there is not too much.
    fn check(&self) {
        let is_roomy = self.max_keys > usize::from(KEYS);
        for (&key, known) in &self.known {
            let is_recent = is_roomy && known.last_used + IDLE > self.now;
            if self.is_in_use(key) || !known.is_closed || is_recent {
                assert!(known.breaker.strong_count() > 0, "{key} was evicted");
            }
        }
        let alive = self
            .known
            .values()
            .filter(|known| known.breaker.strong_count() > 0);
        assert_eq!(alive.count(), self.registry.len());
        assert!(self.registry.len() <= self.max_keys);
    }

    /// In the end all that is idle goes, and nothing else.
    fn finish(mut self) {
        for _ in 0..3 {
            self.step(&Op::Sweep);
            self.step(&Op::Wait(10));
        }
        self.step(&Op::Sweep);
        for (&key, known) in &self.known {
            let stays = known.breaker.strong_count() > 0;
            let must_stay = self.is_in_use(key) || !known.is_closed;
            // A breaker that had gone before may have been open in another life.
            assert!(!stays || must_stay, "{key} should have been evicted");
        }
    }
}

proptest! {
    #![proptest_config(Config {
        cases: 300,
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn breakers_are_kept_while_they_may_be_missed_and_go_when_not(
        is_roomy in any::<bool>(),
        program in prop::collection::vec(op(), 1..150),
    ) {
        let mut run = Run::new(if is_roomy { 100 } else { 4 });
        program.iter().for_each(|op| run.step(op));
        run.finish();
    }
}
