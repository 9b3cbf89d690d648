//! A breaker's state as a plain value, to look at or to carry over a restart.

use alloc::vec::Vec;
use core::time::Duration;

use crate::contract::config::Window;
use crate::contract::evidence::Evidence;
use crate::contract::outcome::{Counts, Sample};
use crate::contract::state::{Cause, State};

/// The state of a breaker at one moment.
///
/// All fields belong to one state that existed: a snapshot never mixes two.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The state, as [`Breaker::state`](crate::Breaker::state) reads it.
    pub state: State,
    /// The generation.
    pub generation: u32,
    /// What opened the breaker; `None` unless it is open, half-open or forced open.
    pub cause: Option<Cause>,
    /// Why it is not closed; see [`Breaker::evidence`](crate::Breaker::evidence).
    pub evidence: Evidence,
    /// The time left until a probe may be admitted, `None` unless the breaker
    /// is open, or forced open with an end.
    pub remaining: Option<Duration>,
    /// How often the breaker has re-opened from half-open since it tripped, for whatever reason;
    /// counted to 127. Operator states keep it; a close sets it to zero.
    pub attempt: u32,
    /// What an operator's action has interrupted; `None` unless the state is an operator's.
    pub interrupted: Option<Interrupted>,
    /// Probes unsettled whose lease has not been lost; zero unless half-open.
    pub probes_out: u32,
    /// Probes passed in this half-open period, or in this stage of it.
    pub probes_passed: u32,
    /// Probes of this stage that failed, timed out or were slow; zero unless the breaker recovers by
    /// [`Stages`](crate::Stages), since otherwise one of them opens it again.
    pub probes_failed: u32,
    /// Probes without a verdict in this half-open period, or in this stage of it.
    pub probes_inconclusive: u32,
    /// Which of its [`Stages`](crate::Stages) half-open is in, from 1; zero without them, and in other states.
    pub stage: u32,
    /// How long it goes on to refuse a share of the calls after its recovery; `None` unless it is closed and does. See
    /// [`Config::ramp`](crate::Config::ramp).
    pub ramp_left: Option<Duration>,
    /// The window's shape.
    pub window: Window,
    /// What a count window holds, oldest first; empty unless closed or observe-only.
    pub samples: Vec<Sample>,
    /// What a time window holds, oldest first, without empty buckets; empty
    /// unless closed or observe-only.
    pub buckets: Vec<Bucket>,
    /// How many failures have come in a row, as far as a time window or one of scores counts
    /// them: for its rule on consecutive failures. Otherwise zero.
    pub failures_in_a_row: u32,
    /// What a window of scores holds; zero unless closed or observe-only.
    pub scores: Scores,
    /// The wall-clock time at which it was taken, since the Unix epoch; zero
    /// when the clock does not know it.
    pub taken: Duration,
}

/// What [`Breaker::resume`](crate::Breaker::resume) goes back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interrupted {
    /// Closed, open or half-open. Open reads as half-open once its wait is over.
    pub state: State,
    /// What had opened the breaker; `None` if it was closed.
    pub cause: Option<Cause>,
    /// The time left of the open wait; `None` unless it is open.
    pub remaining: Option<Duration>,
}

/// What a time window holds of one stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bucket {
    /// How long before the snapshot that stretch began.
    pub age: Duration,
    /// How many outcomes of each kind came in it.
    pub counts: Counts,
}

/// What a window of scores holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scores {
    /// The score on failures.
    pub failures: HeldScore,
    /// The score on slow calls.
    pub slow: HeldScore,
}

/// A score at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HeldScore {
    /// How high it is; at most its limit.
    pub value: u32,
    /// For how long it has been above zero, to the millisecond; `None` if it is not, if none has raised
    /// it since a head start, or if the config does not ask.
    pub above_zero: Option<Duration>,
    /// How long ago it was raised, to the millisecond; `None` as above.
    pub raised: Option<Duration>,
}

impl Snapshot {
    /// How old a snapshot may be for its count window to be of use to a breaker that is restored: an
    /// hour. The same goes for [`failures_in_a_row`](Self::failures_in_a_row). Neither has the times of its
    /// outcomes, so that they are as old as the snapshot at least. A time window has them, and leaves out what
    /// is older than its length.
    pub const MAX_AGE: Duration = Duration::from_secs(3600);

    /// How many outcomes of each kind the window holds.
    pub fn counts(&self) -> Counts {
        let samples = self.samples.iter();
        let counts = samples.fold(Counts::default(), |counts, &sample| counts.with(sample));
        let buckets = self.buckets.iter();
        buckets.fold(counts, |counts, bucket| counts.plus(bucket.counts))
    }
}
