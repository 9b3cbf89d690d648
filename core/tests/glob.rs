//! All names of the crate at once hide no crate of those who import them.

use cutout::*;

#[tokio::test]
async fn crates_that_the_features_are_named_for_stay_in_sight() {
    tokio::task::yield_now().await;
    tracing::info!("a call");
    metrics::counter!("calls").increment(1);
    let body = http_body_util::Full::new(bytes::Bytes::from_static(b"pong"));
    assert!(!http_body::Body::is_end_stream(&body));
    let service = tower::service_fn(async |status: http::StatusCode| Ok::<_, ()>(status.as_u16()));
    let answer = tower::ServiceExt::oneshot(service, http::StatusCode::OK).await;
    assert_eq!(answer, Ok(200));
    let written = serde::Serialize::serialize(&State::Closed, serde_json::value::Serializer);
    assert_eq!(written.unwrap(), "closed");
    let breaker: Breaker = Breaker::builder().build().unwrap();
    assert_eq!(breaker.state(), State::Closed);
}
