//! One call to one target: a slot, a permit, retries inside it, one outcome.

use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use cutout::Report;
use cutout::router::Choice;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

use super::ask::Ask;
use super::attempt::{Answer, attempt};
use super::failed::{Failed, Limit};
use crate::providers::{Endpoint, InFlight, Target};
use crate::requests::Record;

/// A call that may be made. Dropping it gives back all that it holds; its permit then settles as
/// abandoned, which is ignored unless the breaker is configured otherwise.
#[derive(Debug)]
pub(super) struct Call {
    choice: Choice<Arc<Target>>,
    target: Arc<Target>,
    /// When the whole of it must have ended.
    pub(super) due: Instant,
    _slot: OwnedSemaphorePermit,
    _in_flight: InFlight,
}

impl Call {
    /// The call that a choice and a slot allow. `None`, and nothing is held, if there is no slot any more.
    pub(super) fn new(choice: Choice<Arc<Target>>) -> Option<Self> {
        let target = Arc::clone(choice.payload());
        let slot = Arc::clone(&target.provider.slots)
            .try_acquire_owned()
            .ok()?;
        Some(Self {
            due: Instant::now() + target.provider.settings.limits.total.get(),
            _in_flight: target.upstream.enter(),
            choice,
            target,
            _slot: slot,
        })
    }

    /// What is called.
    pub(super) fn target(&self) -> &Arc<Target> {
        &self.target
    }

    /// Makes the call, with as many attempts as the provider's settings allow.
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
        endpoint: Endpoint,
        ask: &Ask,
        record: &Record,
    ) -> Result<Answer, Failed> {
        let settings = &self.target.provider.settings;
        let retry = &settings.retry;
        let longest = retry.max.get();
        let waits = ExponentialBuilder::default()
            .with_min_delay(retry.base.get())
            .with_max_delay(longest)
            .with_max_times(retry.attempts - 1)
            .with_jitter();
        let attempts = (|| {
            record.begin(&self.target);
            attempt(&self.target, endpoint, ask)
        })
        .retry(waits)
        .sleep(tokio::time::sleep)
        .when(Failed::is_worth_retrying)
        .adjust(|failed, wait| next_wait(wait?, failed.retry_after(), longest))
        .notify(|failed, _| {
            record.attempted(failed.ended(settings.scope));
            self.target.upstream.count_retry();
        });
        let total = settings.limits.total.get();
        let late = |_| Failed::TimedOut(Limit::Total, total);
        timeout_at(self.due, attempts).await.map_err(late)?
    }

    /// Settles the call with its outcome and gives back all that it holds.
    pub(super) fn settle(self, report: impl Into<Report>) {
        self.choice.done(report);
    }

    /// Settles the call as its failure says.
    pub(super) fn fail(self, failed: &Failed) {
        let scope = self.target.provider.settings.scope;
        self.settle(failed.report(scope));
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
