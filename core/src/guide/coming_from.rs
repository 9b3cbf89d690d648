//! Coming from another breaker: what surprises, and which of its settings is which here.
//!
//! # What surprises those who come from elsewhere
//!
//! | here | elsewhere often |
//! | --- | --- |
//! | **A success can open.** The rules are asked on every recorded outcome: the one that reaches `min_calls` may be a success | only failures are asked about |
//! | **`>=` everywhere.** 5 of 10 reach a ratio of 0.5 | only what is above opens |
//! | **A call that takes exactly the limit is slow** | it has to take longer |
//! | **`min_calls` above a count window is refused**, not lowered | it is lowered, or never reached |
//! | **There is no timer.** The first call after the wait moves the breaker to half-open | a timer or a thread does |
//! | **[`state`](crate::Breaker::state) reads half-open as soon as the wait is over**, before any call; the event and the generation come with that call | it reads open until a call comes |
//! | **The quota of probes is "at a time".** With `max_probes` 1 and `successes_to_close` 3, three calls are made one after another | it is for the whole period |
//! | **One failed probe opens again.** No ratio is computed over the probes | the share of a fixed number of probes decides |
//! | **A probe that says nothing frees its slot**: dropped, or ignored. After `max_inconclusive` (16) of them it opens again | it is used up, or holds the state for ever |
//! | **A lost probe is replaced** when its lease (60 s) is over and another call asks | the state stays half-open for ever |
//! | **An outcome counts only in the period that admitted its call.** A late failure does not touch a recovered breaker | it counts in the state that it finds |
//! | **Once open, the window is empty.** The counts at the trip are in the [`Event`](crate::Event), and in [`Breaker::evidence`](crate::Breaker::evidence) until it closes | they stay readable |
//! | **Closing starts an empty window** | the same in most, but some keep it |
//! | **A wait of nothing is refused**, as is a quota or a window of nothing | zero means none, or the default |
//! | **Bounds**: 4096 outcomes, 60 buckets, 255 probes, 255 successes to close, 255 inconclusive ones | none, or others |
//! | **A ratio is from above 0 to 1**, not a percentage | 50 means half |
//! | **Defaults**: half of the last 20 outcomes, at least 10 of them; 30 s open; one probe | see below |
//! | **Every error is a failure unless it is classified.** A caller's own mistake is [`Outcome::Answered`](crate::Outcome::Answered), a call given up [`Outcome::Ignored`](crate::Outcome::Ignored) | exceptions are listed |
//!
//! # Hooks
//!
//! | to do | here |
//! | --- | --- |
//! | hear of transitions | [`Builder::listener`](crate::Builder::listener), [`named_listener`](crate::Builder::named_listener); the last 64 are in [`Breaker::log`](crate::Breaker::log) |
//! | add and remove listeners in use | [`ListenerSet`](crate::ListenerSet) |
//! | hear of each call | [`Builder::call_listener`](crate::Builder::call_listener) |
//! | count calls, failures, rejections | [`Builder::totals`](crate::Builder::totals), the feature `metrics` |
//! | go to half-open by hand | [`force_open`](crate::Breaker::force_open)`(Some(Duration::ZERO), reason)`: a forced opening whose time is over is half-open; a verb of its own would be a second way to the same state |
//! | isolate, reset, disable | [`force_open`](crate::Breaker::force_open)`(None, reason)`, [`close`](crate::Breaker::close), [`disable`](crate::Breaker::disable) |
//! | only watch | [`observe_only`](crate::Breaker::observe_only), which reports what would have opened |
//! | keep the state over a restart | [`Breaker::snapshot`](crate::Breaker::snapshot), [`Builder::restore`](crate::Builder::restore) |
//! | fall back | [`Fallback`](crate::Fallback), and the page [`fallback`](super::fallback) |
//! | retry, limit time | the page [`retries`](super::retries) |
//!
//! # resilience4j
//!
//! | its setting (default) | here | what differs |
//! | --- | --- | --- |
//! | `failureRateThreshold` (50) | [`failure_ratio`](crate::Builder::failure_ratio)`(0.5)` | a share, not a percentage; both open at or above |
//! | `slidingWindowType`, `slidingWindowSize` (count, 100) | [`Window::count`](crate::Window::count)`(100)`, [`Window::time`](crate::Window::time) | at most 4096 outcomes; a time window has 1 to 60 buckets, whatever its length |
//! | `minimumNumberOfCalls` (100) | [`min_calls`](crate::Builder::min_calls)`(100)` | above the window it is refused |
//! | `slowCallDurationThreshold` (60 s), `slowCallRateThreshold` (100) | [`slow`](crate::Builder::slow) | exactly the limit is slow; with [`overdue`](crate::Builder::overdue) a call counts before it returns |
//! | `waitDurationInOpenState` (60 s), `waitIntervalFunctionInOpenState` | [`open_wait`](crate::Builder::open_wait) | fixed or exponential, with jitter; a failure may bring its own wait |
//! | `permittedNumberOfCallsInHalfOpenState` (10) | [`max_probes`](crate::Builder::max_probes) and [`successes_to_close`](crate::Builder::successes_to_close) | at a time, and reclaimed; one failure opens again. By a ratio: [`stages`](crate::Builder::stages) of which the first is the last, `Stages { first: 10, until: 10, failure_ratio: 0.5, .. }` |
//! | `maxWaitDurationInHalfOpenState` (none) | [`probe_lease`](crate::Builder::probe_lease), [`max_inconclusive`](crate::Builder::max_inconclusive) | each probe has a lease of its own. A limit for the whole period would end nothing else: as long as no call comes nothing is held back, and the next one probes |
//! | `automaticTransitionFromOpenToHalfOpenEnabled` (false) | none | it would need a thread; `state` reads half-open in time |
//! | `ignoreExceptions`, `recordExceptions` | a [classifier](crate::classify) | |
//! | `FORCED_OPEN`, `DISABLED`, `METRICS_ONLY` | `force_open`, `disable`, `observe_only` | each with a reason |
//!
//! ```
//! # use cutout::{Breaker, OpenWait, SlowRule, Window};
//! # use std::time::Duration;
//! let breaker = Breaker::builder()
//!     .window(Window::count(100))
//!     .min_calls(100)
//!     .failure_ratio(0.5)
//!     .slow(SlowRule { limit: Duration::from_secs(60), ratio: 1.0 })
//!     .open_wait(OpenWait::fixed(Duration::from_secs(60)))
//!     .max_probes(10)
//!     .successes_to_close(10)
//!     .build()?;
//! # Ok::<(), cutout::ConfigError>(())
//! ```
//!
//! # Polly
//!
//! | its setting (default) | here | what differs |
//! | --- | --- | --- |
//! | `FailureRatio` (0.1), `MinimumThroughput` (100) | [`failure_ratio`](crate::Builder::failure_ratio), [`min_calls`](crate::Builder::min_calls) | any `min_calls` from 1 |
//! | `SamplingDuration` (30 s) | [`Window::time`](crate::Window::time) | or a count window |
//! | `BreakDuration` (5 s), `BreakDurationGenerator` | [`open_wait`](crate::Builder::open_wait) | no function: fixed or exponential |
//! | `ShouldHandle` | a [classifier](crate::classify) | what it does not handle is a success there; here say success, answered or ignored |
//! | `ManualControl`, `StateProvider` | `force_open`, `close`, `state` | |
//! | `BrokenCircuitException.RetryAfter` | [`Rejected::retry_after`](crate::Rejected::retry_after) | |
//!
//! ```
//! # use cutout::{Breaker, OpenWait, Window};
//! # use std::time::Duration;
//! let breaker = Breaker::builder()
//!     .window(Window::time(Duration::from_secs(30), Window::BUCKETS))
//!     .min_calls(100)
//!     .failure_ratio(0.1)
//!     .open_wait(OpenWait::fixed(Duration::from_secs(5)))
//!     .build()?;
//! # Ok::<(), cutout::ConfigError>(())
//! ```
//!
//! # gobreaker
//!
//! | its setting (default) | here | what differs |
//! | --- | --- | --- |
//! | `ReadyToTrip` (more than 5 failures in a row) | [`consecutive_failures`](crate::Builder::consecutive_failures)`(6)`, or a ratio | rules, no function; asked on successes too |
//! | `Interval` (0: counts are never cleared) | a [`Window`](crate::Window) | the window slides, and is not cleared at once |
//! | `Timeout` (60 s) | [`open_wait`](crate::Builder::open_wait) | |
//! | `MaxRequests` (1) | [`max_probes`](crate::Builder::max_probes) and [`successes_to_close`](crate::Builder::successes_to_close) | at a time; theirs are both that number |
//! | `IsSuccessful`, `OnStateChange` | a [classifier](crate::classify), a listener | |
//!
//! ```
//! # use cutout::{Breaker, OpenWait};
//! # use std::time::Duration;
//! let breaker = Breaker::builder()
//!     .failure_ratio(None)
//!     .consecutive_failures(6)
//!     .open_wait(OpenWait::fixed(Duration::from_secs(60)))
//!     .build()?;
//! # Ok::<(), cutout::ConfigError>(())
//! ```
//!
//! # failsafe-go
//!
//! | its setting | here | what differs |
//! | --- | --- | --- |
//! | `WithFailureThreshold(n)` | [`consecutive_failures`](crate::Builder::consecutive_failures)`(n)` | |
//! | `WithFailureThresholdRatio(n, of)` | [`Window::count`](crate::Window::count)`(of)`, [`failures`](crate::Builder::failures)`(n)` | judged at once, not only when `of` have run |
//! | `WithFailureRateThreshold(rate, executions, period)` | [`Window::time`](crate::Window::time), [`failure_ratio`](crate::Builder::failure_ratio), [`min_calls`](crate::Builder::min_calls) | a share, not a percentage |
//! | `WithDelay`, `WithDelayFunc` | [`open_wait`](crate::Builder::open_wait), [`Report::retry_after`](crate::Report) | a failure may bring its own wait |
//! | `WithSuccessThreshold(n)` | [`successes_to_close`](crate::Builder::successes_to_close)`(n)` | one failure opens again |
//! | `HandleErrors`, `HandleIf` | a [classifier](crate::classify) | |
//!
//! # opossum
//!
//! | its setting (default) | here | what differs |
//! | --- | --- | --- |
//! | `timeout` (10 s) | `call_timeout` of the feature `tokio` | a breaker does not limit time by itself; a timeout has a ratio of its own |
//! | `errorThresholdPercentage` (50) | [`failure_ratio`](crate::Builder::failure_ratio)`(0.5)` | theirs has to be above, here 50 % open |
//! | `volumeThreshold` (0) | [`min_calls`](crate::Builder::min_calls) | 10 by default: one failed call does not open |
//! | `rollingCountTimeout` (10 s), `rollingCountBuckets` (10) | [`Window::time`](crate::Window::time)`(10 s, 10)` | |
//! | `resetTimeout` (30 s) | [`open_wait`](crate::Builder::open_wait) | |
//! | `capacity` | a semaphore inside the breaker | |
//! | `errorFilter`, `fallback` | a [classifier](crate::classify), [`Fallback`](crate::Fallback) | |
//!
//! # pybreaker
//!
//! | its setting (default) | here | what differs |
//! | --- | --- | --- |
//! | `fail_max` (5) | [`consecutive_failures`](crate::Builder::consecutive_failures)`(5)` | |
//! | `reset_timeout` (60 s) | [`open_wait`](crate::Builder::open_wait) | |
//! | `success_threshold` (1) | [`successes_to_close`](crate::Builder::successes_to_close) | |
//! | `exclude` | [`Outcome::Answered`](crate::Outcome::Answered) | an excluded exception ends a run of failures there, and so does this |
//! | `listeners` | [`Builder::listener`](crate::Builder::listener) | calls have a listener of their own, [`call_listener`](crate::Builder::call_listener) |
//! | `state_storage` (Redis) | none | each process judges by its own calls; a snapshot carries the state over a restart |
//!
//! # Envoy
//!
//! | its setting (default) | here | what differs |
//! | --- | --- | --- |
//! | `consecutive_5xx` (5) | [`consecutive_failures`](crate::Builder::consecutive_failures)`(5)` | what counts as one is the classifier's |
//! | `interval` (10 s) | none | judged on each outcome, not in sweeps |
//! | `base_ejection_time` (30 s), `max_ejection_time` | [`OpenWait::exponential`](crate::OpenWait::exponential) | grows by a factor, not by addition; a probe decides before the traffic comes back |
//! | `max_ejection_percent` (10) | `RouterConfig::max_shed` of the feature `router` | a number of targets |
//! | `failure_percentage_threshold` | [`failure_ratio`](crate::Builder::failure_ratio) | |
//! | `success_rate_stdev_factor` and its like | none | a host is judged by itself, not by comparison |
//! | `enforcing_…` | [`observe_only`](crate::Breaker::observe_only) | |
//! | circuit breakers: `max_connections`, `max_requests` … | none | they limit concurrency, as a semaphore does |
//!
//! # seatbelt
//!
//! | its setting (default) | here | what differs |
//! | --- | --- | --- |
//! | `failure_threshold` (0.1), `min_throughput` (100), `sampling_duration` (30 s) | [`failure_ratio`](crate::Builder::failure_ratio), [`min_calls`](crate::Builder::min_calls), [`Window::time`](crate::Window::time) | |
//! | `break_duration` (5 s) | [`open_wait`](crate::Builder::open_wait) | |
//! | `half_open_mode` (progressive) | [`stages`](crate::Builder::stages) | theirs admits a growing share of the calls, here a growing number of probes |
//! | `recovery_with` | a [classifier](crate::classify) | here whether to retry is another question |
//! | abandoned calls fail if nothing succeeds | [`abandoned_after`](crate::Builder::abandoned_after) | by how long the caller waited, not by whether anybody else succeeded |
//! | an id for each breaker | the features `registry` and `tower`: `BreakerLayer::keyed` | with a bound on their number |
//!
//! # failsafe
//!
//! | its policy (default) | here | what differs |
//! | --- | --- | --- |
//! | `consecutive_failures(n, backoff)` (5) | [`consecutive_failures`](crate::Builder::consecutive_failures)`(n)` | |
//! | `success_rate_over_time_window(rate, min, window, backoff)` (0.8, 5, 30 s) | [`failure_ratio`](crate::Builder::failure_ratio)`(1 - rate)`, [`min_calls`](crate::Builder::min_calls), [`Window::time`](crate::Window::time) | a window with equal weights, not a moving average; judged at once, not only after a whole window |
//! | `backoff::equal_jittered(10 s, 300 s)` | [`OpenWait::exponential`](crate::OpenWait::exponential) with [`jitter_percent`](crate::OpenWait::jitter_percent)`(50)` | |
//! | `or_else` | set both rules | |
//! | half-open admits every caller | [`max_probes`](crate::Builder::max_probes) | |
//!
//! # recloser
//!
//! | its setting (default) | here | what differs |
//! | --- | --- | --- |
//! | `error_rate` (0.5), `closed_len` (100) | [`failure_ratio`](crate::Builder::failure_ratio), [`Window::count`](crate::Window::count)`(100)` with `min_calls(100)` | `min_calls` may be less: theirs judges a full window only |
//! | `half_open_len` (10) | [`stages`](crate::Builder::stages) with `first` and `until` 10 | theirs admits every caller |
//! | `open_wait` (30 s) | [`open_wait`](crate::Builder::open_wait) | |
//!
//! # tower-resilience
//!
//! | its setting (default) | here | what differs |
//! | --- | --- | --- |
//! | `failure_rate_threshold` (0.5) | [`failure_ratio`](crate::Builder::failure_ratio) | |
//! | `sliding_window_size` (100), `minimum_number_of_calls` (the size) | [`Window::count`](crate::Window::count), [`min_calls`](crate::Builder::min_calls) | theirs counts since the last transition and does not slide |
//! | `sliding_window_duration` | [`Window::time`](crate::Window::time) | buckets, not a record of each call |
//! | `wait_duration_in_open` (30 s) | [`open_wait`](crate::Builder::open_wait) | |
//! | `permitted_calls_in_half_open` (1) | [`max_probes`](crate::Builder::max_probes) | at a time, reclaimed by lease |
//! | `slow_call_duration_threshold`, `slow_call_rate_threshold` | [`slow`](crate::Builder::slow) | |
