//! Totals of calls, for breakers that are asked to count them.
//!
//! A healthy call writes nothing that another thread writes, and it must stay so when it
//! is counted. So each thread counts on a shard of its own, as long as there are no more
//! threads than shards.
//!
//! All accesses are relaxed: the counts order nothing, and a total is a sum of counts that were read one after another.

use alloc::boxed::Box;

use crate::contract::outcome::Outcome;
use crate::contract::state::{Cause, State};
use crate::contract::totals::{Endings, Rejections, Totals};
use crate::engine::sync::{AtomicU64, Relaxed};

/// How a permit ended, as the index of its counter.
#[derive(Clone, Copy)]
pub(crate) struct Ending(usize);

impl Ending {
    const ALL: usize = 6;
    pub(crate) const ABANDONED: Self = Self(5);

    #[inline]
    pub(crate) const fn of(outcome: Outcome) -> Self {
        Self(match outcome {
            Outcome::Success => 0,
            Outcome::Failure => 1,
            Outcome::Timeout => 2,
            Outcome::Ignored => 3,
            Outcome::Answered => 4,
        })
    }
}

/// The counters that a thread shares with few others or none.
// Processors that fetch lines in pairs make it 128 bytes.
#[derive(Default)]
#[repr(align(128))]
struct Shard {
    /// Of normal calls, and of probes.
    endings: [[AtomicU64; Ending::ALL]; 2],
    rejections: [AtomicU64; 4],
}

pub(crate) struct Counters {
    /// As many as a power of two.
    shards: Box<[Shard]>,
    /// By cause, and by the state after.
    transitions: [[AtomicU64; State::ALL.len()]; Cause::ALL.len()],
}

impl Counters {
    pub(crate) fn new() -> Self {
        Self {
            shards: (0..shards()).map(|_| Shard::default()).collect(),
            transitions: Default::default(),
        }
    }

    fn shard(&self) -> &Shard {
        &self.shards[thread() & (self.shards.len() - 1)]
    }

    // Cold, so that calls which nobody counts stay as they are.
    #[cold]
    #[inline(never)]
    pub(crate) fn count_ending(&self, ending: Ending, is_probe: bool) {
        // Relaxed: a count orders nothing.
        self.shard().endings[usize::from(is_probe)][ending.0].fetch_add(1, Relaxed);
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn count_rejection(&self, state: State) {
        let index = match state {
            State::HalfOpen => 1,
            State::ForcedOpen => 2,
            State::Closed | State::ObserveOnly => 3,
            _ => 0,
        };
        // Relaxed: a count orders nothing.
        self.shard().rejections[index].fetch_add(1, Relaxed);
    }

    pub(crate) fn count_transition(&self, to: State, cause: Cause) {
        // Relaxed: a count orders nothing.
        self.transitions[cause as usize][to as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn totals(&self) -> Totals {
        // Relaxed, here and below: the counts are of about the same time, by no order.
        let sum = |counter: &dyn Fn(&Shard) -> &AtomicU64| {
            let each = self.shards.iter().map(|shard| counter(shard).load(Relaxed));
            each.fold(0, u64::wrapping_add)
        };
        let endings = |kind: usize| {
            let ending = |index: usize| sum(&|shard| &shard.endings[kind][index]);
            Endings {
                success: ending(0),
                failure: ending(1),
                timeout: ending(2),
                ignored: ending(3),
                answered: ending(4),
                abandoned: ending(5),
            }
        };
        let rejections = |index: usize| sum(&|shard| &shard.rejections[index]);
        let transitions = Cause::ALL.iter().flat_map(|&cause| {
            State::ALL.iter().map(move |&to| {
                let count = &self.transitions[cause as usize][to as usize];
                // Relaxed: as above.
                (to, cause, count.load(Relaxed))
            })
        });
        Totals {
            calls: endings(0),
            probes: endings(1),
            rejections: Rejections {
                open: rejections(0),
                half_open: rejections(1),
                forced_open: rejections(2),
                closed: rejections(3),
            },
            transitions: transitions.filter(|&(_, _, count)| count > 0).collect(),
        }
    }
}

/// More shards than processors, within reason: threads that are numbered alike may run at a time.
fn shards() -> usize {
    #[cfg(feature = "std")]
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    #[cfg(not(feature = "std"))]
    let processors = 1_usize;
    (4 * processors).next_power_of_two().min(128)
}

/// The number of the present thread: each thread takes the next one at its first count.
#[cfg(feature = "std")]
fn thread() -> usize {
    use core::cell::Cell;
    use core::sync::atomic::AtomicUsize;

    static NEXT: AtomicUsize = AtomicUsize::new(0);
    std::thread_local! {
        static NUMBER: Cell<Option<usize>> = const { Cell::new(None) };
    }
    // A thread that is going away may have lost its number.
    NUMBER
        .try_with(|number| {
            number.get().unwrap_or_else(|| {
                // Relaxed: it orders nothing; each thread gets another number.
                let new = NEXT.fetch_add(1, Relaxed);
                number.set(Some(new));
                new
            })
        })
        .unwrap_or(0)
}

#[cfg(not(feature = "std"))]
fn thread() -> usize {
    0
}
