//! One call to one target: a slot, a permit, retries inside it, one outcome.

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use cutout::router::Choice;
use cutout::{Report, State};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout_at};

use super::attempt::attempt;
use super::due::Due;
use super::failed::{Failed, Limit};
use super::reading::Answer;
use super::signs::Signs;
use super::way::Way;
use crate::providers::{InFlight, Target};
use crate::requests::Record;

/// A call that may be made. Dropping it gives back all that it holds; its permit then settles as what the call is
/// [evidence](super::signs) of, or as abandoned, which is ignored unless the breaker is configured otherwise.
#[derive(Debug)]
pub(super) struct Call {
    target: Arc<Target>,
    pub(super) signs: Signs,
    /// When the whole of it must have ended, and by which limit.
    pub(super) due: Due,
    _slot: OwnedSemaphorePermit,
    _in_flight: InFlight,
}

impl Call {
    /// The call that a choice and a slot allow. `None`, and nothing is held, if there is no slot any more.
    pub(super) fn new(choice: Choice<Arc<Target>>, deadline: Due, is_stream: bool) -> Option<Self> {
        let target = Arc::clone(choice.payload());
        let slot = Arc::clone(&target.provider.slots)
            .try_acquire_owned()
            .ok()?;
        let total = Due::in_time(Limit::Total, target.provider.settings.limits.total.get());
        Some(Self {
            due: total.first(deadline),
            _in_flight: target.upstream.enter(),
            signs: Signs::new(Arc::clone(&target), Some(choice), is_stream),
            target,
            _slot: slot,
        })
    }

    /// What is called.
    pub(super) fn target(&self) -> &Arc<Target> {
        &self.target
    }

    /// Makes the call, with at most so many attempts.
    ///
    /// # Errors
    ///
    /// The last attempt's failure, which is the call's one outcome.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the attempt in flight.
    pub(super) async fn make(
        &self,
        way: &Way,
        most: usize,
        record: &Record,
    ) -> Result<Answer, Failed> {
        let attempts = timeout_at(self.due.at, self.attempts(way, most, record));
        attempts.await.map_err(|_| self.due.passed())?
    }

    async fn attempts(&self, way: &Way, most: usize, record: &Record) -> Result<Answer, Failed> {
        let settings = &self.target.provider.settings;
        let longest = settings.retry.max.get();
        let mut waits = ExponentialBuilder::default()
            .with_min_delay(settings.retry.base.get())
            .with_max_delay(longest)
            .with_max_times(most.saturating_sub(1))
            .with_jitter()
            .build();
        loop {
            record.begin(&self.target);
            let failed = match attempt(&self.target, way, &self.signs).await {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            self.signs.failed(failed.report(settings.scope));
            record.attempted(failed.ended(settings.scope));
            let planned = waits.next().filter(|_| failed.is_worth_retrying());
            let wait = planned.and_then(|wait| next_wait(wait, failed.retry_after(), longest));
            let Some(wait) = wait else {
                return Err(failed);
            };
            sleep(wait).await;
            if self.is_barred() {
                return Err(failed);
            }
            self.target.upstream.count_retry();
        }
    }

    /// Whether the target takes no more attempts, though this call was admitted: an operator closed it to all, others
    /// found it ill, or without a good key.
    fn is_barred(&self) -> bool {
        let state = self.target.upstream.breaker.state();
        matches!(state, State::ForcedOpen | State::Open)
            || self.target.provider.suspended(&self.target.model).is_some()
    }

    /// Settles the call with its outcome, unless it has been counted already.
    pub(super) fn settle(&self, report: impl Into<Report>) {
        self.signs.settle(report);
    }

    /// Settles the call as its failure says. That the route's time is over says nothing of the target, beyond what its
    /// silence does.
    pub(super) fn fail(self, failed: &Failed) {
        if let Some(suspension) = failed.suspension(&self.target) {
            self.target.provider.suspend(suspension);
        }
        if !matches!(failed, Failed::TimedOut(Limit::Deadline, _)) {
            let scope = self.target.provider.settings.scope;
            self.settle(failed.report(scope));
        }
    }
}

/// The wait before the next attempt: the planned one, or what the provider asked for if that is
/// longer. `None` if it asks for more than is worth waiting.
fn next_wait(planned: Duration, asked: Option<Duration>, longest: Duration) -> Option<Duration> {
    match asked {
        Some(asked) if asked > longest => None,
        Some(asked) => Some(planned.max(asked)),
        None => Some(planned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_waits_as_long_as_the_provider_asks_or_is_not_made() {
        let seconds = Duration::from_secs;
        assert_eq!(next_wait(seconds(1), None, seconds(5)), Some(seconds(1)));
        assert_eq!(
            next_wait(seconds(1), Some(seconds(3)), seconds(5)),
            Some(seconds(3))
        );
        assert_eq!(
            next_wait(seconds(4), Some(seconds(3)), seconds(5)),
            Some(seconds(4))
        );
        assert_eq!(next_wait(seconds(1), Some(seconds(6)), seconds(5)), None);
    }
}
