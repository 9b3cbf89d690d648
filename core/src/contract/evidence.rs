//! Why a breaker does not simply admit.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use crate::contract::label::{Label, cut};
use crate::contract::outcome::Counts;
use crate::contract::state::Cause;

/// Why a breaker is not closed: what opened it, and what an operator has ordered.
///
/// Both may be there: an operator forces a breaker open that had opened by itself. Both are absent
/// of a breaker that is closed or only observes. See [`Breaker::evidence`](crate::Breaker::evidence).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence {
    /// What opened the breaker, from when it opened until it closes, however often it has opened
    /// again in between.
    pub trip: Option<Trip>,
    /// What an operator has ordered, while the breaker is forced open, disabled, or half-open by
    /// such an order.
    pub operator: Option<OperatorAction>,
}

/// What a breaker held against its upstream when it opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trip {
    /// The rule that matched; or a probe's verdict, where the breaker was half-open without
    /// having opened by a rule.
    pub cause: Cause,
    /// How long ago that was, to the millisecond.
    pub age: Duration,
    /// What the window held then, the outcome that opened the breaker included.
    pub counts: Counts,
    /// What the rule asked for, as it was configured then; `None` where the cause is no rule.
    pub threshold: Option<Threshold>,
    /// The [`Label`](crate::Label) of the last outcome that opened the breaker, at first or again,
    /// of those that were given one.
    pub label: Option<Arc<str>>,
}

/// What a rule asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Threshold {
    /// So many failures.
    Failures(u32),
    /// This share of the outcomes, to a billionth.
    Ratio(f64),
    /// A score of so much, which is what it had reached.
    Score(u32),
}

// No threshold of a rule is NaN.
impl Eq for Threshold {}

/// What an operator has ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperatorAction {
    /// How long ago that was, to the millisecond.
    pub age: Duration,
    /// The reason that was given, cut to its first [`MAX_REASON`](Self::MAX_REASON) bytes. The
    /// [`Event`](crate::Event) has all of it.
    pub reason: Arc<str>,
}

impl Evidence {
    /// The same, so much later, as it can be kept: what a snapshot says may be anything.
    pub(crate) fn older(&self, passed: Duration) -> Self {
        let mut older = self.clone();
        if let Some(trip) = &mut older.trip {
            trip.age = trip.age.saturating_add(passed);
            trip.label = trip
                .label
                .as_deref()
                .map(|label| cut(label, Label::MAX_LEN).into());
            if let Some(Threshold::Ratio(ratio)) = trip.threshold {
                trip.threshold = Some(Threshold::ratio(ratio));
            }
        }
        if let Some(operator) = &mut older.operator {
            operator.age = operator.age.saturating_add(passed);
            operator.reason = cut(&operator.reason, OperatorAction::MAX_REASON).into();
        }
        older
    }

    /// That of a breaker that is open, for want of something better by the cause alone.
    pub(crate) fn of_outage(self, cause: Cause) -> Self {
        let by_cause = || Trip {
            cause,
            age: Duration::ZERO,
            counts: Counts::default(),
            threshold: None,
            label: None,
        };
        Self {
            trip: Some(self.trip.unwrap_or_else(by_cause)),
            operator: None,
        }
    }
}

impl OperatorAction {
    /// The longest reason that is kept, in bytes.
    pub const MAX_REASON: usize = 199;
}

impl Threshold {
    pub(crate) const BILLIONTHS: f64 = 1e9;

    /// A ratio as it is kept.
    pub(crate) fn ratio(ratio: f64) -> Self {
        // Not less than the least, so that it is not taken for none.
        let billionths = (ratio * Self::BILLIONTHS + 0.5) as u64;
        let billionths = billionths.clamp(1, Self::BILLIONTHS as u64);
        Self::Ratio(billionths as f64 / Self::BILLIONTHS)
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failures(failures) => write!(f, "{failures} failures"),
            Self::Ratio(ratio) => write!(f, "a share of {ratio}"),
            Self::Score(score) => write!(f, "a score of {score}"),
        }
    }
}

/// `failure ratio reached 3.0s ago: 6 of 10 failed, 2 by timeout, 0 slow; the rule asks for a
/// share of 0.5; last failure: connection refused`.
impl fmt::Display for Trip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cause, age, .. } = self;
        write!(f, "{cause} {age:.1?} ago")?;
        if let Some(threshold @ Threshold::Score(_)) = self.threshold {
            write!(f, ": the rule asks for {threshold}")?;
        } else if let Some(threshold) = self.threshold {
            let Counts {
                samples,
                failures,
                timeouts,
                slow,
            } = self.counts;
            write!(
                f,
                ": {failures} of {samples} failed, {timeouts} by timeout, {slow} slow; \
                 the rule asks for {threshold}"
            )?;
        }
        if let Some(label) = &self.label {
            write!(f, "; last failure: {label}")?;
        }
        Ok(())
    }
}

/// `by an operator 3.0s ago: maintenance`.
impl fmt::Display for OperatorAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { age, reason } = self;
        write!(f, "by an operator {age:.1?} ago: {reason}")
    }
}

/// The operator's order, then the trip.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.operator, &self.trip) {
            (Some(operator), Some(trip)) => write!(f, "{operator}; before that {trip}"),
            (Some(operator), None) => operator.fmt(f),
            (None, Some(trip)) => trip.fmt(f),
            (None, None) => f.write_str("no evidence"),
        }
    }
}

/// A moment in milliseconds, as many bits of it as a cell beside the word can hold: from 69
/// years before a breaker was built to 69 years after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment(pub(crate) u64);

impl Moment {
    const BUILT: u64 = 1 << 41;
    const LAST: u64 = (1 << 42) - 1;
    const MILLI: u64 = 1_000_000;

    /// So many nanoseconds after the breaker was built.
    #[inline]
    pub(crate) fn at(nanos: u64) -> Self {
        Self((Self::BUILT + nanos / Self::MILLI).min(Self::LAST))
    }

    /// So long before the breaker was built.
    pub(crate) fn before(age: Duration) -> Self {
        let millis = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        Self(Self::BUILT.saturating_sub(millis))
    }

    /// How many milliseconds this is after another; zero if it is before.
    #[inline]
    pub(crate) const fn millis_since(self, other: Self) -> u64 {
        self.0.saturating_sub(other.0)
    }

    /// How long ago this is, so many nanoseconds after the breaker was built.
    pub(crate) fn age(self, nanos: u64) -> Duration {
        Duration::from_millis(Self::at(nanos).0.saturating_sub(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_ratios_are_kept_as_they_were_typed() {
        for thousandths in 1..=1000 {
            let ratio = f64::from(thousandths) / 1000.0;
            assert_eq!(Threshold::ratio(ratio), Threshold::Ratio(ratio));
        }
        assert_eq!(Threshold::ratio(1.0 / 3.0), Threshold::Ratio(0.333_333_333));
        assert_eq!(Threshold::ratio(f64::MIN_POSITIVE), Threshold::Ratio(1e-9));
    }

    #[test]
    fn moments_saturate() {
        assert_eq!(Moment::at(u64::MAX), Moment(Moment::LAST));
        assert_eq!(Moment::before(Duration::MAX), Moment(0));
        let ago = Moment::before(Duration::from_secs(5));
        assert_eq!(ago.age(2_000_000_000), Duration::from_secs(7));
        assert_eq!(Moment::at(9_000_000).age(1_000_000), Duration::ZERO);
    }
}
