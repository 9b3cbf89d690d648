//! What an HTTP status says about the upstream.

use core::time::Duration;
use std::time::SystemTime;

use http::{HeaderMap, Response, StatusCode};

use crate::adapters::http::retry_after;
use crate::contract::outcome::Report;
use crate::contract::verdict::{Verdict, Verdicts};
use crate::wrap::classify::{Classify, Judge, of_error};

/// Classifies HTTP responses by their status, as the table of [`verdict`](crate::verdict) has it.
///
/// In short: 1xx, 2xx and 3xx are successes; 408, 499 and 504 timeouts; 429 and the rest of 5xx
/// failures; the rest of 4xx, 501, 505 and 510 are answers of an upstream that works. An error, of the
/// call or of the body, is a failure, unless another breaker rejected the call; which errors are
/// timeouts is said with [`ErrorsBy`](crate::classify::ErrorsBy).
///
/// What an upstream that is not well asks of waiting ([`retry_after`]) may lengthen the open wait,
/// up to [`longest_wait`](Self::longest_wait).
///
/// # Examples
///
/// ```
/// use std::io::{Error, ErrorKind};
/// use cutout::classify::{Classify, ErrorsBy};
/// use cutout::adapters::http::HttpStatus;
/// use cutout::Outcome;
/// use cutout::verdict::{Verdict, Verdicts};
/// use http::Response;
///
/// // A 404 of this upstream is a fault of its own.
/// let verdicts = Verdicts::http().with(404, Verdict::FAILURE);
/// let classifier = ErrorsBy::new(HttpStatus::by(verdicts), |error: &Error| match error.kind() {
///     ErrorKind::TimedOut => Outcome::Timeout,
///     _ => Outcome::Failure,
/// });
/// let missing = Response::builder().status(404).body(())?;
/// assert_eq!(classifier.classify(Ok(&missing)).outcome, Outcome::Failure);
/// let late = Error::from(ErrorKind::TimedOut);
/// assert_eq!(Classify::<Response<()>, _>::classify(&classifier, Err(&late)).outcome, Outcome::Timeout);
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpStatus {
    verdicts: Verdicts,
    longest_wait: Duration,
}

impl HttpStatus {
    /// Goes by the table as it is, and follows `Retry-After` up to five minutes.
    pub const fn new() -> Self {
        Self::by(Verdicts::http())
    }

    /// Goes by these verdicts.
    pub const fn by(verdicts: Verdicts) -> Self {
        Self {
            verdicts,
            longest_wait: Duration::from_secs(300),
        }
    }

    /// Limits what a `Retry-After` header can ask for. Zero: the header is not followed.
    #[must_use]
    pub const fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// What a status says, for those who also ask whether to try again.
    pub fn verdict(&self, status: StatusCode) -> Verdict {
        self.verdicts.of(status.as_u16())
    }

    /// What a response with this status and these headers means.
    pub fn report(&self, status: StatusCode, headers: &HeaderMap) -> Report {
        let verdict = self.verdict(status);
        let report = Report::from(verdict.outcome);
        if !verdict.waits || self.longest_wait.is_zero() {
            return report;
        }
        match retry_after(headers, SystemTime::now()) {
            Some(wait) => report.retry_after(wait.min(self.longest_wait)),
            None => report,
        }
    }
}

impl Default for HttpStatus {
    fn default() -> Self {
        Self::new()
    }
}

impl<B, E: 'static> Classify<Response<B>, E> for HttpStatus {
    fn classify(&self, result: Result<&Response<B>, &E>) -> Report {
        match result {
            Ok(response) => self.report(response.status(), response.headers()),
            Err(error) => of_error(error).into(),
        }
    }
}

impl<T, E: 'static> Judge<Result<T, E>> for HttpStatus {
    fn item(&mut self, frame: &Result<T, E>) -> Option<Report> {
        frame.as_ref().err().map(|error| of_error(error).into())
    }
}
