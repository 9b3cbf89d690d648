//! An `axum` server whose upstream is behind a breaker: `cargo run -p cutout-stack-tests --example axum`.
//!
//! While the breaker is open the server answers 503 with `Retry-After` and does not touch its upstream.

use std::convert::Infallible;
use std::sync::LazyLock;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use axum::routing::get;
use cutout::adapters::http::HttpStatus;
use cutout::adapters::tower::BreakerLayer;
use cutout::{Breaker, CallError};
use tower::{ServiceBuilder, ServiceExt, service_fn};

/// One breaker for one upstream, shared by all requests.
static SEARCH: LazyLock<Breaker> = LazyLock::new(|| {
    let builder = Breaker::builder().name("search").consecutive_failures(3);
    builder.build().expect("a legal config")
});

/// The upstream; here it always fails.
async fn upstream(_: Request<Body>) -> Result<Response<Body>, Infallible> {
    let response = Response::builder().status(StatusCode::BAD_GATEWAY);
    Ok(response.body(Body::empty()).expect("a legal response"))
}

async fn search(request: Request<Body>) -> Response<Body> {
    let guarded = ServiceBuilder::new()
        .layer(BreakerLayer::new(&*SEARCH).classify(HttpStatus::new()))
        .service(service_fn(upstream));
    let result = guarded.oneshot(request).await;
    let Ok(response) = result.or_else(CallError::answer);
    response
}

#[tokio::main]
async fn main() {
    let server = Router::new().route("/search", get(search));
    for call in 1..=5 {
        let request = Request::get("/search").body(Body::empty());
        let request = request.expect("a legal request");
        let Ok(response) = server.clone().oneshot(request).await;
        println!("call {call}: {}", response.status());
        let expected = if call <= 3 { 502 } else { 503 };
        assert_eq!(response.status(), expected);
    }
}
