//! Refusing a share of the calls to an upstream that takes only some of them.

mod allow;
pub(crate) mod builder;
mod call;
pub(crate) mod permit;

use alloc::boxed::Box;
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};

use crossbeam_utils::CachePadded;

use crate::breaker::name::{Name, NameId};
use crate::breaker::watch::Watch;
use crate::contract::clock::{Clock, SystemClock};
use crate::contract::throttle::{Share, ThrottleConfig};
use crate::contract::totals::Totals;
use crate::engine::chance::Chance;
use crate::engine::sync::AtomicU64;
use crate::engine::window::time::Timeline;

/// Refuses a share of the calls, as large as what the upstream does not accept: for one that is overloaded, where a
/// [`Breaker`](crate::Breaker) is for one that is down.
///
/// It is the adaptive throttling of Google's *Site Reliability Engineering* ([chapter 21, "Handling Overload"][sre]).
/// Over a window of time it counts *requests* and *accepts*, and refuses each call with the probability
///
/// ```text
/// max(0, (requests - k * accepts) / (requests + 1))
/// ```
///
/// so that the upstream is sent about `k` times what it accepts, and everything when it accepts a share of `1 / k` or more. There is no
/// state to get stuck in, and nothing to tune but `k`: see [`ThrottleConfig`].
///
/// # What counts
///
/// | | request | accept |
/// | --- | --- | --- |
/// | settled as a success, or as answered | yes | yes |
/// | settled as a failure or a timeout | yes | no |
/// | refused by this throttle | yes | no |
/// | settled as ignored, rejected by a breaker beside it | no | no |
///
/// A call counts when it is settled, in the bucket of that time. One that is in flight does not count yet, so that a slow upstream
/// is not taken for one that refuses.
///
/// # When a share is refused
///
/// While the last look found nothing to refuse, calls are admitted without a look at the clock or the window, and a
/// call that is settled looks whether there is something by now. From then on each call is admitted or refused by what the window
/// holds as it asks, until one finds nothing to refuse.
///
/// Of the calls that would be refused one is admitted all the same each so often
/// ([`probes_per_second`](ThrottleConfig::probes_per_second)), however long none was, so that a recovery is seen. After
/// an outage of all calls, what is sent grows from there by the factor e (2.7) each `length / k`.
///
/// # Where it does harm
///
/// A share of failures above `1 - 1 / k` is taken for overload, whatever it is: with `k` 2 and 60 % of the calls failing for
/// reasons of their own, each refusal raises the share of requests that are not accepted, so more are refused, until
/// nearly all are. Let failures that do not come from overload be [answered](crate::Outcome::Answered), or choose a higher `k`: see
/// the page on [recovery](crate::guide::recovery).
///
/// # Memory ordering
///
/// As of a [`Breaker`](crate::Breaker): admission and settling order nothing but the throttle itself.
///
/// # Examples
///
/// ```
/// use cutout::{Cause, ManualClock, Throttle, ThrottleConfig};
///
/// let throttle = Throttle::builder().name("search").clock(ManualClock::new()).seed(1).build()?;
/// // The upstream takes one call in four.
/// for call in 0..1000 {
///     match throttle.allow() {
///         Ok(permit) if call % 4 == 0 => permit.success(),
///         Ok(permit) => permit.failure(),
///         Err(rejected) => {
///             assert_eq!(rejected.cause(), Cause::Throttled);
///             continue;
///         }
///     };
/// }
/// assert!(throttle.share().refused > 0.4);
/// # Ok::<(), cutout::ConfigError>(())
/// ```
///
/// [sre]: https://sre.google/sre-book/handling-overload/
pub struct Throttle<C = SystemClock> {
    pub(crate) timeline: Timeline,
    /// When the next of the calls that would be refused is admitted.
    next_probe: CachePadded<AtomicU64>,
    config: ThrottleConfig,
    chance: Chance,
    clock: C,
    /// The clock's reading when the throttle was built.
    start: u64,
    watch: Option<Box<Watch>>,
    name: Option<Box<Name>>,
}

// As of a breaker: all shared state is atomic, and each step leaves it whole.
impl<C: RefUnwindSafe> RefUnwindSafe for Throttle<C> {}
impl<C: UnwindSafe> UnwindSafe for Throttle<C> {}

impl<C> Throttle<C> {
    /// The name given at build, empty by default.
    pub fn name(&self) -> &str {
        self.name.as_ref().map_or("", |name| name.as_str())
    }

    /// Under which number the name is found by rejections.
    pub(crate) fn name_id(&self) -> NameId {
        self.name.as_ref().map_or(NameId::NONE, |name| name.id())
    }

    /// The config.
    pub const fn config(&self) -> &ThrottleConfig {
        &self.config
    }

    /// How many calls ended how and were refused, since the throttle was built with
    /// [`totals`](crate::ThrottleBuilder::totals); otherwise none. All are
    /// [`calls`](Totals::calls), and the refused ones rejections in [closed](crate::Rejections::closed).
    pub fn totals(&self) -> Option<Totals> {
        self.watch.as_ref()?.totals()
    }

    /// How often a listener has panicked.
    pub fn listener_panics(&self) -> u64 {
        self.watch.as_ref().map_or(0, |watch| watch.panics())
    }
}

impl<C: Clock> Throttle<C> {
    /// What the window holds now, and the share of the calls that follows from it.
    ///
    /// A pure read, out of date as soon as it is made.
    pub fn share(&self) -> Share {
        let counts = self
            .timeline
            .counts(allow::SIDE, allow::GENERATION, self.now());
        allow::share_of(counts, self.config.k)
    }

    /// Nanoseconds since the throttle was built.
    #[inline]
    fn now(&self) -> u64 {
        self.clock.now().saturating_sub(self.start)
    }
}

impl<C: Clock> fmt::Debug for Throttle<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Throttle")
            .field("name", &self.name())
            .field("share", &self.share())
            .finish_non_exhaustive()
    }
}
