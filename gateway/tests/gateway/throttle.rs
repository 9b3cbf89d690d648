//! A throttle beside a provider's breaker.

use std::sync::Arc;

use cutout::Throttle;
use cutout_gateway::demo::fake::Mood;
use http::StatusCode;
use serde_json::{Value, json};

use crate::changes::{patch, version};
use crate::passing::tempfile;
use crate::rig::{Rig, fake, provider, route};

/// Beside a breaker that never opens in these tests.
const THROTTLE: &str =
    "throttle = { k = 2.0 }\nbreaker = { window = { count = 4000 }, min_calls = 4000 }";

fn throttle(rig: &Rig, name: &str) -> Arc<Throttle> {
    Arc::clone(&rig.gateway.fleet.load().throttles[name])
}

async fn state(rig: &Rig, breaker: &str) -> Value {
    let state = rig.get("/admin/state").await.json();
    let breakers = state["breakers"].as_array().unwrap();
    let found = breakers.iter().find(|one| one["name"] == breaker);
    found.unwrap().clone()
}

#[tokio::test]
async fn the_refused_share_of_an_overloaded_provider_goes_to_the_next() {
    let (busy, well) = (
        fake(Mood::Refusing(429, None)).await,
        fake(Mood::Well).await,
    );
    let config = provider("busy", &busy.url(), THROTTLE)
        + &provider("well", &well.url(), "")
        + &route("m", &["busy", "well"], "");
    let rig = Rig::start(&config).await;
    for _ in 0..200 {
        assert_eq!(rig.chat("m").await.status, StatusCode::OK);
    }
    let refused = 200 - busy.calls();
    assert!((100..200).contains(&refused), "{refused}");
    let shown = state(&rig, "busy").await;
    assert_eq!(shown["state"], "closed");
    assert_eq!(shown["throttle"]["refused"], refused);
    assert!(
        shown["throttle"]["share"].as_f64().unwrap() > 0.8,
        "{shown}"
    );
    assert_eq!(shown["throttle"]["accepts"], 0);
    assert_eq!(state(&rig, "well").await["throttle"], Value::Null);
    let page = rig.get("/metrics").await;
    let line = format!("cutout_throttle_refusals_total{{throttle=\"busy\"}} {refused}");
    assert!(page.text().lines().any(|told| told == line), "{line}");
    rig.stop().await;
}

#[tokio::test]
async fn a_client_is_told_that_all_are_throttled_and_when_to_come_back() {
    let busy = fake(Mood::Refusing(503, None)).await;
    let config = provider("busy", &busy.url(), THROTTLE) + &route("m", &["busy"], "");
    let rig = Rig::start(&config).await;
    let mut last = None;
    for _ in 0..200 {
        let before = busy.calls();
        let answer = rig.chat("m").await;
        if busy.calls() == before {
            last = Some(answer);
        }
    }
    let answer = last.expect("most are refused");
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.error(), "no_provider");
    assert_eq!(answer.header("retry-after"), Some("1"));
    let tried = answer.tried();
    assert!(
        tried[0].contains("busy: ") && tried[0].contains("throttle"),
        "{tried:?}"
    );
    rig.stop().await;
}

#[tokio::test]
async fn a_throttle_stays_unless_its_config_changes() {
    let well = fake(Mood::Well).await;
    let config = provider("a", &well.url(), THROTTLE) + &route("m", &["a"], "");
    let file = tempfile(&config);
    let rig = Rig::start_file(file.path()).await;
    rig.chat("m").await;
    let first = throttle(&rig, "a");
    assert_eq!(first.share().accepts, 1);
    let at = version(&rig.get("/admin/config").await);
    let answer = patch(&rig, &at, "provider[0].max_in_flight", json!(9)).await;
    assert!(Arc::ptr_eq(&first, &throttle(&rig, "a")));
    let answer = patch(
        &rig,
        &version(&answer),
        "provider[0].throttle.k",
        json!(3.5),
    )
    .await;
    let second = throttle(&rig, "a");
    assert_eq!((second.config().k, second.share().requests), (3.5, 0));
    let at = version(&answer);
    let refused = patch(&rig, &at, "provider[0].throttle.k", json!(0.5)).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        refused.text().contains("provider[0].throttle.k"),
        "{refused:?}"
    );
    assert!(Arc::ptr_eq(&second, &throttle(&rig, "a")));
    rig.chat("m").await;
    assert_eq!(second.share().accepts, 1);
    let answer = patch(&rig, &at, "provider[0].throttle", Value::Null).await;
    assert!(rig.gateway.fleet.load().throttles.is_empty(), "{answer:?}");
    patch(
        &rig,
        &version(&answer),
        "provider[0].throttle",
        json!({"length": "30s"}),
    )
    .await;
    assert_eq!(throttle(&rig, "a").config().length.as_secs(), 30);
    rig.chat("m").await;
    assert_eq!(throttle(&rig, "a").share().accepts, 1);
    rig.stop().await;
}

#[tokio::test]
async fn each_model_has_a_throttle_of_its_own_where_it_has_a_breaker() {
    let busy = fake(Mood::Well).await;
    let more = format!("scope = \"model\"\n{THROTTLE}");
    let config =
        provider("a", &busy.url(), &more) + &route("m", &["a"], "") + &route("n", &["a"], "");
    let rig = Rig::start(&config).await;
    rig.chat("m").await;
    assert_eq!(throttle(&rig, "a/m").share().accepts, 1);
    assert_eq!(throttle(&rig, "a/n").share().accepts, 0);
    rig.stop().await;
}
