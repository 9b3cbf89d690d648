//! What is measured: the state a breaker is put in, and the calls it then gets.

use std::fmt;
use std::time::Duration;

/// What the calls of a workload come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Load {
    /// Closed, a full window of successes, every call succeeds.
    Healthy,
    /// Closed, so many percent of the calls fail, spread evenly; the limit is out of reach.
    Failing(u8),
    /// Open with an hour to wait: every call is rejected.
    Rejecting,
    /// Half-open with its one probe out: every caller asks and is rejected.
    HalfOpenStorm,
    /// Trip, wait, probe, close, over and over; time passes by hand where the breaker lets it.
    Flapping,
    /// Not a breaker: what a primitive alone costs.
    Floor,
}

/// How a call goes through the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Style {
    /// The crate's plainest synchronous way: allow and done where it has them.
    Plain,
    /// A permit that owns its breaker.
    Owned,
    /// A closure handed to the breaker.
    Closure,
    /// No call: a look at the state.
    Look,
}

/// One workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Workload {
    /// What the calls come to.
    pub load: Load,
    /// Outcomes in the window.
    pub window: usize,
    /// How a call is made.
    pub style: Style,
    /// Whether a rule on slow calls is set (none of the calls is slow).
    pub slow_rule: bool,
    /// Whether a ratio of timeouts is set that the failures exceed (none of them is a
    /// timeout): a breaker then has to count kinds on every call.
    pub timeout_rule: bool,
    /// Whether a listener for transitions is attached.
    pub listener: bool,
    /// Whether the breaker keeps totals of its calls.
    pub counted: bool,
}

impl Workload {
    /// The load over a window of 100 outcomes, in the plain style.
    pub const fn new(load: Load) -> Self {
        Self {
            load,
            window: 100,
            style: Style::Plain,
            slow_rule: false,
            timeout_rule: false,
            listener: false,
            counted: false,
        }
    }

    /// The same over another window.
    #[must_use]
    pub const fn window(mut self, window: usize) -> Self {
        self.window = window;
        self
    }

    /// The same with calls made another way.
    #[must_use]
    pub const fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// The same with a rule on slow calls.
    #[must_use]
    pub const fn slow_rule(mut self) -> Self {
        self.slow_rule = true;
        self
    }

    /// The same with a rule on timeouts.
    #[must_use]
    pub const fn timeout_rule(mut self) -> Self {
        self.timeout_rule = true;
        self
    }

    /// The same with a listener.
    #[must_use]
    pub const fn listener(mut self) -> Self {
        self.listener = true;
        self
    }

    /// The same with totals of the calls.
    #[must_use]
    pub const fn counted(mut self) -> Self {
        self.counted = true;
        self
    }

    /// Whether any crate may have it: no rule beside the failure ratio, no
    /// second way to call.
    pub fn is_plain(&self) -> bool {
        !self.slow_rule && !self.timeout_rule && !self.counted && self.style == Style::Plain
    }

    /// The failure ratio that opens, out of reach of the failing loads.
    pub const fn ratio(&self) -> f64 {
        0.9
    }

    /// The ratio of the timeout rule: below the share of failures, so that their
    /// number alone does not rule it out.
    pub const fn timeout_ratio(&self) -> f64 {
        0.05
    }

    /// The least outcomes before a ratio is judged.
    pub fn min_calls(&self) -> usize {
        self.window.min(20)
    }

    /// The limit of the slow rule: far above any call measured here.
    pub const fn slow_limit(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// How long the breaker stays open.
    pub const fn open_wait(&self) -> Duration {
        match self.load {
            Load::HalfOpenStorm | Load::Flapping => Duration::from_nanos(1),
            _ => Duration::from_secs(3600),
        }
    }
}

/// The stable name: in ids, in `summary.json`, on the page.
impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.load {
            Load::Healthy => f.write_str("healthy")?,
            Load::Failing(percent) => write!(f, "failing_{percent}")?,
            Load::Rejecting => f.write_str("rejecting")?,
            Load::HalfOpenStorm => f.write_str("half_open_storm")?,
            Load::Flapping => f.write_str("flapping")?,
            Load::Floor => f.write_str("floor")?,
        }
        f.write_str(match self.style {
            Style::Plain => "",
            Style::Owned => "_owned",
            Style::Closure => "_closure",
            Style::Look => "_look",
        })?;
        for (set, name) in [
            (self.slow_rule, "_slow_rule"),
            (self.timeout_rule, "_timeout_rule"),
            (self.listener, "_listener"),
            (self.counted, "_counted"),
        ] {
            if set {
                f.write_str(name)?;
            }
        }
        Ok(())
    }
}
