//! Prometheus metrics: those of the breakers, as `cutout::adapters::metrics` has them, and the gateway's own.

use std::sync::OnceLock;
use std::time::Instant;

use http::StatusCode;
use metrics::{counter, gauge, histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use crate::auth::Door;
use crate::providers::{Endpoint, Fleet};

/// A request being measured.
#[derive(Debug)]
pub(crate) struct Request {
    endpoint: &'static str,
    since: Instant,
}

impl Request {
    pub(crate) fn start(endpoint: Endpoint) -> Self {
        Self {
            endpoint: match endpoint {
                Endpoint::Chat => "chat",
                Endpoint::Embeddings => "embeddings",
            },
            since: Instant::now(),
        }
    }

    /// Its answer has begun.
    pub(crate) fn end(self, status: StatusCode) {
        let status = match status.as_u16() {
            200..300 => "2xx",
            400..500 => "4xx",
            _ => "5xx",
        };
        counter!("gateway_requests_total", "endpoint" => self.endpoint, "status" => status)
            .increment(1);
        histogram!("gateway_request_seconds", "endpoint" => self.endpoint)
            .record(self.since.elapsed().as_secs_f64());
    }
}

/// A request that was not let in.
pub(crate) fn refused(door: Door, code: &'static str) {
    let door = match door {
        Door::Clients => "clients",
        Door::Metrics => "metrics",
        Door::Page => "page",
        Door::Operators => "operators",
    };
    counter!("gateway_refused_total", "door" => door, "code" => code).increment(1);
}

/// All metrics in the text format of Prometheus.
pub(crate) fn render(fleet: &Fleet) -> String {
    let handle = handle();
    for upstream in fleet.upstreams.values() {
        cutout::adapters::metrics::observe(&upstream.breaker);
        let name = upstream.name.clone();
        gauge!("gateway_in_flight", "breaker" => name.clone()).set(upstream.in_flight() as f64);
        counter!("gateway_retries_total", "breaker" => name).absolute(upstream.totals().retries);
    }
    handle.render()
}

/// Sums up what has been measured, for ever: what is not summed up takes memory until it is asked for, and nobody may ask.
pub(crate) async fn upkeep() {
    let mut ticks = tokio::time::interval(std::time::Duration::from_secs(5));
    loop {
        ticks.tick().await;
        handle().run_upkeep();
    }
}

/// Installs the recorder of this process, once.
pub(crate) fn handle() -> &'static PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE.get_or_init(|| {
        let buckets = [0.001, 0.005, 0.02, 0.1, 0.5, 1.0, 5.0, 20.0, 60.0, 300.0];
        let builder = PrometheusBuilder::new();
        let builder = builder
            .set_buckets(&buckets)
            .unwrap_or_else(|_| PrometheusBuilder::new());
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        // Another recorder may be there already; then it has the metrics.
        let _ = metrics::set_global_recorder(recorder);
        cutout::adapters::metrics::describe();
        handle
    })
}
