//! Several targets, each behind its breaker, and the choice among them.
//!
//! A [`Router`] holds an ordered queue of [`Target`]s. [`choose`](Router::choose) finds
//! one that admits a call *and* reserves it, in one step: the [`Choice`] holds the
//! permit. A target whose breaker rejects is passed over, and so is one whose
//! [throttle](Target::throttle) refuses the call; only a target that is really called is charged.
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
//!
//! [`Router::call`] and [`Router::call_async`] are this loop, with a [`Step`] after each result: what the breaker is
//! told, and whether the request moves on. The two are not the same question: a refused
//! password ends the request and says nothing of the target.
//!
//! # Who is asked, in which order
//!
//! 1. The canaries, for the requests that are theirs
//!    ([`canary_basis_points`](RouterConfig::canary_basis_points)). A canary in trouble rejects,
//!    and its share goes on to the next.
//! 2. The ordinary targets, in the order of the [`Policy`]. One that has just recovered may be
//!    passed over while its share grows back ([`ramp`](RouterConfig::ramp)).
//! 3. The last resorts, even when their own breakers reject.
//!
//! A half-open target is asked when it is its turn, and gets its probes and no more: calls in excess
//! are rejected by its breaker and go on. Under [`Policy::Priority`] that is how the calls
//! fail back: the first call after the wait is the probe, and when it has passed, the
//! calls are back.
//!
//! When all reject, [`NoTarget::Rejected`] has the rejection that ends first, for a `Retry-After`.
//!
//! # Changing the queue
//!
//! Targets are [added](Router::add), [removed](Router::remove) and [moved](Router::move_to), and
//! the config is [replaced](Router::reconfigure), while calls go on. Each change is one step: a choice sees the queue
//! before it or after it. Calls in flight end as if nothing had happened. The last ordinary target stays.
//!
//! ```
//! use std::sync::Arc;
//! use cutout::Breaker;
//! use cutout::router::{Role, Router, RouterConfig, Target};
//!
//! let breaker = || Breaker::builder().build().map(Arc::new);
//! let config = RouterConfig { canary_basis_points: 500, ..RouterConfig::default() };
//! let router = Router::new(config, [Target::new("v1", (), breaker()?)])?;
//!
//! // One request in twenty goes to the new version ...
//! router.add(Target::new("v2", (), breaker()?).role(Role::Canary))?;
//! // ... and when it has proved itself, all do.
//! router.set_role("v2", Role::Ordinary)?;
//! let v1 = router.remove("v1")?;
//! assert_eq!(v1.in_flight(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it costs
//!
//! A choice takes no lock and does not allocate. It reads a snapshot of the queue, looks at the targets that it needs to, asks one
//! breaker, or more if the first rejects, and takes one reference to the target. All policies but
//! [`Policy::Priority`] also write down whose turn it was, in a line that all threads share. [`Policy::Fastest`] reads a breaker's clock
//! for each of the two targets that it compares.

mod attempts;
mod call;
mod change;
mod choice;
mod compare;
mod config;
mod error;
mod pace;
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
pub use call::{RouteError, Step};
pub use choice::{Choice, ChoicePermit, InFlight};
pub use compare::Comparison;
pub use config::{Policy, RouterConfig};
pub use error::{NoTarget, RouterError};
pub use queue::Place;
pub use target::{Member, Role, Target};

use crate::breaker::rejected::Rejected;
use crate::contract::clock::{Clock, SystemClock};
use crate::engine::sync::{AtomicU64, Relaxed};
use queue::Queue;
use search::Search;

/// A queue of targets, and the choice among them.
///
/// It is `Send` and `Sync` when the payloads are; share it by reference or in an
/// `Arc`. Choosing takes no lock and does not allocate; it reads a snapshot of the queue, so a
/// change of the queue never waits for calls, nor calls for it. Changes made at once are all made,
/// one after the other.
///
/// # Memory ordering
///
/// Whoever sees a queue sees all of it. In flight counts and turns order nothing.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use cutout::Breaker;
/// use cutout::router::{Attempts, Policy, Router, RouterConfig, Target};
///
/// let breaker = || Breaker::builder().build().map(Arc::new);
/// let config = RouterConfig { policy: Policy::Weighted, ..RouterConfig::default() };
/// let router = Router::new(config, [
///     Target::new("large", 16, breaker()?).weight(3),
///     Target::new("small", 4, breaker()?),
/// ])?;
/// let choose = || router.choose(&mut Attempts::new()).map(|choice| choice.name().to_owned());
/// let names: Result<Vec<_>, _> = (0..4).map(|_| choose()).collect();
/// assert_eq!(names?, ["large", "small", "large", "large"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        let places: Vec<_> = (0..)
            .zip(targets)
            .map(|(id, target)| change::place(target, id))
            .collect();
        let next_id = places.len() as u64;
        Ok(Self {
            queue: ArcSwap::from_pointee(Queue::new(config, places)?),
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
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use cutout::Breaker;
    /// use cutout::router::{Attempts, Router, RouterConfig, Target};
    ///
    /// let breaker = Arc::new(Breaker::builder().build()?);
    /// breaker.force_open(Some(Duration::from_secs(30)), "maintenance");
    /// let router = Router::new(RouterConfig::default(), [Target::new("only", (), breaker)])?;
    /// let none = router.choose(&mut Attempts::new()).unwrap_err();
    /// let wait = none.retry_after().expect("it has an end");
    /// println!("503 with Retry-After: {}", wait.as_secs());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
        search.retain(|position| eligible(queue.places[position].member.payload()));
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
