//! What HTTP and gRPC answers mean, and what rejected calls are answered.

use std::time::{Duration, SystemTime};

use cutout::adapters::http::{GrpcStatus, HttpStatus, parse_retry_after, retry_after};
use cutout::classify::{Classify, ErrorsBy};
use cutout::verdict::{Verdict, Verdicts};
use cutout::{Breaker, Builder, CallError, ManualClock, OpenWait, Outcome, Rejected, Report};
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use proptest::collection::vec;
use proptest::prelude::*;

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
fn a_response_counts_as_the_table_says_any_status_it_may_have() {
    for status in 100..=999 {
        let expected = Verdicts::http().of(status).outcome;
        assert_eq!(of_http(status, None).outcome, expected, "{status}");
    }
    assert_eq!(of_http(404, None).outcome, Outcome::Answered);
    assert_eq!(of_http(408, None).outcome, Outcome::Timeout);
    assert_eq!(of_http(504, None).outcome, Outcome::Timeout);
}

#[test]
fn a_row_that_is_changed_counts_so() {
    let missing = Response::builder().status(404).body(()).unwrap();
    let strict = HttpStatus::by(Verdicts::http().with(404, Verdict::FAILURE));
    let report = Classify::<_, Failed>::classify(&strict, Ok(&missing));
    assert_eq!(report.outcome, Outcome::Failure);
    let lenient = GrpcStatus::by(Verdicts::grpc().with(14, Verdict::IGNORED));
    let unavailable = Response::builder().header("grpc-status", "14");
    let unavailable = unavailable.body(()).unwrap();
    let report = Classify::<_, Failed>::classify(&lenient, Ok(&unavailable));
    assert_eq!(report.outcome, Outcome::Ignored);
}

#[test]
fn an_error_is_a_failure_and_a_timeout_if_it_is_told_apart() {
    let late = Failed::from(std::io::ErrorKind::TimedOut);
    let outcome =
        |classifier: &dyn Classify<Response<()>, Failed>| classifier.classify(Err(&late)).outcome;
    assert_eq!(outcome(&HttpStatus::new()), Outcome::Failure);
    assert_eq!(outcome(&GrpcStatus::new()), Outcome::Failure);
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
        (503, Some("18446744073709551616"), Some(300)),
        (503, Some("-1"), None),
        (503, Some("+1"), None),
        (503, Some("1.5"), None),
        (503, Some("Fri, 31 Dec 1999 23:59:59 GMT"), Some(0)),
        (504, Some("Fri, 31 Dec 9999 23:59:59 GMT"), Some(300)),
        (503, None, None),
        (404, Some("7"), None),
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

/// Wall-clock times by the seconds of the Unix epoch.
fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

#[test]
fn a_wait_is_read_in_seconds_and_in_each_form_of_a_date() {
    // 06 Nov 1994 08:49:37 GMT, in the three forms of the standard.
    let now = at(784_111_777 - 90);
    for date in [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ] {
        let wait = |now| parse_retry_after(date.as_bytes(), now);
        assert_eq!(wait(now), Some(Duration::from_secs(90)), "{date}");
        assert_eq!(wait(at(784_111_777)), Some(Duration::ZERO), "{date}");
        assert_eq!(wait(at(1_000_000_000)), Some(Duration::ZERO), "{date}");
    }
    for (value, seconds) in [
        ("0", Some(0)),
        ("120", Some(120)),
        (" 7\t", Some(7)),
        ("007", Some(7)),
        ("99999999999999999999999999", Some(u64::MAX)),
        ("", None),
        ("-1", None),
        ("+1", None),
        ("1.5", None),
        ("1e3", None),
        ("0x10", None),
        ("1 2", None),
        ("\u{0661}", None),
        ("soon", None),
        ("Mon, 06 Nov 1994 08:49:37 GMT", None),
        ("Sun, 31 Feb 1994 08:49:37 GMT", None),
        ("Sun, 06 Nov 1994 08:49:37 CET", None),
    ] {
        let wait = parse_retry_after(value.as_bytes(), now);
        assert_eq!(wait, seconds.map(Duration::from_secs), "{value:?}");
    }
}

#[test]
fn finer_waits_go_first_and_of_several_the_longest_holds() {
    let wait = |fields: &[(&'static str, &'static str)]| {
        let fields = fields.iter().map(|&(name, value)| {
            let value = HeaderValue::from_static(value);
            (HeaderName::from_static(name), value)
        });
        let mut headers = HeaderMap::new();
        fields.for_each(|(name, value)| _ = headers.append(name, value));
        retry_after(&headers, at(0))
    };
    let millis = |millis| Some(Duration::from_millis(millis));
    assert_eq!(wait(&[]), None);
    assert_eq!(
        wait(&[("retry-after", "7"), ("retry-after-ms", "120")]),
        millis(120)
    );
    assert_eq!(
        wait(&[("retry-after", "7"), ("retry-after-ms", "1.5")]),
        millis(7000)
    );
    assert_eq!(
        wait(&[("retry-after", "7"), ("retry-after", "9")]),
        millis(9000)
    );
    assert_eq!(
        wait(&[("retry-after", "soon"), ("retry-after", "9")]),
        millis(9000)
    );
}

proptest! {
    #[test]
    fn a_wait_of_any_bytes_is_read_or_refused(
        bytes in vec(any::<u8>(), 0..40),
        like_a_date in "[A-Z][a-z]{2,6},? [0-9]{2}[ -][A-Z][a-z]{2}[ -][0-9]{2,4} [0-9:]{8} ?[A-Z]{0,3}",
        now in 0..u64::from(u32::MAX),
    ) {
        let _ = parse_retry_after(&bytes, at(now));
        let _ = parse_retry_after(like_a_date.as_bytes(), at(now));
    }

    #[test]
    fn a_date_is_as_far_as_it_says(now in 0_u64..4_000_000_000, ahead in 0_u64..100_000_000) {
        let date = httpdate::fmt_http_date(at(now + ahead));
        let wait = parse_retry_after(date.as_bytes(), at(now));
        prop_assert_eq!(wait, Some(Duration::from_secs(ahead)));
    }
}

#[test]
fn a_grpc_status_counts_by_its_code() {
    for code in -1..=20 {
        let expected = Verdicts::grpc().of(code).outcome;
        assert_eq!(GrpcStatus::outcome(code), expected, "{code}");
    }
    for (code, expected) in [
        (1, Outcome::Timeout),
        (4, Outcome::Timeout),
        (5, Outcome::Answered),
    ] {
        assert_eq!(GrpcStatus::outcome(code), expected, "{code}");
    }
}

#[test]
fn a_grpc_status_that_asks_to_wait_is_heeded_up_to_a_limit() {
    for (code, pushback, expected) in [
        ("14", "1500", Some(1500)),
        ("8", "999999999", Some(300_000)),
        ("14", "-1", None),
        ("14", "1.5", None),
        ("5", "1500", None),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert("grpc-status", code.parse().unwrap());
        headers.insert("grpc-retry-pushback-ms", pushback.parse().unwrap());
        let report = GrpcStatus::new().report(&headers).unwrap();
        let expected = expected.map(Duration::from_millis);
        assert_eq!(report.retry_after, expected, "{code} {pushback}");
        let deaf = GrpcStatus::new().longest_wait(Duration::ZERO);
        assert_eq!(deaf.report(&headers).unwrap().retry_after, None);
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
        Classify::<_, Failed>::classify(&GrpcStatus::new(), Ok(&response)).outcome
    };
    assert_eq!(outcome(200, None), Outcome::Success);
    assert_eq!(outcome(200, Some("14")), Outcome::Failure);
    assert_eq!(outcome(200, Some("5")), Outcome::Answered);
    assert_eq!(outcome(200, Some("fourteen")), Outcome::Failure);
    assert_eq!(outcome(503, None), Outcome::Failure);
    assert_eq!(outcome(404, None), Outcome::Answered);
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

#[test]
fn a_rejection_is_unavailable_to_grpc_and_says_in_how_many_milliseconds() {
    for (left, pushback) in [
        (Duration::from_secs(30), Some(30_000)),
        (Duration::from_micros(1_001), Some(2)),
        (Duration::MAX, None),
    ] {
        let rejected = CallError::<Failed>::Rejected(rejection(left));
        let answer: Response<String> = rejected.answer_grpc().unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let headers = answer.headers();
        assert_eq!(headers["content-type"], "application/grpc");
        assert_eq!(headers["grpc-status"], "14");
        assert!(headers["grpc-message"].to_str().unwrap().contains("open"));
        let wait = cutout::adapters::http::retry_pushback(headers);
        assert_eq!(wait, pushback.map(Duration::from_millis), "{left:?}");
        let report = GrpcStatus::new().report(headers).unwrap();
        assert_eq!(report.outcome, Outcome::Failure);
    }
    let failed = CallError::Inner(Failed::other("reset"));
    assert!(failed.answer_grpc::<()>().is_err());
}
