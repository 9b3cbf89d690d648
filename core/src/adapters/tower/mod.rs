//! A `tower` layer and its service (feature `tower`).
//!
//! ```
//! use std::convert::Infallible;
//! use std::sync::Arc;
//! use cutout::adapters::tower::BreakerLayer;
//! use cutout::{Breaker, CallError};
//! use tower::{Service, ServiceBuilder, ServiceExt};
//!
//! # futures_executor::block_on(async {
//! let breaker = Arc::new(Breaker::builder().name("search").build()?);
//! let mut service = ServiceBuilder::new()
//!     .layer(BreakerLayer::new(breaker.clone()))
//!     .service_fn(async |query: &str| Ok::<_, Infallible>(query.len()));
//!
//! assert_eq!(service.ready().await?.call("rust").await?, 4);
//!
//! breaker.force_open(None, "maintenance");
//! match service.ready().await?.call("rust").await {
//!     Err(CallError::Rejected(rejected)) => println!("not called: {rejected}"),
//!     other => panic!("{other:?}"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # When a call is admitted
//!
//! A `tower` service is first made ready, and called later or never. The two are used for what
//! they are:
//!
//! - **`poll_ready` looks.** If the breaker would refuse a call, the service is ready at once and
//!   the inner one is not touched; the call that follows is rejected. Otherwise readiness is that
//!   of the inner service, backpressure and all.
//! - **`call` asks for admission**, and takes a permit only then, just before it calls the
//!   service that was readied. So a service that is made ready and never called, or dropped, holds
//!   no probe's slot, and no permit grows old in a queue. A breaker that has opened since
//!   `poll_ready` rejects, and the inner service is not called.
//! - **The response future owns the permit.** Dropped, it settles the call as abandoned.
//!
//! An open breaker touches the inner service not at all. A caller that waits for the inner service
//! already when the breaker opens learns of it when that wakes it. A refusal stands from `poll_ready` to the
//! `call` it belongs to: the inner service was not readied, so it cannot be called, even if the
//! wait has ended in between. The rejection says then that the time left is zero. Getting ready
//! again asks anew. This way the inner service need not be `Clone`, and each call costs no clone.
//!
//! The breaker is in an `Arc`, or borrowed from a `static`, or from a breaker that was [leaked](crate::Breaker::leak): see
//! [`Gate`](crate::Gate). All services of a layer and of its clones share it. Threads that call at once hinder each other by
//! the `Arc`'s count of references, and not by borrowing.
//!
//! An inner service that fails to get ready, say for want of a connection, counts as a call that
//! came to this error.
//!
//! With [`BreakerLayer::keyed`] each request has the breaker of its key: of its authority, its tenant, its
//! model.
//!
//! # What a failure is
//!
//! `Ok` is a success and `Err` a failure, unless [`BreakerLayer::classify`] says otherwise: with a
//! closure, or with `HttpStatus` or `GrpcStatus` of the feature `http`. With the feature `body`,
//! `BreakerLayer::through_body` hands the permit on to the response's body, so that a body
//! that breaks after good headers is a failure.
//!
//! # Errors
//!
//! A call comes to [`CallError`](crate::CallError): rejected, or the inner error as it is. It is a
//! [`core::error::Error`] if the inner one is. Layers of `tower` that box errors
//! cannot stand before a breaker whose inner error is boxed already, since nothing says that this error is one: let the layer box it, with
//! [`BreakerLayer::boxed`], or put `map_err(CallError::into_boxed)` between. A server that
//! answers in place of an error uses `CallError::answer` of the feature `http`.
//!
//! A server whose upstream is behind a breaker, as it answers its own callers:
//!
//! ```
//! use std::sync::LazyLock;
//! use std::time::Duration;
//! use cutout::adapters::http::HttpStatus;
//! use cutout::adapters::tower::BreakerLayer;
//! use cutout::{Breaker, CallError};
//! use http::{Request, Response};
//! use http_body_util::Empty;
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! static SEARCH: LazyLock<Breaker> =
//!     LazyLock::new(|| Breaker::builder().name("search").build().expect("a legal config"));
//!
//! # #[derive(Debug)] struct Failed;
//! # futures_executor::block_on(async {
//! type Body = Empty<&'static [u8]>;
//!
//! let upstream = ServiceBuilder::new()
//!     .layer(BreakerLayer::new(&*SEARCH).classify(HttpStatus::new()))
//!     .service_fn(async |_: Request<Body>| Ok::<_, Failed>(Response::new(Body::new())));
//!
//! SEARCH.force_open(Some(Duration::from_secs(5)), "maintenance");
//! let result = upstream.oneshot(Request::new(Body::new())).await;
//! let response = result.or_else(CallError::answer).unwrap();
//! assert_eq!(response.status(), 503);
//! assert_eq!(response.headers()["retry-after"], "5");
//! # });
//! ```
//!
//! # Bodies
//!
//! The permit goes on to the body of each good answer, which may be given limits:
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use cutout::adapters::body::{GuardedBody, Limits};
//! use cutout::adapters::http::HttpStatus;
//! use cutout::adapters::tower::BreakerLayer;
//! use cutout::Breaker;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt, Full};
//! use tower::{BoxError, ServiceBuilder, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let breaker = Arc::new(Breaker::builder().name("models").build()?);
//! let limits = Limits::new().first(Duration::from_secs(20)).idle(Duration::from_secs(5));
//! let upstream = ServiceBuilder::new()
//!     .map_response(move |response: Response<GuardedBody<_, _>>| {
//!         response.map(|body| body.limits(limits, tokio::time::sleep))
//!     })
//!     .layer(
//!         BreakerLayer::new(breaker.clone())
//!             .classify(HttpStatus::new())
//!             .through_body(HttpStatus::new()),
//!     )
//!     .service_fn(async |_: Request<()>| {
//!         Ok::<_, std::io::Error>(Response::new(Full::new(&b"pong"[..])))
//!     });
//!
//! let response = upstream.oneshot(Request::new(())).await?;
//! assert_eq!(breaker.snapshot().counts().samples, 0, "its body is still to come");
//! assert_eq!(response.into_body().collect().await?.to_bytes(), "pong");
//! assert_eq!(breaker.snapshot().counts().samples, 1);
//! # Ok(())
//! # }
//! ```
//!
//! # With other layers
//!
//! | layer | outside the breaker | inside |
//! | --- | --- | --- |
//! | `Timeout` | cuts calls off: they are abandoned, and count only if [`Config::abandoned`](crate::Config::abandoned) says so, or [`Config::abandoned_after`](crate::Config::abandoned_after) for those that took long | its error is classified: let it be a timeout |
//! | `Retry` | each attempt is a call of its own; its policy must not retry `CallError::Rejected` | all attempts are one call with one outcome |
//! | `ConcurrencyLimit` | callers queue before they learn that the breaker is open | an open breaker rejects at once; a place is taken before the permit |
//! | `LoadShed` | sheds while the inner service is busy, unless the breaker is open: then it rejects | its error is of this process: classify it as ignored |
//! | `Buffer` | callers share one service; one that goes away in the queue costs nothing | the queue is waited for before the permit |
//! | `Balance` | each endpoint has its breaker. One that is open answers at once, which makes it look idle: let the load be ordered by `breaker().refusal().is_some()` first | one breaker for all endpoints |
//!
//! # What it costs
//!
//! No allocation, no box. A healthy call takes 1.3 ns more than one of the bare service with the breaker
//! in a `static`, and 12 ns more with one in an `Arc`, whose references are counted: 24 to 28 ns while another
//! thread calls, too (`cargo bench -p cutout --bench edges`, on the machine of the README's numbers).
//!
//! # Panics
//!
//! A panic of the inner service is passed on, and counts as
//! [`Config::panicked`](crate::Config::panicked) says.

#[cfg(all(feature = "http", feature = "registry"))]
mod authority;
mod boxed;
mod error;
mod future;
mod keyed;
mod layer;
mod service;
mod settle;
#[cfg(feature = "body")]
mod through_body;

#[cfg(all(feature = "http", feature = "registry"))]
pub use authority::by_authority;
pub use boxed::{BoxedFuture, BoxedLayer, BoxedService};
pub use future::ResponseFuture;
pub use keyed::Keyed;
pub use layer::BreakerLayer;
pub use service::BreakerService;
pub use settle::{AtResult, Settle};
#[cfg(feature = "body")]
pub use through_body::ThroughBody;
