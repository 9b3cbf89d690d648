//! The names, units and help texts of the series.

use metrics::{Unit, describe_counter, describe_gauge};

pub(super) const STATE: &str = "cutout_breaker_state";
pub(super) const WAIT: &str = "cutout_breaker_wait_seconds";
pub(super) const STAGE: &str = "cutout_breaker_stage";
pub(super) const PROBES: &str = "cutout_breaker_probes_in_flight";
pub(super) const SAMPLES: &str = "cutout_breaker_window_samples";
pub(super) const FAILURES: &str = "cutout_breaker_window_failures";
pub(super) const TIMEOUTS: &str = "cutout_breaker_window_timeouts";
pub(super) const SLOW: &str = "cutout_breaker_window_slow";
pub(super) const FAILURE_SCORE: &str = "cutout_breaker_window_failure_score";
pub(super) const SLOW_SCORE: &str = "cutout_breaker_window_slow_score";
pub(super) const CALLS: &str = "cutout_breaker_calls_total";
pub(super) const REJECTIONS: &str = "cutout_breaker_rejections_total";
pub(super) const TRANSITIONS: &str = "cutout_breaker_transitions_total";
pub(super) const STALE: &str = "cutout_breaker_stale_total";
pub(super) const BREAKERS: &str = "cutout_breakers";
pub(super) const TRIP: &str = "cutout_breaker_trip";
pub(super) const TRIP_AGE: &str = "cutout_breaker_trip_age_seconds";
pub(super) const TRIP_SAMPLES: &str = "cutout_breaker_trip_samples";
pub(super) const TRIP_FAILURES: &str = "cutout_breaker_trip_failures";
pub(super) const TRIP_TIMEOUTS: &str = "cutout_breaker_trip_timeouts";
pub(super) const TRIP_SLOW: &str = "cutout_breaker_trip_slow";
pub(super) const TRIP_THRESHOLD: &str = "cutout_breaker_trip_threshold";
/// The name under which breakers are counted that have no series of their own.
pub(super) const OTHERS: &str = "other";
pub(super) const SHARE: &str = "cutout_throttle_share";
pub(super) const SHARE_REQUESTS: &str = "cutout_throttle_window_requests";
pub(super) const SHARE_ACCEPTS: &str = "cutout_throttle_window_accepts";
pub(super) const SHARE_FAILURES: &str = "cutout_throttle_window_failures";
pub(super) const THROTTLE_CALLS: &str = "cutout_throttle_calls_total";
pub(super) const REFUSALS: &str = "cutout_throttle_refusals_total";
pub(super) const THROTTLE_LISTENER_PANICS: &str = "cutout_throttle_listener_panics_total";
pub(super) const LISTENER_PANICS: &str = "cutout_breaker_listener_panics_total";

/// Gives the recorder the units and help texts of all series. Once, after it is
/// installed, is enough; exporters do without as well.
pub fn describe() {
    for (name, unit, help) in [
        (
            STATE,
            Unit::Count,
            "State of the circuit breaker: 0 closed, 1 open, 2 half-open, 3 forced open, 4 disabled, 5 observe-only, -1 gone",
        ),
        (
            WAIT,
            Unit::Seconds,
            "Wait left until a call may be admitted",
        ),
        (PROBES, Unit::Count, "Probes granted and not settled"),
        (
            STAGE,
            Unit::Count,
            "Stage that half-open is in, from 1; 0 without stages",
        ),
        (SAMPLES, Unit::Count, "Outcomes in the window"),
        (
            FAILURES,
            Unit::Count,
            "Failures in the window, timeouts among them",
        ),
        (TIMEOUTS, Unit::Count, "Timeouts in the window"),
        (SLOW, Unit::Count, "Slow calls in the window"),
        (
            FAILURE_SCORE,
            Unit::Count,
            "The score on failures as a share of its limit, 0 to 1; 0 in a window without one",
        ),
        (
            SLOW_SCORE,
            Unit::Count,
            "The score on slow calls as a share of its limit, 0 to 1; 0 in a window without one",
        ),
        (BREAKERS, Unit::Count, "Breakers by state"),
        (
            SHARE,
            Unit::Count,
            "Share of the calls that the throttle refuses, from 0 to 1; -1 gone",
        ),
        (
            SHARE_REQUESTS,
            Unit::Count,
            "Requests in the throttle's window, refused ones among them",
        ),
        (
            SHARE_ACCEPTS,
            Unit::Count,
            "Requests in the throttle's window that the upstream accepted",
        ),
        (
            SHARE_FAILURES,
            Unit::Count,
            "Requests in the throttle's window that failed",
        ),
        (
            TRIP,
            Unit::Count,
            "1 for the cause that opened a breaker that has not closed since",
        ),
        (
            TRIP_AGE,
            Unit::Seconds,
            "How long ago a breaker opened that has not closed since",
        ),
        (
            TRIP_SAMPLES,
            Unit::Count,
            "Outcomes in the window at the trip",
        ),
        (
            TRIP_FAILURES,
            Unit::Count,
            "Failures in the window at the trip, timeouts among them",
        ),
        (
            TRIP_TIMEOUTS,
            Unit::Count,
            "Timeouts in the window at the trip",
        ),
        (
            TRIP_SLOW,
            Unit::Count,
            "Slow calls in the window at the trip",
        ),
        (
            TRIP_THRESHOLD,
            Unit::Count,
            "What the rule that opened the breaker asked for: a share, a number of failures, or the limit of a score",
        ),
    ] {
        describe_gauge!(name, unit, help);
    }
    for (name, help) in [
        (CALLS, "Calls that were admitted, by how they ended"),
        (
            REJECTIONS,
            "Calls that were not admitted, by the state that rejected them",
        ),
        (
            TRANSITIONS,
            "Transitions, by the state after and what made them",
        ),
        (STALE, "Outcomes that came after their generation had ended"),
        (LISTENER_PANICS, "Panics of listeners"),
        (
            THROTTLE_CALLS,
            "Calls that a throttle admitted, by how they ended",
        ),
        (REFUSALS, "Calls that a throttle refused"),
        (THROTTLE_LISTENER_PANICS, "Panics of a throttle's listeners"),
    ] {
        describe_counter!(name, Unit::Count, help);
    }
}
