//! A `tonic` channel behind a breaker: `cargo run -p cutout-stack-tests --example tonic`.
//!
//! A client that `tonic` generates takes the service in place of a channel: `GreeterClient::new(service)`.

use std::sync::Arc;
use std::time::Duration;

use cutout::adapters::http::GrpcStatus;
use cutout::adapters::tower::BreakerLayer;
use cutout::{Breaker, Rejected};
use http::Request;
use tonic::body::Body;
use tonic::transport::Endpoint;
use tower::{BoxError, ServiceBuilder, ServiceExt};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let breaker = Arc::new(
        Breaker::builder()
            .name("greeter")
            .consecutive_failures(2)
            .build()?,
    );
    // Nobody listens there. The connection is made with the first call.
    let endpoint = Endpoint::from_static("http://127.0.0.1:9");
    let channel = endpoint
        .connect_timeout(Duration::from_secs(1))
        .connect_lazy();
    let service = ServiceBuilder::new()
        // The permit goes on to the body, in whose trailers the status of the call is. `boxed` makes the errors those that `tonic` takes.
        .layer(
            BreakerLayer::new(breaker.clone())
                .classify(GrpcStatus::new())
                .through_body(GrpcStatus::new())
                .boxed(),
        )
        .service(channel);
    for call in 1..=4 {
        let request = Request::post("/greeter.Greeter/SayHello").body(Body::empty())?;
        let error = service
            .clone()
            .oneshot(request)
            .await
            .map(drop)
            .unwrap_err();
        println!("call {call}: {error}");
        assert_eq!(error.is::<Rejected>(), call > 2);
    }
    Ok(())
}
