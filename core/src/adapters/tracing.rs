//! Transitions as [`tracing`](https://docs.rs/tracing) events. Needs the `tracing`
//! feature.
//!
//! The feature pulls in `tracing`, without its macros for functions.
//!
//! # Examples
//!
//! ```
//! use cutout::{Breaker, adapters::tracing};
//!
//! let breaker = Breaker::builder()
//!     .name("search")
//!     .named_listener(tracing::transition)
//!     .build()?;
//! // WARN breaker opened breaker="search" from="closed" to="open" cause="failure_ratio" ...
//! # Ok::<(), cutout::ConfigError>(())
//! ```

use tracing::Level;

use crate::contract::event::Event;
use crate::contract::state::{Cause, State};

/// Writes a transition as an event, for [`Builder::named_listener`](crate::Builder::named_listener).
///
/// What makes or would make calls fail is a warning: to open, to forced open, and a
/// would-trip in observe-only. All else is for information. The target is
/// `cutout::adapters::tracing`, and the fields are `breaker`, `from`, `to`, `cause`, `reason` (of
/// an operator), `generation`, and what the window held: `samples`, `failures`,
/// `timeouts`, `slow` (a window of scores holds none); of a rule `threshold`, which of a score is the limit that it
/// was raised to, and of the outcome that matched it its `label`.
///
/// Rejections are no events: an open breaker would write one per call. Count them
/// ([`Builder::totals`](crate::Builder::totals)).
pub fn transition(breaker: &str, event: &Event) {
    let from = event.from.label();
    let to = event.to.label();
    let cause = event.cause.label();
    let reason = event.reason.as_deref();
    let generation = event.generation;
    let counts = event.counts;
    let threshold = event.threshold.map(tracing::field::display);
    let label = event.label.as_deref();
    macro_rules! write_at {
        ($level:expr, $message:literal) => {
            tracing::event!(
                $level,
                breaker,
                from,
                to,
                cause,
                reason,
                generation,
                samples = counts.samples,
                failures = counts.failures,
                timeouts = counts.timeouts,
                slow = counts.slow,
                threshold,
                label,
                $message
            )
        };
    }
    match event.to {
        State::Open => write_at!(Level::WARN, "breaker opened"),
        State::ForcedOpen => write_at!(Level::WARN, "breaker forced open"),
        State::HalfOpen => write_at!(Level::INFO, "breaker probes"),
        State::Closed => write_at!(Level::INFO, "breaker closed"),
        State::Disabled => write_at!(Level::INFO, "breaker disabled"),
        State::ObserveOnly => match event.cause {
            Cause::Operator | Cause::Reconfigured => {
                write_at!(Level::INFO, "breaker only observes");
            }
            _ => write_at!(Level::WARN, "breaker would have opened"),
        },
    }
}
