//! Waiting for admission.
//!
//! A rejection ends in one of four ways, and each of them wakes someone:
//!
//! 1. a transition: the listener is told;
//! 2. a probe slot that becomes free without one: the slot listener is told;
//! 3. an open wait that is over: the rejection says when, a timer wakes;
//! 4. leases that run out: the breaker knows when, a timer wakes.
//!
//! Of those who wait, one is on the lookout: it alone has the timer and hears of
//! changes. The others queue for its seat, which it leaves when it is admitted or gives
//! up. Then the next one asks: admitted, it makes way for yet another; rejected, it
//! stays. So a change wakes as many as get in and one more, however many wait.
//!
//! No wake-up is lost. The lookout asks first and then sleeps; a change in between
//! leaves its mark in the `Notify`, and the sleep ends at once. A lookout that is
//! cancelled with the mark in its hand takes nothing along: who takes the seat asks
//! before it sleeps.

use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use tokio::sync::{Mutex, Notify};
use tokio::time::{Instant, timeout, timeout_at};

use crate::breaker::Breaker;
use crate::breaker::builder::Builder;
use crate::breaker::permit::OwnedPermit;
use crate::breaker::rejected::Rejected;
use crate::contract::clock::{Clock, SystemClock};
use crate::contract::error::ConfigError;
use crate::contract::state::State;

/// A breaker whose callers may wait for admission in place of being rejected.
///
/// Nobody polls: a waiting task sleeps until the open wait is over, the state changes,
/// or a probe's slot or lease ends, whoever had it and however it was called. Those who
/// wait are served in the order they came, and each change wakes only as many as are
/// admitted and one more. Calls that ask the breaker directly may get ahead of them.
///
/// There is no bound on how many wait: each is a task that its caller made. A
/// breaker that closes lets them all go, one after the other but without a pause. Put a
/// concurrency limit behind it if that is more than the upstream bears.
///
/// There is none for a [`Throttle`](crate::Throttle), which draws each call by itself: nothing tells a refused one when it
/// would be admitted, and those who waited would be the load that the upstream does not take. Beside a throttle, wait for the
/// breaker here, then ask the throttle, and [withdraw](crate::AnyPermit::withdraw) the breaker's permit if it refuses.
///
/// The breaker's clock should go as tokio's does: `SystemClock` in production,
/// [`TokioClock`](super::TokioClock) under paused time. A sleep is measured by tokio's
/// clock; a breaker whose own clock is behind then is asked again after what it says is
/// left.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use cutout::adapters::tokio::{TokioClock, WaitingRoom};
/// use cutout::{Breaker, Config, Settled};
///
/// #[tokio::main(flavor = "current_thread", start_paused = true)]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let room = WaitingRoom::build(
///         Breaker::builder().config(Config::low_traffic()).clock(TokioClock::new()),
///     )?;
///     for _ in 0..3 {
///         room.breaker().allow()?.failure();
///     }
///     // It is open for ten seconds.
///     assert!(room.allow_within(Duration::from_secs(9)).await.is_err());
///     let probe = room.allow_within(Duration::from_secs(11)).await?;
///     assert_eq!(probe.success(), Settled::Closed);
///     Ok(())
/// }
/// ```
pub struct WaitingRoom<C: Clock = SystemClock> {
    breaker: Arc<Breaker<C>>,
    /// The seat on the lookout. Tokio's mutex is fair: it is the queue.
    seat: Mutex<()>,
    changed: Arc<Notify>,
}

impl<C: Clock> WaitingRoom<C> {
    /// Builds the breaker, and listens to it.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn build(builder: Builder<C>) -> Result<Self, ConfigError> {
        let changed = Arc::new(Notify::new());
        let (by_event, by_slot) = (Arc::clone(&changed), Arc::clone(&changed));
        let breaker = builder
            .listener(move |_| by_event.notify_one())
            .slot_listener(move || by_slot.notify_one())
            .build()?;
        Ok(Self {
            breaker: Arc::new(breaker),
            seat: Mutex::new(()),
            changed,
        })
    }

    /// The breaker, to share with those who do not wait, to read and to operate.
    pub fn breaker(&self) -> &Arc<Breaker<C>> {
        &self.breaker
    }

    /// Asks for admission, and waits for it until `deadline` if it must.
    ///
    /// A caller that cannot be admitted in time is rejected without waiting: when the
    /// breaker is open beyond the deadline, only an operator could still let it in.
    /// With all probes out, or forced open without an end, it waits.
    ///
    /// # Cancel safety
    ///
    /// A future that is dropped leaves the queue and takes no permit along.
    ///
    /// # Errors
    ///
    /// The [`Rejected`] that the breaker gave when it was last asked.
    ///
    /// # Panics
    ///
    /// If it has to wait outside a tokio runtime with its time driver enabled.
    pub async fn allow_until(&self, deadline: Instant) -> Result<OwnedPermit<C>, Rejected> {
        let mut rejected = match self.breaker.allow_owned() {
            Ok(permit) => return Ok(permit),
            Err(rejected) => rejected,
        };
        if self.is_open_beyond(deadline, rejected) {
            return Err(rejected);
        }
        let Ok(_seat) = timeout_at(deadline, self.seat.lock()).await else {
            return Err(rejected);
        };
        loop {
            match self.breaker.allow_owned() {
                Ok(permit) => return Ok(permit),
                Err(latest) => rejected = latest,
            }
            if self.is_open_beyond(deadline, rejected) {
                return Err(rejected);
            }
            let turn = self.turn(rejected);
            if timeout_at(deadline, turn).await.is_err() {
                return Err(rejected);
            }
        }
    }

    /// Asks for admission, and waits so long for it if it must.
    ///
    /// As [`allow_until`](Self::allow_until), counted from the first poll.
    ///
    /// # Cancel safety
    ///
    /// As [`allow_until`](Self::allow_until).
    ///
    /// # Errors
    ///
    /// As [`allow_until`](Self::allow_until).
    ///
    /// # Panics
    ///
    /// As [`allow_until`](Self::allow_until).
    pub async fn allow_within(&self, wait: Duration) -> Result<OwnedPermit<C>, Rejected> {
        self.allow_until(after(wait)).await
    }

    /// Ends when asking again may give another answer than `rejected`.
    async fn turn(&self, rejected: Rejected) {
        let changed = self.changed.notified();
        let Some(rejected) = self.by_the_clock(rejected) else {
            return;
        };
        match rejected.retry_after() {
            // Either will do.
            Some(time) => timeout(time, changed).await.unwrap_or(()),
            None => changed.await,
        }
    }

    /// Whether only an operator could end the rejection by the deadline.
    fn is_open_beyond(&self, deadline: Instant, rejected: Rejected) -> bool {
        let Some(rejected) = self.by_the_clock(rejected) else {
            return false;
        };
        // A probe that is out may end any moment, and a share that is refused falls all the time.
        !matches!(rejected.state(), State::HalfOpen | State::Closed)
            && rejected
                .retry_after()
                .is_some_and(|wait| after(wait) > deadline)
    }

    /// The rejection as it is now, `None` if it is over: one with long to wait is by [`Clock::recent`], and may tell too much.
    fn by_the_clock(&self, rejected: Rejected) -> Option<Rejected> {
        match rejected.state() {
            // A share is drawn call by call, and told by the clock itself.
            State::Closed => Some(rejected),
            _ => self.breaker.refusal(),
        }
    }
}

/// So long from now; what no clock can count to is a century ahead.
fn after(wait: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    Instant::now() + wait.min(CENTURY)
}

impl<C: Clock> fmt::Debug for WaitingRoom<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitingRoom")
            .field("breaker", &self.breaker)
            .finish_non_exhaustive()
    }
}
