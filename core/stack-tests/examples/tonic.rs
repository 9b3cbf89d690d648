//! A `tonic` channel behind a breaker: `cargo run -p cutout-stack-tests --example tonic`.
//!
//! A client that `tonic` generates takes the service in place of a channel: `GreeterClient::new(service)`.

use std::sync::Arc;
use std::time::Duration;

use cutout::adapters::http::GrpcStatus;
use cutout::adapters::tower::BreakerLayer;
use cutout::{Breaker, Rejected};
use http::{Request, Response};
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
        // A client of `tonic` sees a rejection as UNAVAILABLE, with how long to wait. As an error it would be UNKNOWN to it.
        .map_result(|result: Result<Response<_>, BoxError>| match result {
            Ok(response) => Ok(response.map(Body::new)),
            Err(error) => error
                .downcast()
                .map(|rejected| Rejected::into_grpc(*rejected)),
        })
        // The permit goes on to the body, in whose trailers the status of the call is. `boxed` makes the errors those that `tonic` takes.
        .layer(
            BreakerLayer::new(breaker.clone())
                .classify(GrpcStatus::new())
                .through_body(GrpcStatus::new())
                .boxed(),
        )
        .service(channel);
    for call in 1..=3 {
        let request = Request::post("/greeter.Greeter/SayHello").body(Body::empty())?;
        match service.clone().oneshot(request).await {
            Ok(response) => println!("call {call}: {:?}", response.headers()),
            Err(error) => println!("call {call}: {error}"),
        }
    }
    let request = Request::post("/greeter.Greeter/SayHello").body(Body::empty())?;
    let rejected = service.oneshot(request).await?;
    assert_eq!(rejected.headers()["grpc-status"], "14");
    assert!(rejected.headers().contains_key("grpc-retry-pushback-ms"));
    Ok(())
}
