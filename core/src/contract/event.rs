//! Transitions as listeners and the log see them.

use alloc::sync::Arc;
use core::time::Duration;

use crate::contract::evidence::Threshold;
use crate::contract::outcome::Counts;
use crate::contract::state::{Cause, State};

/// One transition: each starts a new generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The generation that the transition started.
    pub generation: u32,
    /// The state before.
    pub from: State,
    /// The state after; the same as `from` when only the generation changed: a
    /// would-trip in observe-only, a reclaimed lease, a new window shape, a
    /// repeated operator action.
    pub to: State,
    /// What made the transition.
    pub cause: Cause,
    /// The operator's reason, if the cause is [`Cause::Operator`].
    pub reason: Option<Arc<str>>,
    /// When it happened, since the breaker was built.
    pub at: Duration,
    /// What the window held when it happened, the outcome that made it
    /// happen included. Zero where the state before has no window.
    pub counts: Counts,
    /// What the rule asked for, if the cause is a rule.
    pub threshold: Option<Threshold>,
    /// The [`Label`](crate::Label) of the outcome that made it happen, if it was given one.
    pub label: Option<Arc<str>>,
}
