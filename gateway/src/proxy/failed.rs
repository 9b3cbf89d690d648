//! How an attempt can fail, and what that means to whom.
//!
//! Three questions, three functions: is it [worth another attempt](Failed::is_worth_retrying) at the same provider, what
//! does it [say of the provider's health](Failed::report), and [may another provider](Failed::may_move_on) do better?

use std::time::Duration;

use bytes::Bytes;
use cutout::{Outcome, Report};
use http::StatusCode;

use crate::config::Scope;
use crate::dialect::{ApiError, sse};
use crate::requests::Ended;

/// An attempt that brought no answer.
#[derive(Clone, Debug)]
pub(crate) enum Failed {
    /// No connection could be made.
    Unreachable(String),
    /// The connection broke before the answer was whole.
    Broken(String),
    /// A limit passed.
    TimedOut(Limit, Duration),
    /// The provider answered with an error.
    Status {
        /// Its status.
        status: StatusCode,
        /// The wait that it asked for.
        retry_after: Option<Duration>,
        /// What it said.
        body: Bytes,
    },
    /// The answer was not one of the protocol.
    Invalid(String),
    /// The stream said that it failed.
    ErrorEvent(String),
}

/// Which limit passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// To accept a connection.
    Connect,
    /// To the first byte of the answer.
    FirstByte,
    /// Between two pieces of it.
    Idle,
    /// To its end.
    Total,
}

impl Failed {
    /// Whether the same provider may do better in a moment. A limit that passed has cost enough time already, and what
    /// is not of the protocol will not be the next time.
    pub(crate) fn is_worth_retrying(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Broken(_) | Self::ErrorEvent(_) => true,
            Self::Status { status, .. } => {
                matches!(
                    status.as_u16(),
                    408 | 409 | 425 | 429 | 500 | 502 | 503 | 504 | 529
                )
            }
            Self::TimedOut(..) | Self::Invalid(_) => false,
        }
    }

    /// What it says of the health of what the breaker guards. The client's mistakes say nothing; nor does a model that the
    /// provider does not have, unless the breaker guards that model alone.
    pub(crate) fn report(&self, scope: Scope) -> Report {
        let outcome = match self {
            Self::TimedOut(..) => Outcome::Timeout,
            Self::Status { status, .. } => match status.as_u16() {
                404 if scope == Scope::Model => Outcome::Failure,
                429 => Outcome::Failure,
                400..500 => Outcome::Ignored,
                _ => Outcome::Failure,
            },
            _ => Outcome::Failure,
        };
        let mut report = Report::from(outcome);
        report.retry_after = self.retry_after();
        report
    }

    /// Whether another provider may do better: yes, unless the request itself is at fault.
    pub(crate) fn may_move_on(&self) -> bool {
        match self {
            Self::Status { status, .. } => {
                !status.is_client_error()
                    || matches!(status.as_u16(), 401..=404 | 408 | 409 | 415 | 425 | 429)
            }
            _ => true,
        }
    }

    /// The wait that the provider asked for.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// How much it tells a client, of several failures the one that is shown.
    pub(crate) fn weight(&self) -> u8 {
        match self {
            Self::Status { status, .. } if status.is_server_error() => 6,
            Self::ErrorEvent(_) => 6,
            Self::Status { status, .. } if *status == StatusCode::TOO_MANY_REQUESTS => 5,
            Self::TimedOut(..) => 4,
            Self::Invalid(_) => 3,
            Self::Broken(_) | Self::Unreachable(_) => 2,
            Self::Status { .. } => 1,
        }
    }

    /// It as the log of requests has it.
    pub(crate) fn ended(&self, scope: Scope) -> Ended {
        Ended {
            status: match self {
                Self::Status { status, .. } => Some(*status),
                _ => None,
            },
            outcome: self.report(scope).outcome,
            error: Some(self.what()),
        }
    }

    /// It in a few words.
    pub(crate) fn what(&self) -> String {
        match self {
            Self::Unreachable(why) => format!("unreachable ({why})"),
            Self::Broken(why) => format!("connection broke ({why})"),
            Self::TimedOut(limit, after) => format!("{} limit of {after:?} passed", limit.name()),
            Self::Status { status, .. } => format!("status {}", status.as_u16()),
            Self::Invalid(why) => format!("invalid answer ({why})"),
            Self::ErrorEvent(_) => "error in the stream".to_owned(),
        }
    }

    /// It as the client is told, when there is nothing better.
    pub(crate) fn to_client(&self, provider: &str) -> ApiError {
        let bad = |code, message| ApiError::server(StatusCode::BAD_GATEWAY, code, message);
        match self {
            Self::Status {
                status,
                body,
                retry_after,
            } => {
                let said = said(body);
                match status.as_u16() {
                    429 => {
                        let message = format!("{provider} is over its rate limit: {said}");
                        let mut error = ApiError::server(*status, "rate_limit_exceeded", message);
                        error.kind = "rate_limit_error";
                        error.retry_after = *retry_after;
                        error
                    }
                    401..=403 => {
                        let message = format!("{provider} refused the gateway's key: {status}");
                        bad("provider_refused_key", message)
                    }
                    404 => {
                        let message = format!("{provider} does not have it: {said}");
                        ApiError::invalid(*status, "model_not_found", message).param("model")
                    }
                    400..500 => ApiError::invalid(*status, "refused_by_provider", said),
                    _ => bad(
                        "provider_error",
                        format!("{provider} answered {status}: {said}"),
                    ),
                }
            }
            Self::TimedOut(..) => {
                let message = format!("{provider}: {}", self.what());
                ApiError::server(StatusCode::GATEWAY_TIMEOUT, "provider_timeout", message)
            }
            Self::Invalid(_) => bad(
                "invalid_provider_answer",
                format!("{provider}: {}", self.what()),
            ),
            Self::ErrorEvent(said) => bad("provider_error", format!("{provider} failed: {said}")),
            Self::Unreachable(_) | Self::Broken(_) => bad(
                "provider_unreachable",
                format!("{provider}: {}", self.what()),
            ),
        }
    }
}

impl Limit {
    const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::FirstByte => "first-byte",
            Self::Idle => "idle",
            Self::Total => "total",
        }
    }
}

/// The message in a provider's error body. What is not of the protocol (a proxy's HTML page) is not shown to clients.
fn said(body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Shape<'a> {
        #[serde(borrow)]
        error: &'a serde_json::value::RawValue,
    }
    match serde_json::from_slice::<Shape<'_>>(body) {
        Ok(shape) => sse::words(shape.error.get()),
        Err(_) => "no message of the protocol".to_owned(),
    }
}

/// The longest wait that a provider is believed.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// The wait in a `Retry-After` header, in seconds or until a date; `retry-after-ms` is finer and goes first. A wait of
/// nothing is none: a breaker that opened for it would only flap.
pub(crate) fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let millis = || {
        text("retry-after-ms")?
            .parse()
            .ok()
            .map(Duration::from_millis)
    };
    let seconds = || text("retry-after")?.parse().ok().map(Duration::from_secs);
    let date = || {
        let date = httpdate::parse_http_date(text("retry-after")?).ok()?;
        date.duration_since(std::time::SystemTime::now()).ok()
    };
    let wait = millis().or_else(seconds).or_else(date)?;
    (!wait.is_zero()).then_some(wait.min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue};

    use super::*;

    fn wait(fields: &[(&'static str, &str)]) -> Option<u64> {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            let value = HeaderValue::from_str(value).unwrap();
            headers.insert(HeaderName::from_static(name), value);
        }
        retry_after(&headers).map(|wait| wait.as_millis() as u64)
    }

    #[test]
    fn a_wait_is_read_in_all_its_forms_and_bounded() {
        assert_eq!(wait(&[]), None);
        assert_eq!(wait(&[("retry-after", "7")]), Some(7000));
        assert_eq!(
            wait(&[("retry-after", "7"), ("retry-after-ms", "120")]),
            Some(120)
        );
        assert_eq!(
            wait(&[("retry-after", "18446744073709551615")]),
            Some(3_600_000)
        );
        assert_eq!(wait(&[("retry-after", "0")]), None);
        assert_eq!(wait(&[("retry-after", "-1")]), None);
        assert_eq!(wait(&[("retry-after", "soon")]), None);
        assert_eq!(
            wait(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]),
            None
        );
        let soon = std::time::SystemTime::now() + Duration::from_secs(60);
        let soon = wait(&[("retry-after", &httpdate::fmt_http_date(soon))]).unwrap();
        assert!((58_000..=60_000).contains(&soon), "{soon}");
    }
}
