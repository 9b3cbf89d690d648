//! Several targets, each behind its breaker, and the choice among them.
//!
//! A [`Router`] holds an ordered queue of [`Target`]s. [`choose`](Router::choose) finds
//! one that admits a call *and* reserves it, in one step: the [`Choice`] holds the
//! permit. A target whose breaker rejects is passed over; only a target that
//! is really called is charged.
//!
//! ```
//! use std::sync::Arc;
//! use cutout::{Breaker, Outcome};
//! use cutout::router::{Attempts, Router, RouterConfig, Target};
//!
//! fn get(host: &str) -> Result<&'static str, std::io::Error> {
//!     if host == "eu.example" { Ok("answer") } else { Err(std::io::ErrorKind::TimedOut.into()) }
//! }
//!
//! let breaker = || Breaker::builder().min_calls(5).build().map(Arc::new);
//! let router = Router::new(RouterConfig::default(), [
//!     Target::new("us", "us.example", breaker()?),
//!     Target::new("eu", "eu.example", breaker()?),
//! ])?;
//!
//! // One request: on to the next target until one answers.
//! let mut attempts = Attempts::new();
//! let answer = loop {
//!     let choice = match router.choose(&mut attempts) {
//!         Ok(choice) => choice,
//!         Err(no_target) => break Err(no_target),
//!     };
//!     match get(choice.payload()) {
//!         Ok(answer) => {
//!             choice.success();
//!             break Ok(answer);
//!         }
//!         Err(_) => choice.done(Outcome::Timeout),
//!     };
//! };
//! assert_eq!(answer, Ok("answer"));
//! assert_eq!(attempts.tried(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attempts;
mod call;
mod change;
mod choice;
mod config;
mod error;
mod positions;
mod queue;
mod ramp;
mod search;
mod shed;
mod sticky;
mod target;
mod turns;

use alloc::vec::Vec;
use core::fmt;

use arc_swap::ArcSwap;

pub use attempts::Attempts;
pub use call::{RouteError, Verdict};
pub use choice::{Choice, InFlight};
pub use config::{Policy, RouterConfig};
pub use error::{NoTarget, RouterError};
pub use target::{Member, Role, Target};

use crate::clock::{Clock, SystemClock};
use crate::error::Rejected;
use crate::sync::{AtomicU64, Relaxed};
use queue::Queue;
use search::Search;

/// A queue of targets, and the choice among them.
///
/// It is `Send` and `Sync` when the payloads are; share it by reference or in an
/// `Arc`. Choosing takes no lock and does not allocate; it reads a snapshot of the queue, so a
/// change of the queue never waits for calls, nor calls for it.
pub struct Router<T, C: Clock = SystemClock> {
    queue: ArcSwap<Queue<T, C>>,
    /// The id of the next target to be added.
    next_id: AtomicU64,
    /// Requests that the canary's share was asked for.
    canary_turn: AtomicU64,
}

impl<T, C: Clock> Router<T, C> {
    /// A router over these targets, in this order.
    ///
    /// # Errors
    ///
    /// A [`RouterError`] for an illegal config or weight, two targets of one name,
    /// more than 128 targets, or none that is ordinary.
    pub fn new(
        config: RouterConfig,
        targets: impl IntoIterator<Item = Target<T, C>>,
    ) -> Result<Self, RouterError> {
        let seats: Vec<_> = (0..)
            .zip(targets)
            .map(|(id, target)| change::seat(target, id))
            .collect();
        let next_id = seats.len() as u64;
        Ok(Self {
            queue: ArcSwap::from_pointee(Queue::new(config, seats)?),
            next_id: AtomicU64::new(next_id),
            canary_turn: AtomicU64::new(0),
        })
    }

    /// Chooses a target that the request has not tried and whose breaker admits
    /// the call, and notes it as tried.
    ///
    /// First come the canaries, if it is the canary's turn, then the ordinary
    /// targets, then the last resorts. Each breaker is asked at most once, and
    /// the first permit is taken; so a half-open target gets its probes and no more.
    ///
    /// # Errors
    ///
    /// [`NoTarget::Rejected`] with the rejection that ends first, or
    /// [`NoTarget::Exhausted`] when the request has tried all.
    #[inline]
    pub fn choose(&self, attempts: &mut Attempts) -> Result<Choice<T, C>, NoTarget> {
        let queue = self.queue.load();
        let canary = self.is_canary(&queue, attempts);
        Search::new(&queue, attempts, &mut |_, _| {}).run(canary)
    }

    /// As [`choose`](Self::choose), among the targets whose payload is `eligible`.
    ///
    /// # Errors
    ///
    /// As [`choose`](Self::choose), of the eligible targets.
    ///
    /// # Panics
    ///
    /// Passes on a panic of `eligible`; nothing is reserved then.
    pub fn choose_where(
        &self,
        attempts: &mut Attempts,
        eligible: impl Fn(&T) -> bool,
    ) -> Result<Choice<T, C>, NoTarget> {
        self.choose_watched(attempts, eligible, |_, _| {})
    }

    /// As [`choose_where`](Self::choose_where), and tells `rejected` of each target that was asked and did not admit
    /// the call: for a list of what was passed over, or to count it.
    ///
    /// # Errors
    ///
    /// As [`choose`](Self::choose), of the eligible targets.
    ///
    /// # Panics
    ///
    /// Passes on a panic of `eligible` or `rejected`; nothing is reserved then.
    pub fn choose_watched(
        &self,
        attempts: &mut Attempts,
        eligible: impl Fn(&T) -> bool,
        mut rejected: impl FnMut(&Member<T, C>, &Rejected),
    ) -> Result<Choice<T, C>, NoTarget> {
        let queue = self.queue.load();
        let canary = self.is_canary(&queue, attempts);
        let mut search = Search::new(&queue, attempts, &mut rejected);
        search.retain(|position| eligible(queue.seats[position].member.payload()));
        search.run(canary)
    }

    fn is_canary(&self, queue: &Queue<T, C>, attempts: &mut Attempts) -> bool {
        !queue.canary.members.is_empty()
            && attempts.is_canary(|key| self.is_for_canary(key, queue.config.canary_basis_points))
    }

    /// Of 10 000 requests in a row exactly the share is the canary's, evenly spread;
    /// of keys, about the share, and always the same ones.
    fn is_for_canary(&self, key: Option<u64>, share: u32) -> bool {
        const ALL: u64 = 10_000;
        let share = u64::from(share);
        match key {
            // Mixed once more: the share must not depend on what `Sticky` goes by.
            Some(key) => sticky::mix(key) % ALL < share,
            None => {
                let turn = self.canary_turn.fetch_add(1, Relaxed) % ALL;
                (turn + 1) * share / ALL > turn * share / ALL
            }
        }
    }
}

impl<T, C: Clock> fmt::Debug for Router<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = self.queue.load();
        f.debug_struct("Router")
            .field("config", &queue.config)
            .field("targets", &self.members())
            .finish_non_exhaustive()
    }
}
