//! What a gRPC status says about the upstream.

use http::{HeaderMap, Response, StatusCode};

use crate::adapters::http::HttpStatus;
use crate::contract::outcome::{Outcome, Report};
use crate::wrap::classify::Classify;

/// Classifies gRPC responses by their status code.
///
/// | status | outcome |
/// | --- | --- |
/// | OK | success |
/// | UNKNOWN, RESOURCE_EXHAUSTED, INTERNAL, UNAVAILABLE, DATA_LOSS, a code not in the standard | failure |
/// | DEADLINE_EXCEEDED | timeout |
/// | CANCELLED, INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, UNAUTHENTICATED | ignored |
/// | none, the HTTP status not being 200 | that of [`HttpStatus`] |
/// | an error, of the call or of the body | failure |
///
/// A call that fails early carries its status in the headers, any other in the trailers, which
/// come after the body: judge those too, with `BreakerLayer::through_body(GrpcStatus)` or
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
/// assert_eq!(classifier.classify(Err::<&(), _>(&not_found)).outcome, Outcome::Ignored);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GrpcStatus;

impl GrpcStatus {
    /// What a status code means.
    pub const fn outcome(code: i32) -> Outcome {
        match code {
            0 => Outcome::Success,
            4 => Outcome::Timeout,
            1 | 3 | 5..=7 | 9..=12 | 16 => Outcome::Ignored,
            _ => Outcome::Failure,
        }
    }

    /// What the status in these headers or trailers means, if there is one.
    pub fn of_headers(headers: &HeaderMap) -> Option<Outcome> {
        let status = headers.get("grpc-status")?;
        let code = status.to_str().ok().and_then(|code| code.parse().ok());
        // What cannot be read is no code of the standard.
        Some(code.map_or(Outcome::Failure, Self::outcome))
    }
}

impl<B, E> Classify<Response<B>, E> for GrpcStatus {
    fn classify(&self, result: Result<&Response<B>, &E>) -> Report {
        let Ok(response) = result else {
            return Outcome::Failure.into();
        };
        match Self::of_headers(response.headers()) {
            Some(outcome) => outcome.into(),
            None if response.status() == StatusCode::OK => Outcome::Success.into(),
            None => HttpStatus::new().report(response.status(), response.headers()),
        }
    }
}

#[cfg(feature = "body")]
impl<D, E> crate::wrap::classify::Judge<Result<http_body::Frame<D>, E>> for GrpcStatus {
    fn item(&mut self, frame: &Result<http_body::Frame<D>, E>) -> Option<Report> {
        let Ok(frame) = frame else {
            return Some(Outcome::Failure.into());
        };
        let trailers = frame.trailers_ref()?;
        Some(
            Self::of_headers(trailers)
                .unwrap_or(Outcome::Failure)
                .into(),
        )
    }

    fn end(&mut self) -> Report {
        Outcome::Failure.into()
    }
}
