//! Real threads on a real breaker: what each call was answered must be what the
//! sequential model answers in some order of the calls.
//!
//! `CUTOUT_LINEARIZE_ROUNDS=1000000 cargo test --release --test linearizable` runs as many histories as it says.

mod histories;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use cutout::model::Model;
use cutout::{Breaker, Clock, OwnedPermit};

use histories::{Answer, Call, Op, Permits, Place, Program, Random, Search, on_breaker, on_model};

/// How many histories are recorded if nothing else is asked for.
const HISTORIES: u64 = 3_000;

#[test]
fn every_history_is_in_some_order_the_models() {
    let histories = std::env::var("CUTOUT_LINEARIZE_ROUNDS").map(|number| number.parse().unwrap());
    let mut overlapping = 0;
    for seed in 0..histories.unwrap_or(HISTORIES) {
        let program = Program::random(&mut Random::new(seed));
        let (start, calls) = Start::of(&program).record(&program, seed);
        overlapping += u64::from(calls.iter().any(|call| overlaps(call, &calls)));
        assert!(
            Search::new(&calls, start.now).succeeds_from(start.place),
            "seed {seed}: {program:#?}\nin no order: {calls:#?}"
        );
    }
    println!("{overlapping} histories with calls that overlap");
}

#[test]
fn a_history_that_is_in_no_order_is_refused() {
    for (end, legal) in [(1, false), (3, true)] {
        let config = cutout::Config::default().with(|config| {
            config.window = cutout::Window::count(1);
            config.min_calls = Some(1);
        });
        let call = |thread, op, answer, begin, end| Call {
            thread,
            op,
            answer,
            begin,
            end,
        };
        // An operator who has opened the breaker, and a state that does not know of it.
        let calls = [
            call(0, Op::ForceOpen(None), Answer::Nothing, 0, end),
            call(1, Op::State, Answer::State(cutout::State::Closed), 2, 4),
        ];
        let place = Place {
            model: Model::new(config, 0).unwrap(),
            permits: Permits::new(),
        };
        assert_eq!(Search::new(&calls, 0).succeeds_from(place), legal);
    }
}

fn overlaps(call: &Call, calls: &[Call]) -> bool {
    let together = |other: &Call| call.begin < other.end && other.begin < call.end;
    calls
        .iter()
        .any(|other| other.thread != call.thread && together(other))
}

/// A clock that moves only between histories. Reading it may let another thread
/// run: most of what a breaker does off its usual path reads the clock midway.
#[derive(Clone)]
struct YieldingClock(Arc<AtomicU64>);

impl Clock for YieldingClock {
    fn now(&self) -> u64 {
        maybe_yield();
        self.0.load(Ordering::Relaxed)
    }
}

thread_local! {
    static YIELDS: Cell<u64> = const { Cell::new(0) };
}

/// Lets another thread run, one time in four.
fn maybe_yield() {
    let next = Random::new(YIELDS.get()).next();
    YIELDS.set(next);
    if next.is_multiple_of(4) {
        thread::yield_now();
    }
}

/// What a program starts from: a breaker, and the model at the same point.
struct Start {
    breaker: Arc<Breaker<YieldingClock>>,
    permits: Permits<OwnedPermit<YieldingClock>>,
    place: Place,
    now: u64,
}

impl Start {
    /// Makes the calls that come before, one at a time.
    fn of(program: &Program) -> Self {
        let clock = YieldingClock(Arc::new(AtomicU64::new(0)));
        let breaker = Breaker::builder()
            .config(program.config)
            .clock(clock.clone());
        let breaker = Arc::new(breaker.build().expect("a legal config"));
        let mut permits = Permits::new();
        let mut place = Place {
            model: Model::new(program.config, 0).expect("a legal config"),
            permits: Permits::new(),
        };
        let mut now = Duration::ZERO;
        for (wait, op) in &program.before {
            now += *wait;
            let reading = now.as_nanos() as u64;
            clock.0.store(reading, Ordering::Relaxed);
            let answer = on_breaker(&breaker, op, &mut permits);
            let expected = on_model(&mut place.model, op, &mut place.permits, reading);
            assert_eq!(answer, expected, "{op:?}, one at a time");
        }
        place.model.take_events();
        Self {
            breaker,
            permits,
            place,
            now: now.as_nanos() as u64,
        }
    }

    /// Lets the threads loose and gives the calls they made, and one last look.
    fn record(mut self, program: &Program, seed: u64) -> (Self, Vec<Call>) {
        let (time, ready) = (AtomicU64::new(0), AtomicUsize::new(0));
        let mut calls = thread::scope(|scope| {
            let (breaker, time, ready) = (&self.breaker, &time, &ready);
            let threads = program.threads.iter().enumerate().map(|(number, ops)| {
                let held = ops.iter().filter_map(Op::uses);
                let permits: BTreeMap<_, _> = held
                    .filter_map(|permit| self.permits.remove_entry(&permit))
                    .collect();
                scope.spawn(move || {
                    YIELDS.set(seed ^ number as u64);
                    ready.fetch_add(1, Ordering::Relaxed);
                    while ready.load(Ordering::Relaxed) < program.threads.len() {
                        thread::yield_now();
                    }
                    make_calls(number, ops, breaker, permits, time)
                })
            });
            let threads: Vec<_> = threads.collect();
            let calls = threads.into_iter().map(|thread| thread.join().unwrap());
            calls.flatten().collect::<Vec<_>>()
        });
        let looks = [Op::Snapshot, Op::Config, Op::Stale];
        calls.extend(make_calls(
            program.threads.len(),
            &looks,
            &self.breaker,
            Permits::new(),
            &time,
        ));
        (self, calls)
    }
}

fn make_calls(
    thread: usize,
    ops: &[Op],
    breaker: &Arc<Breaker<YieldingClock>>,
    mut permits: Permits<OwnedPermit<YieldingClock>>,
    time: &AtomicU64,
) -> Vec<Call> {
    let calls = ops.iter().map(|op| {
        maybe_yield();
        let begin = time.fetch_add(1, Ordering::AcqRel);
        let answer = on_breaker(breaker, op, &mut permits);
        let end = time.fetch_add(1, Ordering::AcqRel);
        Call {
            thread,
            op: *op,
            answer,
            begin,
            end,
        }
    });
    let calls = calls.collect();
    // They settle when all is over, which the history does not go into.
    permits.into_values().for_each(std::mem::forget);
    calls
}
