//! What a breaker is told: rules, waits, quotas, and their legal values.

use alloc::format;
use core::fmt;
use core::time::Duration;

use crate::contract::clock::saturating_nanos;
use crate::contract::cusum::Cusum;
use crate::contract::error::ConfigError;
use crate::contract::outcome::{Outcome, Sample};
use crate::contract::score::Score;
use crate::contract::stages::Stages;

/// What the ratios are computed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Window {
    /// The last so many outcomes, 1 to 4096.
    Count(u32),
    /// The outcomes of the last so long, kept in buckets.
    Time {
        /// How far back the window goes, 10 ms or more.
        length: Duration,
        /// In how many buckets that time is divided, 1 to 60. The window moves on by
        /// one bucket at a time.
        buckets: u32,
    },
    /// No outcomes but a score of them, which bad ones raise and good ones lower.
    ///
    /// Ratios are not judged then: [`failure_ratio`](Config::failure_ratio),
    /// [`timeout_ratio`](Config::timeout_ratio) and [`slow`](Config::slow) must be none, and
    /// [`min_calls`](Config::min_calls) says nothing. [`consecutive_failures`](Config::consecutive_failures) may
    /// stand beside. [`Config::cusum`] makes such a config.
    Cusum(Cusum),
}

impl Window {
    /// The largest count window.
    pub const MAX_COUNT: u32 = 4096;

    /// A window over the last `size` outcomes.
    pub const fn count(size: u32) -> Self {
        Self::Count(size)
    }

    /// The shortest time window.
    pub const MIN_LENGTH: Duration = Duration::from_millis(10);

    /// The most buckets of a time window.
    pub const MAX_BUCKETS: u32 = 60;

    /// How many buckets a time window usually has.
    pub const BUCKETS: u32 = 10;

    /// A window over the outcomes of the last `length`, in `buckets` buckets
    /// ([`BUCKETS`](Self::BUCKETS) will do).
    ///
    /// The newest bucket is the one that fills up, so the window holds the outcomes of
    /// between `length - length / buckets` and `length`.
    pub const fn time(length: Duration, buckets: u32) -> Self {
        Self::Time { length, buckets }
    }

    /// A window that keeps a score of failures and timeouts.
    pub const fn cusum(score: Score) -> Self {
        Self::Cusum(Cusum::of_failures(score))
    }

    /// The scores, if they are what it keeps.
    pub(crate) const fn scores(self) -> Option<Cusum> {
        match self {
            Self::Cusum(cusum) => Some(cusum),
            Self::Count(_) | Self::Time { .. } => None,
        }
    }

    /// The window as it is kept: a length above 584 years is that long.
    pub(crate) fn kept(self) -> Self {
        match self {
            Self::Count(_) => self,
            Self::Cusum(cusum) => Self::Cusum(cusum.kept()),
            Self::Time { length, buckets } => Self::Time {
                length: Duration::from_nanos(saturating_nanos(length)),
                buckets,
            },
        }
    }
}

/// The rule on slow calls: it matches when the share of calls that took
/// `limit` or longer reaches `ratio`.
///
/// A pause of the process itself is nobody's time and is left out: see
/// [`Breaker::heartbeat`](crate::Breaker::heartbeat) for how it is told, and when it cannot be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowRule {
    /// A call that takes this long or longer is slow; above zero.
    pub limit: Duration,
    /// The share of slow calls that matches, above 0 and at most 1.
    pub ratio: f64,
}

/// What a call counts as that is still in flight after its time.
///
/// Once it has been in flight for the limit it enters the window, by the next call that is admitted or
/// settled: after the limit at the earliest, and after nine eighths of it at the latest if calls
/// come. It is counted once: when it returns after all, [`Settled::Overdue`](crate::Settled::Overdue)
/// says that its outcome changed nothing. Probes are not counted while they are in flight; they have a
/// lease. A new limit ([`reconfigure`](crate::Breaker::reconfigure)) is for calls that start under it: those in
/// flight count when they return, also if they were overdue by the old one.
///
/// It costs each call a clock read and two writes to a line that all threads share; breakers without it
/// pay nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overdue {
    /// A slow success, once it has taken the limit of the rule on slow calls, which must be set.
    Slow,
    /// A timeout, once it has taken so long; above zero. It is slow too if there is a rule on
    /// slow calls whose limit is not longer. The call itself is not ended.
    Timeout(Duration),
}

/// How long the breaker stays open.
///
/// The wait of the n-th re-opening in a row is `base * factor^n`, at most
/// `max`. (Re-openings are counted to 127; the wait grows no further then.) Whatever ends a half-open
/// period by opening again is a re-opening: a probe that failed, and probes that
/// gave no verdict ([`max_inconclusive`](Config::max_inconclusive)), since an upstream of which nothing
/// can be learned is not to be asked at the first rate for ever. Only a close starts again at
/// `base`; a forced opening in between does not.
///
/// With jitter, each wait is drawn
/// evenly from `[wait * (1 - jitter), wait]`, so that breakers that opened
/// together do not all probe together; at 50 % this is the "equal jitter" and at 100 %
/// the "full jitter" of [Exponential Backoff And Jitter][aws]. Each breaker draws by itself
/// ([`Builder::jitter_seed`](crate::Builder::jitter_seed) fixes what it draws, for tests).
///
/// An upstream may ask for a longer wait than this, and not for a shorter one: see
/// [`Report::retry_after`](crate::Report::retry_after).
///
/// The end of a wait is rounded up to a microsecond, and that of one above 268 s by at most
/// a 250,000th of it: to a millisecond, a second (above 3 days) or a thousand seconds (above 8 years).
/// All arithmetic saturates: a wait that ends later than 584 years after the breaker was built, such as
/// `Duration::MAX`, never ends.
///
/// [aws]: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenWait {
    /// The first wait; above zero.
    pub base: Duration,
    /// What each re-opening multiplies the wait with; finite and at least 1.
    pub factor: f64,
    /// The longest wait; at least `base`.
    pub max: Duration,
    /// By how many percent a wait may be shortened at random, 0 to 100.
    pub jitter_percent: u32,
}

impl OpenWait {
    /// The same wait each time.
    pub const fn fixed(wait: Duration) -> Self {
        Self {
            base: wait,
            factor: 1.0,
            max: wait,
            jitter_percent: 0,
        }
    }

    /// A wait that grows with each re-opening, up to `max`.
    pub const fn exponential(base: Duration, factor: f64, max: Duration) -> Self {
        Self {
            base,
            factor,
            max,
            jitter_percent: 0,
        }
    }

    /// Shortens each wait at random by up to so many percent.
    #[must_use]
    pub const fn jitter_percent(mut self, percent: u32) -> Self {
        self.jitter_percent = percent;
        self
    }
}

/// The configuration of a breaker.
///
/// A plain value; [`Breaker::new`](crate::Breaker::new) and
/// [`Breaker::reconfigure`](crate::Breaker::reconfigure) check it. The defaults are
/// those of [`Config::default`]: a window of 20 outcomes, open at 50 % failures
/// once 10 outcomes are in, 30 s open, one probe.
///
/// | field | default | legal |
/// | --- | --- | --- |
/// | `window` | count 20 | count 1 to 4096; time 10 ms or more, in 1 to 60 buckets; scores as in [`Cusum`] |
/// | `min_calls` | 10, at most the window's size | 1 to the window's size; 1 to 16,777,215 for a time window; none beside scores |
/// | `failure_ratio` | 0.5 | above 0, at most 1; or none |
/// | `timeout_ratio` | none | as above |
/// | `slow` | none | limit above zero, ratio as above |
/// | `overdue` | none | slow, if `slow` is set; timeout after a time above zero |
/// | `consecutive_failures`, `failures` | none | as `min_calls`; or none |
/// | `open_wait` | 30 s, fixed | base above zero, factor finite and at least 1, max at least base, jitter 0 to 100 % |
/// | `max_probes`, `successes_to_close` | 1, 1 | 1 to 255 |
/// | `stages` | none | first 1 to until, growth 2 to 128, until 1 to 128, at most 255 outcomes in all, ratio as above |
/// | `probe_lease` | 60 s | above zero; or none |
/// | `ramp` | none | above zero; or none |
/// | `max_inconclusive` | 16 | 1 to 255 |
/// | `abandoned`, `panicked` | ignored, failure | any outcome |
/// | `abandoned_after` | none | above zero; or none |
///
/// At least one of the five rules must be set. Durations above 584 years
/// (`u64::MAX` nanoseconds) count as that long; a wait that long never ends.
///
/// Later versions may add fields, so a config is made by changing one: with
/// [`with`](Self::with), or field by field.
///
/// # Examples
///
/// ```
/// use cutout::{Breaker, Config};
///
/// let config = Config::default().with(|config| config.failure_ratio = Some(0.2));
/// let breaker = Breaker::new(config)?;
///
/// let mut wrong = config;
/// wrong.failure_ratio = Some(1.5);
/// let refused = Breaker::new(wrong).unwrap_err();
/// assert_eq!(refused.field(), "failure_ratio");
/// assert_eq!(
///     refused.to_string(),
///     "failure_ratio = 1.5 is not legal: it must be finite, above 0 and at most 1",
/// );
/// # Ok::<(), cutout::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// What the ratios are computed over.
    pub window: Window,
    /// How many outcomes must be in the window before a ratio is judged. With `None` it
    /// follows the window: 10, or the window's size if that is smaller.
    pub min_calls: Option<u32>,
    /// Opens when `failures / samples` reaches this; timeouts are failures too.
    pub failure_ratio: Option<f64>,
    /// Opens when `timeouts / samples` reaches this.
    pub timeout_ratio: Option<f64>,
    /// Opens when the share of slow calls reaches a ratio.
    pub slow: Option<SlowRule>,
    /// Whether calls count while they are still in flight once they are overdue, and
    /// as what; so that an upstream that hangs opens the breaker although nothing returns.
    /// See [`Overdue`].
    pub overdue: Option<Overdue>,
    /// Opens when the last so many recorded outcomes are all failures or
    /// timeouts, however few calls the window holds. With a time window they are
    /// counted however long ago they were, from the time that the rule was set.
    pub consecutive_failures: Option<u32>,
    /// Opens when the window holds so many failures or timeouts, however few calls it
    /// holds besides: "2 of the last 5" with a count window of 5, "20 within a minute" with
    /// a time window.
    pub failures: Option<u32>,
    /// How long the breaker stays open.
    pub open_wait: OpenWait,
    /// How many probes may be unsettled at a time. It says nothing beside `stages`.
    pub max_probes: u32,
    /// How many probes must succeed to close; one that is bad opens again. It says nothing beside `stages`.
    pub successes_to_close: u32,
    /// Recovery by stages, of which each may show some failures. With `None` there is one stage: `max_probes` at a
    /// time, closed after `successes_to_close` and opened by the first bad one. See [`Stages`].
    pub stages: Option<Stages>,
    /// How long a probe may stay unsettled before its slot can be reclaimed. Then it is
    /// presumed lost. Its end is rounded up to a millisecond; a lease that ends later
    /// than 139 years after the breaker was built never ends.
    /// With `None` a probe whose permit is never settled holds its slot until
    /// an operator acts.
    ///
    /// That a probe is lost is a guess, and concerns its slot alone. Should it come back after all,
    /// its outcome counts like that of any probe, as long as the half-open period lasts to which it belongs: until
    /// the breaker closes, opens again, or an operator acts. So a lease shorter than the calls
    /// costs additional probes, and never the recovery. Of an upstream whose calls all
    /// succeed within `d`:
    ///
    /// - the breaker closes at the latest `d` after the
    ///   [`successes_to_close`](Self::successes_to_close)-th probe was admitted;
    /// - until then it admits at most `successes_to_close + max_probes * (ceil(d / lease) + 1)` probes.
    ///
    /// By stages it is the same with all outcomes of the stages in the place of `successes_to_close`, and `until` in that of `max_probes`.
    ///
    /// Leases do not grow, so that permits that leak delay the next probe by one lease each.
    pub probe_lease: Option<Duration>,
    /// How long a breaker that has closed refuses a share of the calls, so that an upstream that is just back is not met by all of
    /// them at once. The share that is admitted grows evenly from none to all of them, and its calls are spread evenly; the others are
    /// rejected with [`Cause::Ramping`](crate::Cause::Ramping), and their
    /// [`retry_after`](crate::Rejected::retry_after) is half of what is left: by then the share that is refused is half of what it is now.
    ///
    /// It follows each closing of a breaker that was open, half-open or forced open, by probes or by an operator. Calls that are
    /// admitted count as always, and may open it again. Another close, a new shape of the window and a restart
    /// let it go on; [`reconfigure`](crate::Breaker::reconfigure) may change how long it is, and ends it for good with `None`:
    /// a later one with a ramp does not bring it back.
    ///
    /// Until it is over each call reads the clock and adds to a count that all threads share. Then a call costs what it costs
    /// without; where calls are timed anyway, for a rule on slow ones say, each looks whether there is a ramp.
    pub ramp: Option<Duration>,
    /// How many probes of one half-open period, or of one stage, may end without a verdict
    /// (ignored or dropped) before the breaker opens again, which lengthens an
    /// [`open_wait`](Self::open_wait) that grows.
    pub max_inconclusive: u32,
    /// What a permit dropped without `done` settles as.
    pub abandoned: Outcome,
    /// A permit dropped without `done` that was held so long, or longer, settles as a
    /// timeout, whatever `abandoned` says: callers who give up after that time speak against
    /// the upstream, those who leave earlier do not. So an upstream that hangs opens the
    /// breaker although a timeout stands *outside* of it.
    ///
    /// It costs each call two clock reads, unless a rule on slow calls reads them already.
    /// With `None` no time is too long.
    pub abandoned_after: Option<Duration>,
    /// What a permit dropped by a panicking thread settles as. Without the
    /// `std` feature a panic cannot be told apart and `abandoned` holds.
    pub panicked: Outcome,
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Config {
    /// The most outcomes that a rule may ask of a time window.
    const MAX_CALLS: u32 = (1 << 24) - 1;

    /// What `min_calls` is if it is not said, in a window that holds as many.
    const MIN_CALLS: u32 = 10;

    const DEFAULT: Self = Self {
        window: Window::Count(20),
        min_calls: None,
        failure_ratio: Some(0.5),
        timeout_ratio: None,
        slow: None,
        overdue: None,
        consecutive_failures: None,
        failures: None,
        open_wait: OpenWait::fixed(Duration::from_secs(30)),
        max_probes: 1,
        successes_to_close: 1,
        stages: None,
        probe_lease: Some(Duration::from_secs(60)),
        ramp: None,
        max_inconclusive: 16,
        abandoned: Outcome::Ignored,
        abandoned_after: None,
        panicked: Outcome::Failure,
    };

    /// For an upstream that is called often (hundreds of times a second): a
    /// wide window that reacts to a fifth of the calls failing, a short wait that grows,
    /// and several probes, since one success in a thousand calls proves little.
    pub const fn high_traffic() -> Self {
        Self {
            window: Window::Count(1000),
            min_calls: Some(100),
            failure_ratio: Some(0.2),
            open_wait: OpenWait::exponential(Duration::from_secs(5), 2.0, Duration::from_secs(60))
                .jitter_percent(20),
            max_probes: 5,
            successes_to_close: 5,
            ..Self::DEFAULT
        }
    }

    /// For an upstream that is called now and then (a few times a minute): opens
    /// after three failures in a row, since a ratio over so few calls comes too
    /// late.
    pub const fn low_traffic() -> Self {
        Self {
            failure_ratio: None,
            consecutive_failures: Some(3),
            open_wait: OpenWait::exponential(
                Duration::from_secs(10),
                2.0,
                Duration::from_secs(300),
            ),
            ..Self::DEFAULT
        }
    }

    /// This config with a change.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::{Config, Window};
    ///
    /// let config = Config::default().with(|config| {
    ///     config.window = Window::count(5);
    ///     config.failures = Some(2);
    /// });
    /// assert_eq!(config.min_calls(), 5);
    /// ```
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// How many outcomes must be in the window before a ratio is judged:
    /// [`min_calls`](Self#structfield.min_calls), or what follows from the window.
    pub const fn min_calls(&self) -> u32 {
        match (self.min_calls, self.window) {
            (Some(calls), _) => calls,
            (None, Window::Count(size)) if size < Self::MIN_CALLS => size,
            (None, _) => Self::MIN_CALLS,
        }
    }

    /// By scores in the place of ratios: the defaults, with such a window and no ratio.
    pub const fn cusum(cusum: Cusum) -> Self {
        Self {
            window: Window::Cusum(cusum),
            failure_ratio: None,
            ..Self::DEFAULT
        }
    }

    /// The failure ratio of who says none: beside scores there is none.
    pub(crate) fn default_failure_ratio(&self) -> Option<f64> {
        Self::DEFAULT
            .failure_ratio
            .filter(|_| self.window.scores().is_none())
    }

    /// From how long on a call is slow, if anything asks for it.
    pub(crate) const fn slow_limit(&self) -> Option<Duration> {
        match (self.window, self.slow) {
            (
                Window::Cusum(Cusum {
                    slow: Some(slow), ..
                }),
                _,
            ) => Some(slow.limit),
            (Window::Count(_) | Window::Time { .. }, Some(rule)) => Some(rule.limit),
            _ => None,
        }
    }

    /// Whether a call's start must be known.
    pub(crate) const fn is_timed(&self) -> bool {
        self.slow_limit().is_some() || self.overdue.is_some() || self.abandoned_after.is_some()
    }

    /// The shortest time in nanoseconds that a call's duration is judged by.
    pub(crate) fn shortest_limit(&self) -> Option<u64> {
        let slow = self.slow_limit().map(saturating_nanos);
        let abandoned = self.abandoned_after.map(saturating_nanos);
        [slow, self.overdue_after(), abandoned]
            .into_iter()
            .flatten()
            .min()
    }

    /// After how many nanoseconds a call in flight is overdue.
    pub(crate) fn overdue_after(&self) -> Option<u64> {
        match self.overdue? {
            Overdue::Slow => self.slow_limit().map(saturating_nanos),
            Overdue::Timeout(limit) => Some(saturating_nanos(limit)),
        }
    }

    /// What an overdue call counts as.
    pub(crate) fn overdue_sample(&self) -> Option<Sample> {
        Some(match self.overdue? {
            Overdue::Slow => Sample {
                outcome: Outcome::Success,
                slow: true,
            },
            Overdue::Timeout(limit) => Sample {
                outcome: Outcome::Timeout,
                slow: self
                    .slow_limit()
                    .is_some_and(|slow| saturating_nanos(slow) <= saturating_nanos(limit)),
            },
        })
    }

    /// Checks every field.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first illegal field, its value, and
    /// what is legal.
    pub fn validate(&self) -> Result<(), ConfigError> {
        const RATIO: &str = "finite, above 0 and at most 1";
        let (most, most_in_a_row, calls, failures) = match self.window {
            Window::Count(size) => {
                check(
                    (1..=Window::MAX_COUNT).contains(&size),
                    "window",
                    size,
                    "a count of 1 to 4096",
                )?;
                (
                    size,
                    size,
                    "1 to the window's size",
                    "1 to the window's size, or none",
                )
            }
            Window::Time { length, buckets } => {
                check_time_window(("window.length", length), ("window.buckets", buckets))?;
                let most = Self::MAX_CALLS;
                (most, most, "1 to 16777215", "1 to 16777215, or none")
            }
            Window::Cusum(cusum) => {
                cusum.validate()?;
                const NONE: &str = "none, since the window keeps scores and no outcomes";
                for (field, ratio) in [
                    ("failure_ratio", self.failure_ratio),
                    ("timeout_ratio", self.timeout_ratio),
                    ("slow", self.slow.map(|rule| rule.ratio)),
                    ("min_calls", self.min_calls.map(f64::from)),
                    ("failures", self.failures.map(f64::from)),
                ] {
                    check(ratio.is_none(), field, ratio.unwrap_or(0.0), NONE)?;
                }
                let most_in_a_row = Cusum::MAX_CONSECUTIVE;
                (
                    Self::MAX_CALLS,
                    most_in_a_row,
                    "1 to 16777215",
                    "1 to 255, or none",
                )
            }
        };
        check(
            (1..=most).contains(&self.min_calls()),
            "min_calls",
            self.min_calls(),
            calls,
        )?;
        for (field, ratio) in [
            ("failure_ratio", self.failure_ratio),
            ("timeout_ratio", self.timeout_ratio),
            ("slow.ratio", self.slow.map(|rule| rule.ratio)),
        ] {
            let ratio = ratio.unwrap_or(1.0);
            check(ratio > 0.0 && ratio <= 1.0, field, ratio, RATIO)?;
        }
        if let Some(rule) = self.slow {
            check_duration("slow.limit", rule.limit)?;
        }
        match self.overdue {
            Some(Overdue::Slow) => check(
                self.slow_limit().is_some(),
                "overdue",
                "slow",
                "slow only if the rule on slow calls is set",
            )?,
            Some(Overdue::Timeout(limit)) => check_duration("overdue.timeout", limit)?,
            None => {}
        }
        for (field, count) in [
            ("consecutive_failures", self.consecutive_failures),
            ("failures", self.failures),
        ] {
            let count = count.unwrap_or(1);
            check((1..=most_in_a_row).contains(&count), field, count, failures)?;
        }
        if let Some(after) = self.abandoned_after {
            check_duration("abandoned_after", after)?;
        }
        check(
            self.failure_ratio.is_some()
                || self.timeout_ratio.is_some()
                || self.slow.is_some()
                || self.window.scores().is_some()
                || self.consecutive_failures.is_some()
                || self.failures.is_some(),
            "rules",
            "none",
            "at least one of consecutive_failures, failures, failure_ratio, timeout_ratio, slow, or a window of scores",
        )?;
        let wait = self.open_wait;
        check_duration("open_wait.base", wait.base)?;
        check(
            wait.factor.is_finite() && wait.factor >= 1.0,
            "open_wait.factor",
            wait.factor,
            "finite and at least 1",
        )?;
        if wait.max < wait.base {
            return Err(ConfigError {
                field: "open_wait.max",
                value: format!("{:?}", wait.max),
                legal: "at least open_wait.base",
            });
        }
        check(
            wait.jitter_percent <= 100,
            "open_wait.jitter_percent",
            wait.jitter_percent,
            "0 to 100",
        )?;
        for (field, count) in [
            ("max_probes", self.max_probes),
            ("successes_to_close", self.successes_to_close),
            ("max_inconclusive", self.max_inconclusive),
        ] {
            check((1..=255).contains(&count), field, count, "1 to 255")?;
        }
        if let Some(stages) = self.stages {
            stages.validate()?;
        }
        for (field, duration) in [("probe_lease", self.probe_lease), ("ramp", self.ramp)] {
            if let Some(duration) = duration {
                check_duration(field, duration)?;
            }
        }
        Ok(())
    }
}

/// Checks a time window, whose two fields have these names.
pub(crate) fn check_time_window(
    (of_length, length): (&'static str, Duration),
    (of_buckets, buckets): (&'static str, u32),
) -> Result<(), ConfigError> {
    if length < Window::MIN_LENGTH {
        return Err(ConfigError {
            field: of_length,
            value: format!("{length:?}"),
            legal: "10 ms or more",
        });
    }
    check(
        (1..=Window::MAX_BUCKETS).contains(&buckets),
        of_buckets,
        buckets,
        "1 to 60",
    )
}

pub(crate) fn check(
    legal: bool,
    field: &'static str,
    value: impl fmt::Display,
    range: &'static str,
) -> Result<(), ConfigError> {
    if legal {
        return Ok(());
    }
    Err(ConfigError {
        field,
        value: format!("{value}"),
        legal: range,
    })
}

fn check_duration(field: &'static str, value: Duration) -> Result<(), ConfigError> {
    if value > Duration::ZERO {
        return Ok(());
    }
    Err(ConfigError {
        field,
        value: format!("{value:?}"),
        legal: "above zero",
    })
}
