//! The typed errors of a refused call.

use alloc::sync::Arc;
use core::error::Error;
use core::fmt;
use core::time::Duration;

use crate::breaker::name::NameId;
use crate::breaker::told::source_of_rejection;
use crate::contract::state::{Cause, State};
use crate::engine::word::Word;

/// Why a call was not admitted.
///
/// Three words, which are taken apart when they are asked: most rejections never are. What the
/// window held when the breaker opened, and more, [`Breaker::evidence_for`](crate::Breaker::evidence_for) tells.
#[derive(Clone, Copy)]
pub struct Rejected {
    pub(crate) word: Word,
    pub(crate) left: TimeLeft,
    pub(crate) breaker: NameId,
}

/// The time left, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeLeft(u64);

impl TimeLeft {
    /// No clock can tell.
    pub(crate) const UNKNOWN: Self = Self(u64::MAX);
    /// A wait that never ends.
    pub(crate) const ENDLESS: Self = Self(u64::MAX - 1);

    #[inline]
    pub(crate) fn nanos(nanos: u64) -> Self {
        Self(nanos.min(Self::ENDLESS.0 - 1))
    }

    pub(crate) const fn duration(self) -> Option<Duration> {
        match self {
            Self::UNKNOWN => None,
            Self::ENDLESS => Some(Duration::MAX),
            Self(nanos) => Some(Duration::from_nanos(nanos)),
        }
    }
}

impl Rejected {
    /// The state that rejected the call: open, half-open or forced open; closed if it was refused as one of
    /// a share, by a [`Throttle`](crate::Throttle) or on a [ramp](crate::Config::ramp).
    pub fn state(&self) -> State {
        self.word.state()
    }

    /// What opened the breaker: a rule, a probe's verdict, or an operator; or why a share is refused:
    /// [`Cause::Throttled`] or [`Cause::Ramping`].
    pub fn cause(&self) -> Cause {
        self.word.cause_of_rejection()
    }

    /// The name of the breaker that rejected the call, if it has one and is there still.
    ///
    /// Without the `std` feature, none.
    pub fn breaker_name(&self) -> Option<Arc<str>> {
        self.breaker.name()
    }

    /// The time until a call may be admitted again.
    ///
    /// With [`SystemClock`](crate::SystemClock) it may be 20 ms too long, as long as it is more than 100 ms. Where the kernel's ticks come late
    /// it may be longer, or 20 ms too short: see [`Clock::recent`](crate::Clock::recent).
    ///
    /// Of a half-open breaker whose probes are all out it is the time until their last lease ends: a
    /// slot may become free any moment before, and is free by then. Of a throttle it is the time until the window moves on by a bucket,
    /// when the share that it refuses may be another one; of a ramp, until the share that it refuses is half of what it is now.
    ///
    /// `None` when no clock can tell: the probes have no lease, or an operator forced the breaker open
    /// without an end.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.left.duration()
    }

    /// The generation that rejected the call.
    pub const fn generation(&self) -> u32 {
        self.word.generation()
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.cause() {
            Cause::Throttled => "throttle",
            _ => "circuit breaker",
        })?;
        if let Some(name) = self.breaker_name() {
            write!(f, " `{name}`")?;
        }
        match self.state() {
            State::Closed => write!(f, " refuses a share of the calls ({})", self.cause())?,
            state => write!(f, " is {state} ({})", self.cause())?,
        }
        match (self.state(), self.retry_after()) {
            (State::HalfOpen, Some(left)) => {
                write!(f, "; all probes are out, the last for {left:.1?} at most")
            }
            (_, Some(left)) => write!(f, "; retry in {left:.1?}"),
            (State::HalfOpen, None) => f.write_str("; all probes are out, their outcome decides"),
            (_, None) => f.write_str("; until an operator ends it"),
        }
    }
}

/// Equal in all that can be asked.
impl PartialEq for Rejected {
    fn eq(&self, other: &Self) -> bool {
        let asked = |rejected: &Self| (rejected.state(), rejected.cause(), rejected.generation());
        asked(self) == asked(other) && self.left == other.left && self.breaker == other.breaker
    }
}

impl Eq for Rejected {}

impl fmt::Debug for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected")
            .field("breaker", &self.breaker_name())
            .field("state", &self.state())
            .field("cause", &self.cause())
            .field("retry_after", &self.retry_after())
            .field("generation", &self.generation())
            .finish()
    }
}

impl Error for Rejected {}

/// The error of a call made through a breaker: it was rejected, or it was
/// admitted and failed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError<E> {
    /// The breaker did not admit the call.
    Rejected(Rejected),
    /// The call was made and returned this error.
    Inner(E),
}

impl<E: fmt::Display> fmt::Display for CallError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(rejected) => rejected.fmt(f),
            Self::Inner(error) => error.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for CallError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Rejected(_) => source_of_rejection(),
            Self::Inner(error) => error.source(),
        }
    }
}
