//! Metrics of breakers, through the [`metrics`](https://docs.rs/metrics) facade. Needs
//! the `metrics` feature.
//!
//! An [`Observer`] reads all breakers and sets their series, in rounds: make one whenever
//! metrics are scraped, or every few seconds for an exporter that pushes. Nothing is
//! done in between: a call through the breaker never touches the facade, and does not
//! know whether anyone exports it. What is counted is counted by the breaker itself,
//! from its first call on; so a recorder may be installed late, and nothing is missed
//! between two scrapes.
//!
//! # Series
//!
//! Each but `cutout_breakers` is labelled `breaker` with the breaker's name, so names should be unique.
//! The name `other` stands for all breakers beyond the observer's bound on names.
//! Those marked with * need a breaker that counts ([`Builder::totals`](crate::Builder::totals)).
//!
//! | series | kind | further labels | what |
//! | --- | --- | --- | --- |
//! | `cutout_breaker_state` | gauge | | 0 closed, 1 open, 2 half-open, 3 forced open, 4 disabled, 5 observe-only, -1 gone |
//! | `cutout_breaker_wait_seconds` | gauge | | wait left until a call may be admitted; `+Inf` if only an operator can end it |
//! | `cutout_breaker_probes_in_flight` | gauge | | probes granted and not settled |
//! | `cutout_breaker_stage` | gauge | | the stage of its recovery that half-open is in, from 1; 0 without [`Stages`](crate::Stages) |
//! | `cutout_breaker_window_samples` | gauge | | outcomes in the window |
//! | `cutout_breaker_window_failures` | gauge | | failures in the window, timeouts among them |
//! | `cutout_breaker_window_timeouts` | gauge | | timeouts in the window |
//! | `cutout_breaker_window_slow` | gauge | | slow calls in the window |
//! | `cutout_breaker_window_failure_score` | gauge | | the score on failures as a share of its limit, 0 to 1; 0 in a window without one |
//! | `cutout_breaker_window_slow_score` | gauge | | the same on slow calls |
//! | `cutout_breaker_trip` | gauge | `cause` | 1 for the cause that opened the breaker, until it closes |
//! | `cutout_breaker_trip_age_seconds` | gauge | | how long ago that was |
//! | `cutout_breaker_trip_samples` | gauge | | outcomes in the window then |
//! | `cutout_breaker_trip_failures` | gauge | | failures in the window then, timeouts among them |
//! | `cutout_breaker_trip_timeouts` | gauge | | timeouts in the window then |
//! | `cutout_breaker_trip_slow` | gauge | | slow calls in the window then |
//! | `cutout_breaker_trip_threshold` | gauge | | what the rule asked for: a share, a number of failures, or the limit of a score |
//! | `cutout_breakers` | gauge | `state` | how many breakers there are in which state |
//! | `cutout_breaker_calls_total` * | counter | `kind`: `normal`, `probe`; `outcome`: `success`, `answered`, `failure`, `timeout`, `ignored`, `abandoned` | calls that were admitted, by how they ended |
//! | `cutout_breaker_rejections_total` * | counter | `state`: `open`, `half_open`, `forced_open`, `closed` | calls that were not admitted |
//! | `cutout_breaker_transitions_total` * | counter | `to`, `cause` | transitions, by the state after and what made them |
//! | `cutout_breaker_stale_total` | counter | | outcomes that came after their generation had ended |
//! | `cutout_breaker_listener_panics_total` | counter | | panics of listeners |
//!
//! A throttle ([`Round::show_throttle`]) has these, labelled `throttle` with its name:
//!
//! | series | kind | further labels | what |
//! | --- | --- | --- | --- |
//! | `cutout_throttle_share` | gauge | | the share of the calls that it refuses, from 0 to 1; -1 gone |
//! | `cutout_throttle_window_requests` | gauge | | requests in its window, refused ones among them |
//! | `cutout_throttle_window_accepts` | gauge | | those that the upstream accepted |
//! | `cutout_throttle_window_failures` | gauge | | those that failed |
//! | `cutout_throttle_calls_total` * | counter | `outcome`, as above | calls that were admitted, by how they ended |
//! | `cutout_throttle_refusals_total` * | counter | | calls that it refused |
//! | `cutout_throttle_listener_panics_total` | counter | | panics of its listeners |
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
//! that threads do not share. Showing a breaker takes a snapshot of it and some 0.2
//! microseconds for each of its series: about 17, and 62 if the breaker counts.
//!
//! Labels of failures and reasons of operators are not among the series, for there is no bound on how many there
//! are: they are in the log and in [`Snapshot::evidence`](crate::Snapshot::evidence).
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
//! let observer = metrics::Observer::new();
//!
//! let breaker = Breaker::builder().name("search").totals(true).build()?;
//! breaker.allow()?.success();
//!
//! // In the handler of `GET /metrics`:
//! observer.round(|round| round.show(&breaker));
//! let page = prometheus.render();
//! assert!(page.contains(r#"cutout_breaker_state{breaker="search"} 0"#));
//! # Ok(())
//! # }
//! ```

mod observe;
mod series;
mod show;

pub use observe::{Observer, Round};
pub use series::describe;
