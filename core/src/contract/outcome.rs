//! What a call came to, and what settling its permit did.

use core::time::Duration;

use crate::contract::label::Label;

/// What a call says about the health of its upstream.
///
/// Which error is which outcome is the caller's decision. For the statuses of HTTP and gRPC
/// there is a table: [`verdict`](crate::verdict).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The upstream answered as it should.
    Success,
    /// The upstream lives and said no: what was asked for is not there, or the request is
    /// at fault.
    ///
    /// To the breaker it is as good as a success: it dilutes the ratios, ends a run of
    /// failures and passes a probe. A window holds it as a success; totals and metrics
    /// tell it apart.
    Answered,
    /// The upstream failed.
    Failure,
    /// The upstream did not answer in time: a failure that also has a ratio of its own.
    Timeout,
    /// The call says nothing about the upstream: its caller left, or something on this
    /// side of it failed. It changes nothing, but for freeing the slot of a probe.
    Ignored,
}

impl Outcome {
    /// Whether the upstream failed or did not answer in time.
    pub(crate) const fn is_failure(self) -> bool {
        matches!(self, Self::Failure | Self::Timeout)
    }

    /// Whether the upstream lives: it answered, if only to say no.
    #[inline]
    pub const fn is_alive(self) -> bool {
        matches!(self, Self::Success | Self::Answered)
    }
}

/// An [`Outcome`] with what else the caller knows about the call.
///
/// # Examples
///
/// ```
/// use core::time::Duration;
/// use cutout::{Outcome, Report};
///
/// // HTTP 429 with `Retry-After: 30`.
/// let report = Report::from(Outcome::Failure).retry_after(Duration::from_secs(30));
/// assert_eq!(report.outcome, Outcome::Failure);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a report does nothing until a permit is settled with it"]
pub struct Report {
    /// The outcome.
    pub outcome: Outcome,
    /// How long the call took, if the caller measured it. Without it the slow
    /// rule uses the time between `allow` and `done`.
    pub elapsed: Option<Duration>,
    /// The wait that the upstream asked for, should this failure open the breaker. It
    /// can lengthen the open wait and not shorten it: the breaker waits for this long, or for
    /// its [`open_wait`](crate::Config::open_wait) as it has grown and after its jitter, if
    /// that is longer. Jitter does not shorten what is asked for. Whoever reads it from an answer limits it
    /// there, as `HttpStatus` does. Nothing when the breaker does not open.
    pub retry_after: Option<Duration>,
    /// What the call came to, in a few words, for whoever asks why the breaker has opened.
    pub label: Option<Label>,
}

impl Report {
    /// The report on a call that was given up because of a limit: a timeout, unless the limit
    /// itself ended late.
    ///
    /// A timer that fires at once and a half its time or later, and by a tenth of a second
    /// at least, was not heard when it fired: the process was stopped, or its runtime
    /// blocked. What the upstream did meanwhile nobody knows, so the call is ignored.
    ///
    /// # Examples
    ///
    /// ```
    /// use core::time::Duration;
    /// use cutout::{Outcome, Report};
    ///
    /// let second = Duration::from_secs(1);
    /// assert_eq!(Report::timed_out(second, second).outcome, Outcome::Timeout);
    /// assert_eq!(Report::timed_out(second, 4 * second).outcome, Outcome::Ignored);
    /// ```
    pub fn timed_out(limit: Duration, elapsed: Duration) -> Self {
        const LEAST: Duration = Duration::from_millis(100);
        let late = elapsed.saturating_sub(limit);
        let outcome = if late >= LEAST.max(limit / 2) {
            Outcome::Ignored
        } else {
            Outcome::Timeout
        };
        outcome.into()
    }

    /// Sets the call's duration as the caller measured it.
    pub const fn elapsed(mut self, elapsed: Duration) -> Self {
        self.elapsed = Some(elapsed);
        self
    }

    /// Sets the open wait that the upstream asked for, say in a `Retry-After` header.
    pub const fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Says in a few words what the call came to: `connection refused`. The breaker keeps it
    /// if this outcome opens it ([`Trip::label`](crate::Trip::label)). It costs a copy of 64 bytes, and one allocation in the life of a breaker; giving none costs nothing.
    pub fn label(mut self, label: impl Into<Label>) -> Self {
        self.label = Some(label.into());
        self
    }
}

impl Report {
    /// That says nothing but this outcome.
    const fn nothing_but(outcome: Outcome) -> Self {
        Self {
            outcome,
            elapsed: None,
            retry_after: None,
            label: None,
        }
    }

    /// As [`nothing_but`](Self::nothing_but), where a reference will do: a report is large.
    pub(crate) const fn of(outcome: Outcome) -> &'static Self {
        match outcome {
            Outcome::Success => &const { Self::nothing_but(Outcome::Success) },
            Outcome::Answered => &const { Self::nothing_but(Outcome::Answered) },
            Outcome::Failure => &const { Self::nothing_but(Outcome::Failure) },
            Outcome::Timeout => &const { Self::nothing_but(Outcome::Timeout) },
            Outcome::Ignored => &const { Self::nothing_but(Outcome::Ignored) },
        }
    }
}

impl From<Outcome> for Report {
    #[inline]
    fn from(outcome: Outcome) -> Self {
        Self::nothing_but(outcome)
    }
}

/// What settling a permit did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Settled {
    /// The outcome entered the window, or the probe was counted and decided nothing, or no more than a stage.
    Recorded,
    /// Nothing was judged: the outcome was [`Outcome::Ignored`], or the breaker is
    /// disabled.
    Ignored,
    /// This outcome matched a rule and opened the breaker.
    Tripped,
    /// This outcome matched a rule while the breaker only observes: it was
    /// reported and the window starts empty.
    WouldTrip,
    /// This probe opened the breaker again.
    Reopened,
    /// This probe closed the breaker.
    Closed,
    /// The call was overdue and has been counted as such while it was in flight: its
    /// outcome had no effect.
    Overdue,
    /// The permit is of an earlier generation: the outcome had no effect. (That of a
    /// probe whose lease was lost has one, while its half-open period lasts.)
    Stale,
}

/// One recorded outcome of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sample {
    /// The outcome: success (of those that were answered, too), failure or timeout.
    pub outcome: Outcome,
    /// Whether the call was at or above the slow limit that held when it was recorded.
    pub slow: bool,
}

/// How many outcomes of each kind a window holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counts {
    /// All outcomes in the window.
    pub samples: u32,
    /// Failures, timeouts among them.
    pub failures: u32,
    /// Timeouts.
    pub timeouts: u32,
    /// Slow calls, whatever their outcome.
    pub slow: u32,
}

impl Counts {
    /// These counts with one sample more.
    pub(crate) fn with(self, sample: Sample) -> Self {
        let failed = sample.outcome.is_failure();
        Self {
            samples: self.samples + 1,
            failures: self.failures + u32::from(failed),
            timeouts: self.timeouts + u32::from(sample.outcome == Outcome::Timeout),
            slow: self.slow + u32::from(sample.slow),
        }
    }

    /// The sum of both.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            samples: self.samples.saturating_add(other.samples),
            failures: self.failures.saturating_add(other.failures),
            timeouts: self.timeouts.saturating_add(other.timeouts),
            slow: self.slow.saturating_add(other.slow),
        }
    }

    /// These counts after `incoming` has pushed `outgoing` out.
    pub(crate) fn shifted(self, incoming: Self, outgoing: Self) -> Self {
        // Saturating: counts read while the window moves on may disagree; they are
        // thrown away.
        let shift =
            |of: fn(&Self) -> u32| (of(&self) + of(&incoming)).saturating_sub(of(&outgoing));
        Self {
            samples: shift(|counts| counts.samples),
            failures: shift(|counts| counts.failures),
            timeouts: shift(|counts| counts.timeouts),
            slow: shift(|counts| counts.slow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_ends_too_late_from_half_of_it_on_and_from_a_tenth_of_a_second_on() {
        for (limit, late) in [(1000, 500), (300, 150), (200, 100), (20, 100), (0, 100)] {
            let outcome = |late| {
                let limit = Duration::from_millis(limit);
                Report::timed_out(limit, limit + late).outcome
            };
            let late = Duration::from_millis(late);
            assert_eq!(outcome(Duration::ZERO), Outcome::Timeout);
            assert_eq!(outcome(late - Duration::from_nanos(1)), Outcome::Timeout);
            assert_eq!(outcome(late), Outcome::Ignored);
        }
        // A clock that stepped back.
        let limit = Duration::from_secs(1);
        assert_eq!(
            Report::timed_out(limit, Duration::ZERO).outcome,
            Outcome::Timeout
        );
        assert_eq!(
            Report::timed_out(Duration::MAX, Duration::MAX).outcome,
            Outcome::Timeout
        );
    }
}
