//! What a router is told, and what it refuses.

use alloc::format;
use core::time::Duration;

use crate::contract::error::ConfigError;

/// In which order a router asks its targets.
///
/// Whatever the order, it is the targets' breakers that admit: a target that
/// rejects is passed over, and a half-open one gets its probes when it is its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// In the order of the queue. When the breaker of an earlier target is ready
    /// to probe, the next call is that probe; once it has passed, the calls are back.
    #[default]
    Priority,
    /// Each in its turn, equally often.
    RoundRobin,
    /// Each in its turn, as often as its [`weight`](super::Target::weight) says.
    Weighted,
    /// The target with the fewest calls in flight for its weight; of equal ones
    /// the one whose turn it is.
    LeastInFlight,
    /// Of two targets drawn at random the one that is likely to answer sooner: its usual latency, times the calls it
    /// would then have in flight, by its weight. So a target that is twice as fast gets more of the calls, and one that becomes slow
    /// is left after a call or two.
    ///
    /// The usual latency is a [mean that leaps up and sinks slowly][finagle]: a latency above it becomes the mean at once,
    /// one below it pulls it down by half in ten seconds. Without calls it sinks too, so a target that was slow is tried
    /// again. What a call took is the time from its choice to its end, or what [`Choice::took`](super::Choice::took)
    /// says; one that fails says how slow a target is, and never how fast. A target that has answered no call yet is tried
    /// first, by one call at a time.
    ///
    /// [finagle]: https://twitter.github.io/finagle/guide/Clients.html#power-of-two-choices-p2c-peak-ewma
    Fastest,
    /// The same target for the same key, by rendezvous hashing: when a target is
    /// left out, only its own keys move, and spread over the others. A weight is
    /// a share of the keys. Calls without a key go by [`Weighted`](Self::Weighted).
    Sticky,
}

/// The configuration of a [`Router`](super::Router).
///
/// A plain value; [`Router::new`](super::Router::new) and
/// [`Router::reconfigure`](super::Router::reconfigure) check it.
///
/// | field | default | legal |
/// | --- | --- | --- |
/// | `policy` | priority | any |
/// | `canary_basis_points` | 0 | 0 to 10 000 |
/// | `max_shed` | none | any |
/// | `ramp` | none | above zero; or none |
///
/// # Examples
///
/// ```
/// use cutout::router::{Policy, RouterConfig};
///
/// let config = RouterConfig { policy: Policy::RoundRobin, ..RouterConfig::default() };
/// assert!(config.validate().is_ok());
///
/// let refused = RouterConfig { canary_basis_points: 20_000, ..config }.validate().unwrap_err();
/// assert_eq!(refused.field(), "canary_basis_points");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouterConfig {
    /// In which order targets are asked.
    pub policy: Policy,
    /// The share of the requests that canary targets are asked for, in hundredths
    /// of a percent: 500 is one request in twenty. It is exact and evenly spread
    /// (for requests with a key: the share of the keys, always the same ones). What
    /// the canary's breaker rejects goes to the other targets; canaries get no more
    /// than this share, even when all others reject.
    pub canary_basis_points: u32,
    /// How many targets may be kept from traffic at once because their breakers
    /// are open or half-open: by a verdict of their own, or [by comparison](super::Router::compare). When there are more, those with the longest waits
    /// left stay out, and the others are called without a permit, so that the few that
    /// are left are not overrun. A target that is forced open always stays out,
    /// and counts. `None` for no limit.
    pub max_shed: Option<u32>,
    /// How long a target that has recovered takes to get back to its full share,
    /// which grows evenly from nothing. Meanwhile the rest of its turns is passed
    /// on to the targets that come next. A target has recovered when the router has
    /// seen its breaker reject or probe, and then admit. `None` for at once.
    pub ramp: Option<Duration>,
}

impl RouterConfig {
    /// Checks every field.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first illegal field, its value, and
    /// what is legal.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.canary_basis_points > 10_000 {
            return Err(ConfigError {
                field: "canary_basis_points",
                value: format!("{}", self.canary_basis_points),
                legal: "0 to 10000",
            });
        }
        if self.ramp == Some(Duration::ZERO) {
            return Err(ConfigError {
                field: "ramp",
                value: format!("{:?}", Duration::ZERO),
                legal: "above zero, or none",
            });
        }
        Ok(())
    }
}
