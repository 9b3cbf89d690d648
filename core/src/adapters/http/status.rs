//! What an HTTP status says about the upstream.

use core::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, Response, StatusCode};

use crate::contract::outcome::{Outcome, Report};
use crate::wrap::classify::{Classify, Judge};

/// Classifies HTTP responses by their status.
///
/// | result | outcome |
/// | --- | --- |
/// | 429 and 5xx | failure |
/// | the rest of 4xx | ignored: it says nothing of the upstream's health |
/// | 1xx, 2xx, 3xx | success |
/// | an error, of the call or of the body | failure; which errors are timeouts is said with [`ErrorsBy`](crate::wrap::classify::ErrorsBy) |
///
/// The seconds of a `Retry-After` header on a failure are the open wait should it open the
/// breaker, up to [`longest_wait`](Self::longest_wait). Its other form, a date, is not read.
///
/// # Examples
///
/// ```
/// use std::io::{Error, ErrorKind};
/// use cutout::classify::{Classify, ErrorsBy};
/// use cutout::adapters::http::HttpStatus;
/// use cutout::Outcome;
/// use http::Response;
///
/// let classifier = ErrorsBy::new(HttpStatus::new(), |error: &Error| match error.kind() {
///     ErrorKind::TimedOut => Outcome::Timeout,
///     _ => Outcome::Failure,
/// });
/// let missing = Response::builder().status(404).body(())?;
/// assert_eq!(classifier.classify(Ok(&missing)).outcome, Outcome::Ignored);
/// let late = Error::from(ErrorKind::TimedOut);
/// assert_eq!(Classify::<Response<()>, _>::classify(&classifier, Err(&late)).outcome, Outcome::Timeout);
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpStatus {
    longest_wait: Duration,
}

impl HttpStatus {
    /// Follows `Retry-After` up to five minutes.
    pub const fn new() -> Self {
        Self {
            longest_wait: Duration::from_secs(300),
        }
    }

    /// Limits what a `Retry-After` header can ask for. Zero: the header is not followed.
    #[must_use]
    pub const fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// What a response with this status and these headers means.
    pub fn report(&self, status: StatusCode, headers: &HeaderMap) -> Report {
        let outcome = match status.as_u16() {
            429 | 500.. => Outcome::Failure,
            400.. => Outcome::Ignored,
            _ => return Outcome::Success.into(),
        };
        Report {
            retry_after: self.asked_wait(headers),
            ..outcome.into()
        }
    }

    fn asked_wait(&self, headers: &HeaderMap) -> Option<Duration> {
        if self.longest_wait.is_zero() {
            return None;
        }
        let seconds = headers
            .get(RETRY_AFTER)?
            .to_str()
            .ok()?
            .trim()
            .parse()
            .ok()?;
        Some(Duration::from_secs(seconds).min(self.longest_wait))
    }
}

impl Default for HttpStatus {
    fn default() -> Self {
        Self::new()
    }
}

impl<B, E> Classify<Response<B>, E> for HttpStatus {
    fn classify(&self, result: Result<&Response<B>, &E>) -> Report {
        match result {
            Ok(response) => self.report(response.status(), response.headers()),
            Err(_) => Outcome::Failure.into(),
        }
    }
}

impl<T, E> Judge<Result<T, E>> for HttpStatus {
    fn item(&mut self, frame: &Result<T, E>) -> Option<Report> {
        frame.is_err().then(|| Outcome::Failure.into())
    }
}
