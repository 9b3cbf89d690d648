//! What HTTP and gRPC answers mean, and what rejected calls are answered.

use std::time::Duration;

use cutout::adapters::http::{GrpcStatus, HttpStatus};
use cutout::classify::{Classify, ErrorsBy};
use cutout::{Breaker, Builder, CallError, ManualClock, OpenWait, Outcome, Rejected, Report};
use http::header::RETRY_AFTER;
use http::{Response, StatusCode};

type Failed = std::io::Error;

fn of_http(status: u16, retry_after: Option<&str>) -> Report {
    let mut response = Response::builder().status(status);
    if let Some(value) = retry_after {
        response = response.header(RETRY_AFTER, value);
    }
    let response = response.body(()).unwrap();
    Classify::<_, Failed>::classify(&HttpStatus::new(), Ok(&response))
}

#[test]
fn an_http_status_counts_as_the_design_says() {
    for status in 100..=599 {
        let expected = match status {
            429 | 500..=599 => Outcome::Failure,
            400..=499 => Outcome::Ignored,
            _ => Outcome::Success,
        };
        assert_eq!(of_http(status, None).outcome, expected, "{status}");
    }
}

#[test]
fn an_error_is_a_failure_and_a_timeout_if_it_is_told_apart() {
    let late = Failed::from(std::io::ErrorKind::TimedOut);
    let outcome =
        |classifier: &dyn Classify<Response<()>, Failed>| classifier.classify(Err(&late)).outcome;
    assert_eq!(outcome(&HttpStatus::new()), Outcome::Failure);
    assert_eq!(outcome(&GrpcStatus), Outcome::Failure);
    let told_apart = ErrorsBy::new(HttpStatus::new(), |error: &Failed| match error.kind() {
        std::io::ErrorKind::TimedOut => Outcome::Timeout,
        _ => Outcome::Failure,
    });
    assert_eq!(outcome(&told_apart), Outcome::Timeout);
}

#[test]
fn retry_after_is_followed_in_seconds_up_to_a_limit() {
    for (status, header, expected) in [
        (429, Some("7"), Some(7)),
        (503, Some(" 0 "), Some(0)),
        (503, Some("86400"), Some(300)),
        (503, Some("18446744073709551616"), None),
        (503, Some("-1"), None),
        (503, Some("Fri, 31 Dec 1999 23:59:59 GMT"), None),
        (503, None, None),
        (200, Some("7"), None),
    ] {
        let wait = of_http(status, header).retry_after;
        assert_eq!(wait, expected.map(Duration::from_secs), "{header:?}");
    }
    let response = Response::builder().status(503).header(RETRY_AFTER, "7");
    let response = response.body(()).unwrap();
    let wait = |classifier: HttpStatus| {
        Classify::<_, Failed>::classify(&classifier, Ok(&response)).retry_after
    };
    assert_eq!(wait(HttpStatus::new().longest_wait(Duration::ZERO)), None);
    let second = Duration::from_secs(1);
    assert_eq!(wait(HttpStatus::new().longest_wait(second)), Some(second));
}

#[test]
fn a_grpc_status_counts_by_its_code() {
    for code in -1..=20 {
        let expected = match code {
            0 => Outcome::Success,
            4 => Outcome::Timeout,
            1 | 3 | 5 | 6 | 7 | 9 | 10 | 11 | 12 | 16 => Outcome::Ignored,
            _ => Outcome::Failure,
        };
        assert_eq!(GrpcStatus::outcome(code), expected, "{code}");
    }
}

#[test]
fn grpc_headers_count_by_their_status_and_else_by_that_of_http() {
    let outcome = |http_status: u16, grpc_status: Option<&str>| {
        let mut response = Response::builder().status(http_status);
        if let Some(status) = grpc_status {
            response = response.header("grpc-status", status);
        }
        let response = response.body(()).unwrap();
        Classify::<_, Failed>::classify(&GrpcStatus, Ok(&response)).outcome
    };
    assert_eq!(outcome(200, None), Outcome::Success);
    assert_eq!(outcome(200, Some("14")), Outcome::Failure);
    assert_eq!(outcome(200, Some("5")), Outcome::Ignored);
    assert_eq!(outcome(200, Some("fourteen")), Outcome::Failure);
    assert_eq!(outcome(503, None), Outcome::Failure);
    assert_eq!(outcome(404, None), Outcome::Ignored);
}

/// A rejection with this much time left.
fn rejection(left: Duration) -> Rejected {
    let wait = OpenWait::fixed(left);
    let breaker = Builder::new(ManualClock::new())
        .consecutive_failures(1)
        .open_wait(wait);
    let breaker = breaker.build().unwrap();
    breaker.allow().unwrap().failure();
    breaker.allow().unwrap_err()
}

#[test]
fn a_rejection_is_answered_with_503_and_whole_seconds() {
    for (left, header) in [
        (Duration::from_secs(30), Some("30")),
        (Duration::from_millis(1_001), Some("2")),
        (Duration::from_nanos(1), Some("1")),
        (Duration::MAX, None),
    ] {
        let answer: Response<String> = rejection(left).into();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        let value = answer
            .headers()
            .get(RETRY_AFTER)
            .map(|value| value.to_str().unwrap());
        assert_eq!(value, header, "{left:?}");
        assert!(answer.body().is_empty());
    }
}

#[test]
fn a_rejection_without_an_end_is_answered_without_retry_after() {
    let breaker = Breaker::builder().build().unwrap();
    breaker.force_open(None, "drill");
    let answer: Response<()> = breaker.allow().unwrap_err().into();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.headers().get(RETRY_AFTER), None);
}

#[test]
fn only_a_rejected_call_is_answered() {
    let rejected = CallError::<Failed>::Rejected(rejection(Duration::from_secs(1)));
    let answer: Response<()> = rejected.answer().unwrap();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    let failed = CallError::Inner(Failed::other("reset"));
    assert_eq!(failed.answer::<()>().unwrap_err().to_string(), "reset");
}
