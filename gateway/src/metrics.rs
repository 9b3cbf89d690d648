//! Prometheus metrics: those of the breakers, as `cutout::adapters::metrics` has them, and the gateway's own.

use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use cutout::adapters::metrics::Observer;
use metrics::{
    Counter, Histogram, Label, Unit, counter, describe_counter, describe_gauge, describe_histogram,
    gauge, histogram,
};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use crate::auth::Door;
use crate::dialect::Usage;
use crate::providers::Fleet;

/// What a request came to.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// Which kind it was.
    pub(crate) endpoint: &'static str,
    /// The route that it led to, if one did.
    pub(crate) route: Option<&'a str>,
    /// Whose answer it got, if it got one.
    pub(crate) target: Option<&'a str>,
    /// The status that the client got; `broken` if the answer broke off after it, `client_gone` if the client did not wait for it.
    pub(crate) status: String,
    /// The time to the head of the answer.
    pub(crate) first_byte: Option<Duration>,
    /// The time to its end.
    pub(crate) took: Duration,
}

/// A name that is none of the configuration's: those are all the values that `model` and `target` have.
const NONE: &str = "none";

/// Meters that have been asked for, by the values of their labels: to look one up in the recorder costs as much as a tenth of a
/// small request. All values are names of the configuration, statuses and the like, so there are few.
struct Kept<M>(LazyLock<papaya::HashMap<String, M>>);

impl<M: Clone + Send + Sync> Kept<M> {
    const fn new() -> Self {
        Self(LazyLock::new(papaya::HashMap::new))
    }

    fn of(&self, labels: &[(&'static str, &str)], ask: impl Fn(Vec<Label>) -> M) -> M {
        let mut values = String::with_capacity(64);
        for (_, value) in labels {
            values.push_str(value);
            // It is in no name.
            values.push('\0');
        }
        let kept = self.0.pin();
        if let Some(meter) = kept.get(&values) {
            return meter.clone();
        }
        // What is asked for before there is a recorder counts nothing, for ever.
        handle();
        let labels = labels
            .iter()
            .map(|(name, value)| Label::new(*name, (*value).to_owned()));
        let meter = ask(labels.collect());
        kept.insert(values, meter.clone());
        meter
    }
}

/// Counts a request that has ended.
pub(crate) fn request(request: &Request<'_>) {
    static TIMES: Kept<(Histogram, Histogram)> = Kept::new();
    static COUNTS: Kept<Counter> = Kept::new();

    let model = request.route.unwrap_or(NONE);
    let target = request.target.unwrap_or(NONE);
    let labels = [
        ("endpoint", request.endpoint),
        ("model", model),
        ("target", target),
    ];
    let (first_byte, whole) = TIMES.of(&labels, |labels| {
        let first_byte = histogram!("gateway_first_byte_seconds", labels.iter());
        (first_byte, histogram!("gateway_request_seconds", labels))
    });
    if let Some(took) = request.first_byte {
        first_byte.record(took.as_secs_f64());
    }
    whole.record(request.took.as_secs_f64());
    let [endpoint, model, target] = labels;
    let labels = [endpoint, model, target, ("status", &request.status)];
    let count = COUNTS.of(&labels, |labels| counter!("gateway_requests_total", labels));
    count.increment(1);
}

/// Counts the tokens of an answer.
pub(crate) fn tokens(key: &str, route: &str, target: &str, used: Usage) {
    static COUNTS: Kept<Counter> = Kept::new();

    let key = if key.is_empty() { NONE } else { key };
    for (kind, tokens) in [("in", used.input), ("out", used.output)] {
        if let Some(tokens) = tokens {
            let labels = [
                ("key", key),
                ("model", route),
                ("target", target),
                ("kind", kind),
            ];
            let count = COUNTS.of(&labels, |labels| counter!("gateway_tokens_total", labels));
            count.increment(tokens);
        }
    }
}

/// Counts a request to a target that has ended.
pub(crate) fn attempt(target: &str, status: Option<u16>, outcome: &str) {
    static COUNTS: Kept<Counter> = Kept::new();

    let status = status.map_or_else(|| NONE.to_owned(), |status| status.to_string());
    let labels = [
        ("target", target),
        ("status", &status),
        ("outcome", outcome),
    ];
    let count = COUNTS.of(&labels, |labels| counter!("gateway_attempts_total", labels));
    count.increment(1);
}

/// Says how many lines of the log were lost: the queue was full, or they could not be written.
pub(crate) fn lost_lines(dropped: u64, failed: u64) {
    counter!("gateway_log_lines_lost_total", "why" => "queue_full").absolute(dropped);
    counter!("gateway_log_lines_lost_total", "why" => "not_written").absolute(failed);
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
    static OBSERVER: LazyLock<Observer> = LazyLock::new(Observer::new);
    let handle = handle();
    OBSERVER.round(|round| {
        for upstream in fleet.upstreams.values() {
            round.show(&upstream.breaker);
        }
        for throttle in fleet.throttles.values() {
            round.show_throttle(throttle);
        }
    });
    for upstream in fleet.upstreams.values() {
        let name = upstream.name.clone();
        gauge!("gateway_in_flight", "breaker" => name.clone()).set(upstream.in_flight() as f64);
        counter!("gateway_retries_total", "breaker" => name).absolute(upstream.totals().retries);
    }
    for (provider, model) in fleet.config.route.iter().flat_map(|route| route.targets()) {
        if let Some(settings) = fleet.providers.get(provider) {
            let suspended = settings.suspended(model).is_some();
            let labels = [("provider", provider.clone()), ("model", model.to_owned())];
            gauge!("gateway_suspended", &labels).set(f64::from(u8::from(suspended)));
        }
    }
    handle.render()
}

/// Sums up what has been measured, for ever: what is not summed up takes memory until it is asked for, and nobody may ask.
pub(crate) async fn upkeep() {
    let mut ticks = tokio::time::interval(Duration::from_secs(5));
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
        describe();
        handle
    })
}

fn describe() {
    describe_counter!(
        "gateway_requests_total",
        "Requests that have ended, by the status that the client got."
    );
    describe_counter!(
        "gateway_tokens_total",
        "Tokens of answers, as far as they told them."
    );
    describe_counter!(
        "gateway_attempts_total",
        "Requests to targets that have ended, by what the breaker was told."
    );
    describe_counter!(
        "gateway_retries_total",
        "Attempts at the same provider beyond the first."
    );
    describe_counter!(
        "gateway_log_lines_lost_total",
        "Lines of the log of requests that were not written."
    );
    describe_gauge!("gateway_in_flight", "Calls in flight.");
    describe_histogram!(
        "gateway_first_byte_seconds",
        Unit::Seconds,
        "Time from a request to the head of its answer."
    );
    describe_histogram!(
        "gateway_request_seconds",
        Unit::Seconds,
        "Time from a request to the end of its answer."
    );
}
