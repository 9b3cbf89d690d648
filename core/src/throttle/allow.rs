//! Admission and settling: one load of a word while nothing is refused, one change of a cell.
//!
//! The timeline's quiet mark decides. It is *loud* while there may be something to refuse: then a call that asks
//! looks at the window itself, and who settles need not. It is *quiet* while there is nothing: then a call that asks
//! sees that and no more, and who settles looks whether that has changed. The mark is written by who finds that it says the
//! wrong thing, after which it looks again.

use alloc::sync::Arc;

use crate::breaker::gate::Gate;
use crate::breaker::rejected::{Rejected, TimeLeft};
use crate::breaker::token::Dropped;
use crate::contract::clock::Clock;
use crate::contract::outcome::{Counts, Outcome, Report, Settled};
use crate::contract::state::Cause;
use crate::contract::throttle::Share;
use crate::engine::sync::Relaxed;
use crate::engine::window::count::Kind;
use crate::engine::window::time::Counted;
use crate::engine::word::Word;
use crate::throttle::Throttle;
use crate::throttle::permit::{Admission, OwnedThrottlePermit, ThrottlePermit};

/// A throttle's timeline has one config and one generation.
pub(super) const SIDE: usize = 0;
pub(super) const GENERATION: u32 = 0;

/// What a refused call is counted as: no call of a throttle is slow otherwise.
const REFUSED: Kind = Kind::SLOW_SUCCESS;

/// The share that follows from what the window holds.
pub(super) fn share_of(counts: Counts, k: f64) -> Share {
    let accepts = counts
        .samples
        .saturating_sub(counts.failures)
        .saturating_sub(counts.slow);
    Share::of(counts.samples, accepts, counts.failures, k)
}

impl<C: Clock> Throttle<C> {
    /// Asks for admission.
    ///
    /// Lock-free, without allocation. It reads one word as long as nothing is refused; otherwise it reads the clock and
    /// the window.
    ///
    /// # Cancel safety
    ///
    /// A permit that is dropped settles as abandoned.
    ///
    /// # Errors
    ///
    /// [`Rejected`], with [`Cause::Throttled`]. Its [`retry_after`](Rejected::retry_after) is the time until the window moves on
    /// by a bucket: before that the share of the refused does not fall unless further calls are accepted.
    #[inline]
    pub fn allow(&self) -> Result<ThrottlePermit<'_, C>, Rejected> {
        self.ask()
            .map(|admission| ThrottlePermit::new(self, admission))
    }

    /// As [`allow`](Self::allow), with a permit that owns its share of the throttle, for futures, streams and threads.
    ///
    /// # Errors
    ///
    /// As [`allow`](Self::allow).
    #[inline]
    pub fn allow_owned(self: &Arc<Self>) -> Result<OwnedThrottlePermit<C>, Rejected> {
        self.ask()
            .map(|admission| OwnedThrottlePermit::new(Arc::clone(self), admission))
    }

    #[inline]
    fn ask(&self) -> Result<Admission, Rejected> {
        if !self.timeline.is_loud(SIDE) {
            return Ok(Admission::Drawn);
        }
        self.ask_window()
    }

    #[cold]
    #[inline(never)]
    fn ask_window(&self) -> Result<Admission, Rejected> {
        let now = self.now();
        self.timeline.start(SIDE, now);
        let share = self.look();
        if share.refused <= 0.0 || !share.refuses(self.chance.draw()) {
            return Ok(Admission::Drawn);
        }
        if let Some(next) = self.take_probe(now) {
            return Ok(Admission::Probe { next });
        }
        self.count(REFUSED, now);
        let rejected = Rejected {
            word: Word::before(1).refusing(Cause::Throttled),
            left: TimeLeft::nanos(self.timeline.rest_of_tick(SIDE, now)),
            breaker: self.name_id(),
        };
        if let Some(watch) = &self.watch {
            watch.rejected(rejected);
        }
        Err(rejected)
    }

    /// Admits a call that would be refused if it is the one that is admitted each so often, and says when the next one is.
    ///
    /// A clock that stepped back does not make the wait longer than it is.
    fn take_probe(&self, now: u64) -> Option<u64> {
        let interval = self.config.probe_interval();
        // Relaxed: nothing else depends on it; the exchange makes one the winner.
        let next = self.next_probe.load(Relaxed);
        let is_due = now >= next || next - now > interval;
        let later = now.saturating_add(interval);
        let is_taken = is_due
            && self
                .next_probe
                .compare_exchange(next, later, Relaxed, Relaxed)
                .is_ok();
        is_taken.then_some(later)
    }

    /// Takes back an admission to a call that is not made: the next call that would be refused has its probe, unless a later one has
    /// been taken since.
    #[cold]
    #[inline(never)]
    pub(super) fn withdraw(&self, admission: Admission) {
        if let Admission::Probe { next } = admission {
            // Relaxed: as in `take_probe`.
            let _ = self.next_probe.compare_exchange(next, 0, Relaxed, Relaxed);
        }
    }

    /// The share that is refused, after which the mark says whether there is one.
    fn look(&self) -> Share {
        loop {
            let look = self.timeline.look(SIDE, GENERATION);
            let share = share_of(look.counts, self.config.k);
            let slack = share.slack(self.config.k);
            if look.stands(slack) {
                return share;
            }
            // Whether or not this one was written, what it is by may have changed: who counted meanwhile may have seen the
            // mark as it was before.
            let _ = self.timeline.be_quiet(SIDE, &look, slack);
        }
    }

    /// Counts a request.
    #[inline]
    fn count(&self, kind: Kind, now: u64) {
        // There is one generation, so none is over.
        let Counted::In(tick) = self
            .timeline
            .count(SIDE, GENERATION, (kind, 1), now, || true)
        else {
            return;
        };
        if !self.timeline.is_quiet(SIDE, GENERATION, kind, tick) {
            self.look_if_quiet();
        }
    }

    /// While the mark is loud, those who ask look.
    #[cold]
    #[inline(never)]
    fn look_if_quiet(&self) {
        if !self.timeline.is_loud_after_count(SIDE) {
            self.look();
        }
    }

    #[inline]
    pub(super) fn settle(&self, report: &Report) -> Settled {
        if let Some(watch) = &self.watch {
            watch.settled(report, false);
        }
        self.settle_as(report.outcome)
    }

    #[inline]
    fn settle_as(&self, outcome: Outcome) -> Settled {
        let Some(kind) = Kind::of_untimed(outcome) else {
            return Settled::Ignored;
        };
        self.count(kind, self.now());
        Settled::Recorded
    }

    /// Settles a permit that was dropped.
    #[cold]
    #[inline(never)]
    pub(super) fn abandon(&self, dropped: Dropped) {
        if let Some(watch) = &self.watch {
            watch.abandoned(false);
        }
        self.settle_as(match dropped {
            Dropped::Abandoned => self.config.abandoned,
            Dropped::Panicked => self.config.panicked,
        });
    }
}

/// For both ways to hold one.
macro_rules! gate {
    ($holder:ty, $permit:ty, $allow:ident $(, $lifetime:lifetime)?) => {
        impl<$($lifetime,)? C: Clock> Gate for $holder {
            type Permit = $permit;

            #[inline]
            fn admit(&self) -> Result<Self::Permit, Rejected> {
                self.$allow()
            }

            /// Each call is drawn by itself.
            #[inline]
            fn refusal(&self) -> Option<Rejected> {
                None
            }

            fn reject(&self, refused: Rejected) -> Rejected {
                refused
            }
        }
    };
}

gate!(Arc<Throttle<C>>, OwnedThrottlePermit<C>, allow_owned);
gate!(&'a Throttle<C>, ThrottlePermit<'a, C>, allow, 'a);
