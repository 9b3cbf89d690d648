//! A Prometheus endpoint, scraped over HTTP.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::Guarded;
use crate::http::{Caller, story};
use crate::upstream::{Upstream, serve};

#[tokio::test]
async fn the_metrics_tell_the_story() {
    let guarded = Guarded::new("upstream");
    let recorder = Arc::new(PrometheusBuilder::new().build_recorder());
    let (upstream, address) = Upstream::start().await;
    let caller = Caller::new(&guarded, address);
    let endpoint = {
        let breaker = Arc::clone(&guarded.breaker);
        let observer = Arc::new(cutout::adapters::metrics::Observer::new());
        let page = move || {
            // A process with one recorder installs it; here each test has its own.
            metrics::with_local_recorder(&*recorder, || {
                cutout::adapters::metrics::describe();
                observer.round(|round| round.show(&breaker));
            });
            std::future::ready(recorder.handle().render())
        };
        serve(Router::new().route("/metrics", get(page))).await
    };
    let scrape = async || {
        let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
        let page = client
            .get(format!("http://{endpoint}/metrics").parse().unwrap())
            .await
            .unwrap();
        let page = page.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(page.into()).unwrap()
    };
    let has = |page: &str, name: &str, labels: &str, value: u32| {
        let line = format!("cutout_breaker_{name}{{breaker=\"upstream\"{labels}}} {value}");
        assert!(page.lines().any(|it| it == line), "no {line} in\n{page}");
    };

    let page = scrape().await;
    has(&page, "state", "", 0);
    has(
        &page,
        "transitions_total",
        ",to=\"open\",cause=\"failure_ratio\"",
        0,
    );

    story(&guarded, &upstream, &caller).await;
    let page = scrape().await;
    has(&page, "state", "", 0);
    has(&page, "wait_seconds", "", 0);
    has(&page, "window_samples", "", 1);
    for (outcome, calls, probes) in [
        ("success", 4, 1),
        ("answered", 1, 0),
        ("failure", 4, 1),
        ("timeout", 0, 1),
        ("ignored", 0, 0),
        ("abandoned", 0, 0),
    ] {
        has(
            &page,
            "calls_total",
            &format!(",kind=\"normal\",outcome=\"{outcome}\""),
            calls,
        );
        has(
            &page,
            "calls_total",
            &format!(",kind=\"probe\",outcome=\"{outcome}\""),
            probes,
        );
    }
    has(&page, "rejections_total", ",state=\"open\"", 3);
    for (to, cause, count) in [
        ("open", "failure_ratio", 1),
        ("half_open", "wait_elapsed", 3),
        ("open", "probe_timed_out", 1),
        ("open", "probe_failed", 1),
        ("closed", "probes_passed", 1),
    ] {
        has(
            &page,
            "transitions_total",
            &format!(",to=\"{to}\",cause=\"{cause}\""),
            count,
        );
    }

    // While it is open, the page says so and for how long.
    guarded.breaker.force_open(Some(crate::WAIT), "maintenance");
    let page = scrape().await;
    has(&page, "state", "", 3);
    has(&page, "wait_seconds", "", 10);
}
