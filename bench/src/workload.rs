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
    /// A tower service behind the crate's layer: made ready, called, polled once.
    Layer,
    /// The same, where the layer borrows its breaker and does not share it in an `Arc`.
    BorrowingLayer,
    /// No call: a look at the state.
    Look,
}

impl Style {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Plain,
        Self::Owned,
        Self::Closure,
        Self::Layer,
        Self::BorrowingLayer,
        Self::Look,
    ];

    /// Whether the call goes through a tower service.
    pub fn is_layered(self) -> bool {
        matches!(self, Self::Layer | Self::BorrowingLayer)
    }
}

/// What a ratio is computed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Window {
    /// The last so many outcomes.
    Count(usize),
    /// The outcomes of the last [`TIME_WINDOW`], in [`BUCKETS`] buckets.
    Time,
}

/// The length of the time windows.
pub const TIME_WINDOW: Duration = Duration::from_secs(10);

/// The buckets of the time windows.
pub const BUCKETS: u32 = 10;

/// One workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Workload {
    /// What the calls come to.
    pub load: Load,
    /// What the ratio is computed over.
    pub window: Window,
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
    /// Whether this crate's breaker keeps a score in the place of the window; the peers do as ever.
    pub scores: bool,
}

impl Workload {
    /// The load over a window of 100 outcomes, in the plain style.
    pub const fn new(load: Load) -> Self {
        Self {
            load,
            window: Window::Count(100),
            style: Style::Plain,
            slow_rule: false,
            timeout_rule: false,
            listener: false,
            counted: false,
            scores: false,
        }
    }

    /// The same over a window of so many outcomes.
    #[must_use]
    pub const fn window(mut self, outcomes: usize) -> Self {
        self.window = Window::Count(outcomes);
        self
    }

    /// The same over a time window.
    #[must_use]
    pub const fn time_window(mut self) -> Self {
        self.window = Window::Time;
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

    /// The same with a score in the place of this crate's window.
    #[must_use]
    pub const fn scores(mut self) -> Self {
        self.scores = true;
        self
    }

    /// Whether any crate may have it: a window of outcomes, no rule beside the failure
    /// ratio, no second way to call.
    pub fn is_plain(&self) -> bool {
        let is_by_time = self.window == Window::Time;
        !is_by_time && !self.has_extras() && self.style == Style::Plain
    }

    /// Whether the breaker has to do more than to judge a failure ratio.
    pub const fn has_extras(&self) -> bool {
        self.slow_rule || self.timeout_rule || self.counted
    }

    /// Outcomes in the window, if it is one of so many.
    pub const fn count(&self) -> Option<usize> {
        match self.window {
            Window::Count(outcomes) => Some(outcomes),
            Window::Time => None,
        }
    }

    /// Outcomes in the window; of a time window, as many as are put there beforehand.
    pub const fn outcomes(&self) -> usize {
        match self.window {
            Window::Count(outcomes) => outcomes,
            Window::Time => 100,
        }
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

    /// The shares of failures that a score tells apart: as well as the load is, at the most, and ill.
    pub const fn rates(&self) -> (f64, f64) {
        match self.load {
            Load::Failing(percent) if percent > 1 => (0.25, 0.6),
            _ => (0.01, 0.3),
        }
    }

    /// The least outcomes before a ratio is judged.
    pub fn min_calls(&self) -> usize {
        self.outcomes().min(20)
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

/// A number of outcomes, or a length of time.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(outcomes) => write!(f, "{outcomes}"),
            Self::Time => write!(f, "{}s", TIME_WINDOW.as_secs()),
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
            Style::Layer => "_layer",
            Style::BorrowingLayer => "_borrowing_layer",
            Style::Look => "_look",
        })?;
        for (set, name) in [
            (self.window == Window::Time, "_time_window"),
            (self.slow_rule, "_slow_rule"),
            (self.timeout_rule, "_timeout_rule"),
            (self.listener, "_listener"),
            (self.counted, "_counted"),
            (self.scores, "_scores"),
        ] {
            if set {
                f.write_str(name)?;
            }
        }
        Ok(())
    }
}
