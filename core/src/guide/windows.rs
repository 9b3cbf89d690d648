//! Which window to choose, and what its numbers do.
//!
//! # Count or time
//!
//! A **count window** ([`Window::count`](crate::Window::count)) holds the last N outcomes, however old. It reacts after a certain
//! number of calls: at a thousand calls a second a window of 100 looks back a tenth of a second,
//! at one call a minute an hour and a half. It is exact, and a healthy breaker with one is only read
//! (1 ns, no clock). Choose it where calls come at a steady rate, and on the hottest paths.
//!
//! A **time window** ([`Window::time`](crate::Window::time)) holds the outcomes of the last T, however many. It reacts after a
//! certain time, forgets by itself, and means the same at night as at noon. Each call reads the clock
//! once and writes one counter of its thread's own (19 ns on the machine of the README's numbers). Choose it
//! where the rate varies, and where "half of the calls of the last ten seconds" is what you would say.
//!
//! # Or scores
//!
//! A **window of scores** ([`Window::cusum`](crate::Window::cusum)) holds no outcomes. A failure adds `bad` to a score, any other
//! outcome takes off `good`, and at `limit` the breaker opens. Its numbers follow from what you know of the upstream: how often
//! calls fail when all is well, how often when it is ill, and how many calls may pass between two false trips (`Score::for_rates`, with
//! the feature `odds`). Exact mean numbers of calls, for failures that are independent of each other:
//!
//! | p0 (well) | p1 (ill) | bad : good | limit | calls between false trips | until it opens at 30 % | 50 % | 90 % | all fail |
//! | --- | --- | --- | --- | --- | --- | --- | --- | --- |
//! | 1 % | 30 % | 10 : 1 | 35 | 1.27e6 | 16 | 8.3 | 4.4 | 4 |
//! | 1 % | 30 % | 10 : 1 | 55 | 1.16e9 | 24 | 12.8 | 6.7 | 6 |
//! | 5 % | 50 % | 7 : 2 | 58 | 1.20e9 | 72 | 23.3 | 10.1 | 9 |
//! | 10 % | 50 % | 8 : 3 | 93 | 1.01e9 | 200 | 36.8 | 13.8 | 12 |
//!
//! Failures of real upstreams come in bursts, and then a score reaches its limit far more often than that. So it must have been above
//! zero for [`lasting`](crate::Cusum::lasting), half a second by default, which is added to the time that it takes to open. The same
//! goes for every other rule here, only that those have no such brake. The page [`choosing`](super::choosing) has both in numbers.
//!
//! Choose it where you know the upstream's usual share of failures. It reacts after a number of calls, as a count window does;
//! [`max_age`](crate::Cusum::max_age) keeps failures of an hour ago from counting. A success at a score of zero writes nothing, so that at 1 % failures most
//! calls only read, where a window of 100 is seldom free of failures.
//!
//! # How `min_calls`, buckets and rates interact
//!
//! A ratio is judged only while the window holds `min_calls` outcomes. With a time window that is a
//! rate: **below `min_calls / T` calls a second no ratio ever opens the breaker**. With T = 10 s and
//! `min_calls` = 20, a service with one call a second never opens by a ratio. Set the rule on
//! `consecutive_failures` beside it: it is not windowed by time and needs no `min_calls`.
//!
//! T is divided in buckets, and the window moves on by one bucket at a time. The newest bucket is
//! the one that fills up, so the window holds the outcomes of between `T - T / buckets` and `T`:
//!
//! | T | buckets | it looks back | an outcome leaves up to |
//! | --- | --- | --- | --- |
//! | 10 s | 10 | 9 to 10 s | 1 s early |
//! | 10 s | 60 | 9.83 to 10 s | 0.17 s early |
//! | 10 s | 1 | 0 to 10 s, then starts anew | 10 s early |
//!
//! That is the whole error of a bucketed window: an outcome may leave one bucket's length early, and never late. Ten
//! buckets are enough for most; more buckets cost memory and a longer walk when the rules are judged.
//! With one bucket the window is a tumbling one: a burst on an edge is cut in two, and each half may be too few.
//!
//! # What counts when
//!
//! An outcome counts in the bucket in which the call **returns**. A call that took a minute counts
//! in a window of ten seconds like any other, when it fails: slow failures are not out of sight.
//!
//! The rules are judged on every outcome, successes too: the one that reaches `min_calls` may be a
//! success, and so may the first after older successes have left.
//!
//! ```
//! use core::time::Duration;
//! use cutout::{Breaker, ManualClock, Settled, Window};
//!
//! let clock = ManualClock::new();
//! let breaker = Breaker::builder()
//!     .window(Window::time(Duration::from_secs(10), 5))
//!     .min_calls(4)
//!     .failure_ratio(0.5)
//!     .clock(clock.clone())
//!     .build()?;
//! let call = |failed: bool| match breaker.allow().unwrap() {
//!     permit if failed => permit.failure(),
//!     permit => permit.success(),
//! };
//! (0..6).for_each(|_| _ = call(false));
//! clock.advance(Duration::from_secs(4));
//! (0..3).for_each(|_| _ = call(true));           // 3 of 9 have failed
//! clock.advance(Duration::from_secs(6));         // the six successes leave
//! assert_eq!(call(false), Settled::Tripped);     // 3 of 4
//! # Ok::<(), cutout::ConfigError>(())
//! ```
//!
//! # Worked examples
//!
//! **Low traffic**: one call every five seconds, T = 60 s in 10 buckets. The window holds 11 or 12
//! outcomes, so `min_calls` must not be above 11. With `min_calls` = 6 and a ratio of 0.5, an
//! upstream that goes down shows after 6 failures: 30 s. `consecutive_failures` = 3 would have
//! opened after 15 s; set both.
//!
//! **A burst**: 500 calls a second, T = 10 s, `min_calls` = 100, ratio 0.5. The window holds about
//! 4,750 outcomes. When all calls begin to fail it takes 2,375 failures, 4.75 s, until half of the
//! window has failed: a wide window is slow to react. T = 2 s reacts in one second. A count window of
//! 100 reacts after 50 failures, a tenth of a second, and takes a hiccup of that length for an outage.
//!
//! **Slow degradation**: calls take 0.2 s, then 2 s, and succeed. No failure rule sees that. A rule
//! `slow` with limit 1 s and ratio 0.5 opens once half of the calls of the last T were slow. They
//! are seen as they return: 2 s late.
//!
//! **A total hang**: calls do not return at all. Whatever is counted when it returns sees nothing: the
//! last outcomes before the hang were fine, and with a time window they leave until it is empty. The
//! callers' own timeout, if there is one, is what ends the silence. With
//! [`Config::overdue`](crate::Config::overdue) calls in flight count before that: 500 calls a second,
//! `Overdue::Timeout` of 1 s and T = 2 s in 10 buckets open the breaker about 1.5 s after the upstream has stopped
//! answering: by then the calls of the first half second of the hang are overdue, and as many successes of before are left.
//!
//! ```
//! use core::time::Duration;
//! use cutout::{Breaker, ManualClock, Overdue, Settled, State, Window};
//!
//! let clock = ManualClock::new();
//! let breaker = Breaker::builder()
//!     .window(Window::time(Duration::from_secs(10), 10))
//!     .min_calls(10)
//!     .overdue(Overdue::Timeout(Duration::from_secs(1)))
//!     .clock(clock.clone())
//!     .build()?;
//! let mut hang: Vec<_> = (0..10).map(|_| breaker.allow().unwrap()).collect();
//! clock.advance(Duration::from_millis(1125));      // nine eighths of the limit
//! assert!(breaker.allow().is_err(), "the next call is spared");
//! assert_eq!(breaker.state(), State::Open);
//! // They return after all, to a breaker that has moved on.
//! assert_eq!(hang.pop().unwrap().success(), Settled::Stale);
//! # Ok::<(), cutout::ConfigError>(())
//! ```
//!
//! Somebody has to come along for that: there is no timer, so overdue calls are counted by the next call that is
//! admitted or settled, after the limit at the earliest and nine eighths of it at the latest.
//!
//! # From many threads
//!
//! With a time window, counting an outcome and judging the window are two steps. Each outcome is counted once, and a
//! generation ends at most once; but of calls that return at the same moment one may judge before another has
//! counted, so a trip can come late by the calls that are in flight. With a count window it is one step.
//!
//! # What it takes
//!
//! A breaker with a time window takes, beside its 512 bytes, 384 bytes, 64 for each bucket, and 128 for each shard and 16
//! buckets, the buckets rounded up to a power of two. Shards are as many as threads run at a time, rounded up
//! to a power of two, 16 at most: 1.6 KB for 10 buckets on two cores, 3.4 KB on sixteen. Following calls for `overdue`
//! takes 296 bytes. Counts are exact to 33 million outcomes of a kind, bucket and thread, and right on average above that.
