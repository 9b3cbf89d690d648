//! A verdict on a target by comparison with the others.

use alloc::format;
use alloc::vec::Vec;

use super::Router;
use super::shed;
use super::target::Member;
use crate::breaker::Match;
use crate::contract::clock::Clock;
use crate::contract::error::ConfigError;
use crate::contract::evidence::Threshold;
use crate::contract::outcome::Counts;
use crate::contract::state::{Cause, State};

/// When a target is so much worse than the others that it is taken out, though its own breaker bears
/// with it.
///
/// A plain value; [`Router::compare`] checks it. The share of failures is that of the outcomes in a
/// breaker's window, as its `failure_ratio` sees it. A target is taken out when its share is above the mean of the
/// others' by `margin` *and* by `deviations` standard deviations of theirs.
///
/// Envoy's [success rate ejection][envoy] is the model, with its 1.9 deviations. Two things differ: the target
/// is left out of the mean it is compared with, for one that fails all its calls would shift the mean of a
/// few targets so far that it could never be told; and there is a margin, for targets that are all well
/// have next to no deviation, and the least of faults would be above it.
///
/// [envoy]: https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/outlier#success-rate
///
/// | field | default | legal |
/// | --- | --- | --- |
/// | `margin` | 0.2 | above 0, at most 1 |
/// | `deviations` | 1.9 | 0 or more, finite |
/// | `min_calls` | 20 | 1 or more |
/// | `min_targets` | 3 | 2 or more |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// By how much a target's share of failures must be above the mean of the others': 0.2 is 20
    /// points.
    pub margin: f64,
    /// By how many of the others' standard deviations it must be above their mean.
    pub deviations: f64,
    /// How many outcomes a window must hold to be compared. A count window of 20 holds no more; 100
    /// tell more.
    pub min_calls: u32,
    /// How many targets must have such a window.
    pub min_targets: usize,
}

impl Default for Comparison {
    fn default() -> Self {
        Self {
            margin: 0.2,
            deviations: 1.9,
            min_calls: 20,
            min_targets: 3,
        }
    }
}

impl Comparison {
    /// Checks every field.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first illegal field, its value, and what is legal.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let refused = |field, value, legal| {
            Err(ConfigError {
                field,
                value,
                legal,
            })
        };
        if !(self.margin > 0.0 && self.margin <= 1.0) {
            return refused(
                "margin",
                format!("{}", self.margin),
                "above 0 and at most 1",
            );
        }
        if !(self.deviations >= 0.0 && self.deviations.is_finite()) {
            let value = format!("{}", self.deviations);
            return refused("deviations", value, "0 or more, and finite");
        }
        if self.min_calls == 0 {
            return refused("min_calls", "0".into(), "1 or more");
        }
        if self.min_targets < 2 {
            let value = format!("{}", self.min_targets);
            return refused("min_targets", value, "2 or more");
        }
        Ok(())
    }

    /// The share of failures at which a target is taken out beside others of these shares.
    fn limit(&self, others: impl Iterator<Item = f64> + Clone) -> f64 {
        let count = others.clone().count() as f64;
        let mean = others.clone().sum::<f64>() / count;
        let variance = others
            .map(|share| (share - mean) * (share - mean))
            .sum::<f64>()
            / count;
        (mean + self.margin).max(mean + self.deviations * variance.sqrt())
    }
}

impl<T, C: Clock> Router<T, C> {
    /// Compares the ordinary targets with each other and opens the breakers of those that are so much worse
    /// than the others. Gives the targets that it has taken out, the worst first.
    ///
    /// To be called now and then, every ten seconds say: there is no background task. A breaker
    /// that is opened by comparison waits, probes and closes as any other; the cause is
    /// [`Cause::Outlier`], and the threshold in its [evidence](crate::Trip) is the share that it reached.
    /// Only closed breakers are compared, and opened.
    ///
    /// No more targets are taken out than [`max_shed`](super::RouterConfig::max_shed) allows, those counted that are out
    /// already, whatever took them out; without such a limit no more than half of the ordinary targets. So where all fail alike nobody
    /// is taken out, and where most fail, the few that do not are not left alone.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] for an illegal comparison; nothing is taken out then.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use cutout::{Breaker, Cause, Outcome};
    /// use cutout::router::{Comparison, Router, RouterConfig, Target};
    ///
    /// // Each bears with up to half of its calls failing.
    /// let breaker = || Breaker::builder().build().map(Arc::new);
    /// let hosts = Router::new(RouterConfig::default(), [
    ///     Target::new("a", (), breaker()?),
    ///     Target::new("b", (), breaker()?),
    ///     Target::new("c", (), breaker()?),
    /// ])?;
    /// for call in 0..20 {
    ///     for member in hosts.members() {
    ///         let fails = member.name() == "c" && call % 5 > 2;
    ///         let outcome = if fails { Outcome::Failure } else { Outcome::Success };
    ///         member.breaker().allow()?.done(outcome);
    ///     }
    /// }
    /// let out = hosts.compare(&Comparison::default())?;
    /// assert_eq!(out[0].name(), "c");
    /// assert_eq!(out[0].breaker().evidence().trip.unwrap().cause, Cause::Outlier);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compare(&self, comparison: &Comparison) -> Result<Vec<Member<T, C>>, ConfigError> {
        comparison.validate()?;
        let queue = self.queue.load();
        let (mut out, mut compared) = (0, Vec::new());
        queue.ordinary.members.for_each(|position| {
            let member = &queue.places[position].member;
            let snapshot = member.breaker().snapshot();
            let counts = snapshot.counts();
            out += usize::from(shed::is_out(snapshot.state));
            if snapshot.state == State::Closed && counts.samples >= comparison.min_calls {
                let share = f64::from(counts.failures) / f64::from(counts.samples);
                compared.push((share, member));
            }
        });
        if compared.len() < comparison.min_targets {
            return Ok(Vec::new());
        }
        compared.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let most = queue
            .config
            .max_shed
            .map_or(queue.ordinary.members.len() / 2, |most| most as usize);
        let shares: Vec<f64> = compared.iter().map(|(share, _)| *share).collect();
        let mut taken = Vec::new();
        for (place, (share, member)) in compared.into_iter().enumerate() {
            // Those that are worse are out, or would be.
            let others = shares[place + 1..].iter().copied();
            if out >= most || others.len() == 0 {
                break;
            }
            let limit = comparison.limit(others);
            if share < limit {
                break;
            }
            if member
                .breaker()
                .open_if_closed(|counts| outlier(counts, limit))
            {
                out += 1;
                taken.push(member.clone());
            }
        }
        Ok(taken)
    }
}

/// Why a target is taken out: its share of failures has reached this limit.
fn outlier(counts: Counts, limit: f64) -> Match {
    Match {
        cause: Cause::Outlier,
        counts,
        threshold: Some(Threshold::ratio(limit)),
        label: None,
    }
}
