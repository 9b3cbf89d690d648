//! What a gRPC status says about the upstream.

use core::time::Duration;

use http::{HeaderMap, Response, StatusCode};

use crate::adapters::http::HttpStatus;
use crate::adapters::http::retry_after::whole;
use crate::contract::outcome::{Outcome, Report};
use crate::contract::verdict::{Verdict, Verdicts};
use crate::wrap::classify::{Classify, of_error};

/// Classifies gRPC responses by their status code, as the table of [`verdict`](crate::verdict)
/// has it.
///
/// In short: OK is a success; CANCELLED and DEADLINE_EXCEEDED are timeouts; UNKNOWN,
/// RESOURCE_EXHAUSTED, INTERNAL, UNAVAILABLE, DATA_LOSS and what is not in the standard are
/// failures; the others are answers of an upstream that works. Without a code the status of HTTP
/// decides, by [`HttpStatus`], if it is not 200. An error, of the call or of the body, is a failure,
/// unless another breaker rejected the call.
///
/// A call that was cancelled on this side shows no status: its future is dropped. So CANCELLED comes
/// from somebody on the way who gave up waiting.
///
/// A call that fails early carries its status in the headers, any other in the trailers, which
/// come after the body: judge those too, with `BreakerLayer::through_body(GrpcStatus::new())` or
/// `GuardedBody::with_judge`. A body that ends without a status is a failure.
///
/// With `tonic`, whose calls give a status in place of a response, classify by the code:
///
/// ```
/// use cutout::classify::{ByResult, Classify, ErrorsBy};
/// use cutout::adapters::http::GrpcStatus;
/// use cutout::Outcome;
///
/// # struct Status(i32);
/// # impl Status { fn code(&self) -> i32 { self.0 } }
/// // `Status` is that of tonic, where a code is converted with `as i32` or `into()`.
/// let classifier = ErrorsBy::new(ByResult, |status: &Status| GrpcStatus::outcome(status.code()));
/// let not_found = Status(5);
/// assert_eq!(classifier.classify(Err::<&(), _>(&not_found)).outcome, Outcome::Answered);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrpcStatus {
    verdicts: Verdicts,
    http: HttpStatus,
    longest_wait: Duration,
}

impl GrpcStatus {
    /// Goes by the table as it is, and follows what is asked of waiting up to five minutes.
    pub const fn new() -> Self {
        Self::by(Verdicts::grpc())
    }

    /// Goes by these verdicts.
    pub const fn by(verdicts: Verdicts) -> Self {
        Self {
            verdicts,
            http: HttpStatus::new(),
            longest_wait: Duration::from_secs(300),
        }
    }

    /// Limits what [`retry_pushback`] can ask for. Zero: it is not followed.
    #[must_use]
    pub const fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// What a status code means, by the table as it is.
    pub fn outcome(code: i32) -> Outcome {
        Verdicts::grpc().of(code).outcome
    }

    /// What a status code says, for those who also ask whether to try again.
    pub fn verdict(&self, code: i32) -> Verdict {
        self.verdicts.of(code)
    }

    /// What the status in these headers or trailers means, if there is one.
    pub fn report(&self, headers: &HeaderMap) -> Option<Report> {
        let status = headers.get("grpc-status")?;
        let code = status.to_str().ok().and_then(|code| code.parse().ok());
        // What cannot be read is no code of the standard.
        let verdict = self.verdict(code.unwrap_or(-1));
        let report = Report::from(verdict.outcome);
        let asked = retry_pushback(headers).filter(|_| verdict.waits);
        Some(match asked {
            Some(wait) if !self.longest_wait.is_zero() => {
                report.retry_after(wait.min(self.longest_wait))
            }
            _ => report,
        })
    }
}

impl Default for GrpcStatus {
    fn default() -> Self {
        Self::new()
    }
}

/// How long these headers or trailers ask to wait: `grpc-retry-pushback-ms`, whole
/// milliseconds. A negative number asks for no further try and for no wait.
pub fn retry_pushback(headers: &HeaderMap) -> Option<Duration> {
    let millis = whole(headers.get("grpc-retry-pushback-ms")?.as_bytes())?;
    Some(Duration::from_millis(millis))
}

impl<B, E: 'static> Classify<Response<B>, E> for GrpcStatus {
    fn classify(&self, result: Result<&Response<B>, &E>) -> Report {
        let response = match result {
            Ok(response) => response,
            Err(error) => return of_error(error).into(),
        };
        match self.report(response.headers()) {
            Some(report) => report,
            None if response.status() == StatusCode::OK => Outcome::Success.into(),
            None => self.http.report(response.status(), response.headers()),
        }
    }
}

#[cfg(feature = "body")]
impl<D, E: 'static> crate::wrap::classify::Judge<Result<http_body::Frame<D>, E>> for GrpcStatus {
    fn item(&mut self, frame: &Result<http_body::Frame<D>, E>) -> Option<Report> {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => return Some(of_error(error).into()),
        };
        let trailers = frame.trailers_ref()?;
        Some(self.report(trailers).unwrap_or(Outcome::Failure.into()))
    }

    fn end(&mut self) -> Report {
        Outcome::Failure.into()
    }
}
