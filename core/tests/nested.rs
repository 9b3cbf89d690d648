//! Calls that go through a second breaker: what that one rejects says nothing of the outer
//! one's upstream, however the rejection is wrapped.

use std::error::Error;
use std::io;
use std::sync::Arc;

use cutout::adapters::tokio::TimedCallError;
use cutout::adapters::tower::BreakerLayer;
use cutout::classify::{ByResult, Classify, Judge};
use cutout::router::{Attempts, Router, RouterConfig, Step, Target};
use cutout::{Breaker, CallError, Outcome, State};
use futures_executor::block_on;
use tower::{Service, ServiceBuilder, ServiceExt};

/// Opens at the third failure in a row.
fn outer() -> Breaker {
    let builder = Breaker::builder().consecutive_failures(3);
    builder.failure_ratio(None).build().unwrap()
}

/// The same, where a variable has its name.
fn opens_too() -> Breaker {
    outer()
}

/// Rejects every call.
fn inner() -> Breaker {
    let breaker = outer();
    breaker.force_open(None, "test");
    breaker
}

fn fails() -> Result<(), io::Error> {
    Err(io::Error::other("reset"))
}

#[test]
fn a_rejection_by_another_breaker_is_no_failure_of_the_outer_upstream() {
    let (outer, inner) = (outer(), inner());
    for _ in 0..1000 {
        let result = outer.call(|| inner.call(fails));
        assert!(matches!(
            result,
            Err(CallError::Inner(CallError::Rejected(_)))
        ));
    }
    assert_eq!(outer.state(), State::Closed);
    assert_eq!(outer.snapshot().counts().samples, 0);
}

#[test]
fn a_failure_after_rejections_of_the_same_type_counts() {
    let (outer, rejecting, admitting) = (outer(), inner(), opens_too());
    for _ in 0..3 {
        let _ = outer.call(|| rejecting.call(fails));
        let _ = outer.call(|| admitting.call(fails));
    }
    assert_eq!(outer.state(), State::Open);
}

#[test]
fn it_is_found_bare_boxed_and_three_breakers_deep() {
    let (outer, middle, inner) = (outer(), opens_too(), inner());
    for _ in 0..10 {
        let _ = outer.call(|| inner.allow().map(drop));
        let _ = outer.call(|| inner.call(fails).map_err(CallError::into_boxed));
        let _ = outer.call(|| {
            let boxed = inner.call(fails).map_err(CallError::into_boxed);
            boxed.map_err(|error| -> Box<dyn Error> { error })
        });
        let _ = outer.call(|| middle.call(|| inner.call(fails)));
        let _ =
            outer.call(|| middle.call(|| Ok::<(), CallError<io::Error>>(inner.allow().map(drop)?)));
    }
    assert_eq!(
        (outer.state(), middle.state()),
        (State::Closed, State::Closed)
    );
}

/// What `?` makes of it, and what an error of one's own that passes it on.
#[test]
fn it_is_found_in_a_box_that_hides_its_type() {
    #[derive(Debug)]
    struct Own(CallError<io::Error>);

    impl std::fmt::Display for Own {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.fmt(f)
        }
    }

    impl Error for Own {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.0.source()
        }
    }

    let (outer, rejecting) = (outer(), inner());
    let router = || {
        let targets = [Target::new("only", (), Arc::new(inner()))];
        Router::new(RouterConfig::default(), targets).unwrap()
    };
    for _ in 0..10 {
        let _ = outer.call(|| Ok::<(), Box<dyn Error + Send + Sync>>(rejecting.call(fails)?));
        let _ = outer.call(|| Ok::<(), Box<dyn Error>>(rejecting.call(fails).map_err(Own)?));
        let _ = outer.call(|| {
            let route = router().call(&mut Attempts::new(), |()| fails(), Step::of);
            Ok::<(), Box<dyn Error>>(route?)
        });
    }
    assert_eq!(outer.state(), State::Closed);
    let admitting = opens_too();
    for _ in 0..3 {
        let _ = outer.call(|| Ok::<(), Box<dyn Error>>(admitting.call(fails)?));
    }
    assert_eq!(outer.state(), State::Open);
}

#[test]
fn it_is_found_where_another_thread_was_rejected() {
    let outer = outer();
    for _ in 0..10 {
        let on_another = || std::thread::spawn(|| inner().call(|| Err::<(), _>(7_u64)));
        let _ = outer.call(|| on_another().join().unwrap());
    }
    assert_eq!(outer.state(), State::Closed);
}

#[tokio::test]
async fn async_calls_ignore_it_with_a_limit_and_without() {
    let (outer, middle, inner) = (outer(), opens_too(), inner());
    let limit = std::time::Duration::from_secs(60);
    for _ in 0..10 {
        let _ = outer
            .call_async(async || inner.call_async(async || fails()).await)
            .await;
        let timed = async || inner.call_timeout(limit, async || fails()).await;
        let result = outer.call_timeout(limit, timed).await;
        let is_rejection =
            |error| matches!(error, TimedCallError::Inner(TimedCallError::Rejected(_)));
        assert!(result.is_err_and(is_rejection));
        let _ = outer
            .call_async(async || middle.call_timeout(limit, timed).await)
            .await;
    }
    assert_eq!(
        (outer.state(), middle.state()),
        (State::Closed, State::Closed)
    );
}

#[test]
fn tower_layers_in_one_another_ignore_it() {
    let (outer, inner) = (Arc::new(outer()), Arc::new(inner()));
    let mut service = ServiceBuilder::new()
        .layer(BreakerLayer::new(outer.clone()))
        .layer(BreakerLayer::new(inner))
        .service_fn(async |()| fails());
    block_on(async {
        for _ in 0..10 {
            service.ready().await.unwrap().call(()).await.unwrap_err();
        }
    });
    assert_eq!(outer.state(), State::Closed);
}

#[test]
fn a_router_without_a_target_is_no_failure() {
    let outer = outer();
    let targets = [Target::new("only", (), Arc::new(inner()))];
    let router = Router::new(RouterConfig::default(), targets).unwrap();
    for _ in 0..10 {
        let _ = outer.call(|| router.call(&mut Attempts::new(), |()| fails(), Step::of));
    }
    assert_eq!(outer.state(), State::Closed);
}

#[test]
fn judges_of_streams_ignore_it() {
    let inner = inner();
    let rejected = Err::<(), _>(inner.allow().map(drop).unwrap_err());
    let report = ByResult.classify(rejected.as_ref());
    assert_eq!(report.outcome, Outcome::Ignored);
    let verdict = Judge::item(&mut ByResult, &rejected).unwrap();
    assert_eq!(verdict.outcome, Outcome::Ignored);
}
