//! Metrics of breakers, through the [`metrics`](https://docs.rs/metrics) facade. Needs
//! the `metrics` feature.
//!
//! [`observe`] reads a breaker and sets its series; call it for each breaker whenever
//! metrics are scraped, or every few seconds for an exporter that pushes. Nothing is
//! done in between: a call through the breaker never touches the facade, and does not
//! know whether anyone exports it. What is counted is counted by the breaker itself,
//! from its first call on; so a recorder may be installed late, and nothing is missed
//! between two scrapes.
//!
//! # Series
//!
//! Each is labelled `breaker` with the breaker's name, so names should be unique.
//! Those marked with * need a breaker that counts ([`Builder::totals`](crate::Builder::totals)).
//!
//! | series | kind | further labels | what |
//! | --- | --- | --- | --- |
//! | `cutout_breaker_state` | gauge | | 0 closed, 1 open, 2 half-open, 3 forced open, 4 disabled, 5 observe-only |
//! | `cutout_breaker_wait_seconds` | gauge | | wait left until a call may be admitted; `+Inf` if only an operator can end it |
//! | `cutout_breaker_probes_in_flight` | gauge | | probes granted and not settled |
//! | `cutout_breaker_window_samples` | gauge | | outcomes in the window |
//! | `cutout_breaker_window_failures` | gauge | | failures in the window, timeouts among them |
//! | `cutout_breaker_window_timeouts` | gauge | | timeouts in the window |
//! | `cutout_breaker_window_slow` | gauge | | slow calls in the window |
//! | `cutout_breaker_calls_total` * | counter | `kind`: `normal`, `probe`; `outcome`: `success`, `failure`, `timeout`, `ignored`, `abandoned` | calls that were admitted, by how they ended |
//! | `cutout_breaker_rejections_total` * | counter | `state`: `open`, `half_open`, `forced_open` | calls that were not admitted |
//! | `cutout_breaker_transitions_total` * | counter | `to`, `cause` | transitions, by the state after and what made them |
//! | `cutout_breaker_stale_total` | counter | | outcomes that came after their generation had ended |
//! | `cutout_breaker_listener_panics_total` | counter | | panics of listeners |
//!
//! The names are what Prometheus asks for: a prefix, base units, `_total` for counters.
//! They are also what its exporters make of OpenTelemetry names such as
//! `cutout.breaker.transitions`. States and causes are labelled by
//! [`State::label`](crate::State::label) and [`Cause::label`](crate::Cause::label).
//!
//! A Grafana dashboard and alert rules on these series are in the repository, in the
//! folder `core/dashboards`.
//!
//! # Cost
//!
//! On the way of a call, nothing; if the breaker counts, one atomic addition in memory
//! that threads do not share. `observe` takes a snapshot of the breaker and some 0.2
//! microseconds for each of its 9 series, 43 if the breaker counts.
//!
//! The feature pulls in `metrics`.
//!
//! # Examples
//!
//! ```
//! use cutout::Breaker;
//! use cutout::adapters::metrics;
//! use metrics_exporter_prometheus::PrometheusBuilder;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let prometheus = PrometheusBuilder::new().install_recorder()?;
//! metrics::describe();
//!
//! let breaker = Breaker::builder().name("search").totals(true).build()?;
//! breaker.allow()?.success();
//!
//! // In the handler of `GET /metrics`:
//! metrics::observe(&breaker);
//! let page = prometheus.render();
//! assert!(page.contains(r#"cutout_breaker_state{breaker="search"} 0"#));
//! # Ok(())
//! # }
//! ```

mod observe;
mod series;

pub use observe::observe;
pub use series::describe;
