//! The configs that are tried.

use std::time::Duration;

use cutout::{Config, Cusum, OpenWait, Overdue, Score, SlowRule, Window};

use crate::configs::{Guards, Named, presets};

/// What of a log the candidates are made by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Log {
    /// The share of bad calls outside troubles.
    pub(super) quiet_rate: f64,
    /// From how long on a call is slow, if that is to be looked at.
    pub(super) slow: Option<Duration>,
}

/// Presets; and each rule with each open wait: short at first and growing, and the default's.
pub(super) fn candidates(log: Log) -> Vec<Named> {
    let second = Duration::from_secs(1);
    let waits = [
        (
            "5 to 60 s open",
            OpenWait::exponential(5 * second, 2.0, 60 * second),
        ),
        ("30 s open", OpenWait::fixed(30 * second)),
    ];
    let mut all = presets();
    let mut rules = ratios();
    rules.extend(runs());
    rules.extend(log.slow.map(slow_ratios).into_iter().flatten());
    rules.extend(scores(log));
    for (wait, open_wait) in waits {
        all.extend(rules.iter().map(|named| {
            Named {
                name: format!("{}, {wait}", named.name),
                guards: Guards {
                    breaker: (named.guards.breaker)
                        .map(|config| config.with(|config| config.open_wait = open_wait)),
                    ..named.guards
                },
            }
        }));
    }
    all
}

fn named(name: String, change: impl FnOnce(&mut Config)) -> Named {
    Named {
        name,
        guards: Config::default().with(change).into(),
    }
}

/// Shares of failures, over counts and over times.
fn ratios() -> Vec<Named> {
    let counts = [20, 50, 100, 200].map(|count| {
        let least = [10, (count / 2).max(20)];
        (Window::count(count), format!("the last {count}"), least)
    });
    let times = [10, 30, 60].map(|seconds| {
        let window = Window::time(Duration::from_secs(seconds), Window::BUCKETS);
        (window, format!("the last {seconds} s"), [10, 20])
    });
    let mut all = Vec::new();
    for (window, size, least) in counts.into_iter().chain(times) {
        for min_calls in least {
            for percent in [10, 20, 30, 50, 70] {
                let name = format!("{percent} % of {size}, {min_calls} at least");
                all.push(named(name, |config| {
                    config.window = window;
                    config.min_calls = Some(min_calls);
                    config.failure_ratio = Some(f64::from(percent) / 100.0);
                }));
            }
        }
    }
    all
}

/// Failures in a row.
fn runs() -> Vec<Named> {
    let run = |run| {
        named(format!("{run} in a row"), |config| {
            config.failure_ratio = None;
            config.consecutive_failures = Some(run);
        })
    };
    [3, 5, 8, 12, 20].map(run).into()
}

/// Shares of failures or slow calls, which count while they are in flight.
fn slow_ratios(limit: Duration) -> Vec<Named> {
    let mut all = Vec::new();
    for seconds in [10, 30] {
        for min_calls in [10, 20] {
            for percent in [20, 30, 50] {
                let ratio = f64::from(percent) / 100.0;
                let name =
                    format!("{percent} % failed or slow in {seconds} s, {min_calls} at least");
                all.push(named(name, |config| {
                    config.window = Window::time(Duration::from_secs(seconds), Window::BUCKETS);
                    config.min_calls = Some(min_calls);
                    config.failure_ratio = Some(ratio);
                    config.slow = Some(SlowRule { limit, ratio });
                    config.overdue = Some(Overdue::Slow);
                }));
            }
        }
    }
    all
}

/// Scores that tell the quiet rate from one of 10 to 50 %, and reach their limit by chance once in so many calls.
fn scores(log: Log) -> Vec<Named> {
    let quiet = log.quiet_rate.clamp(1e-4, 0.05);
    let mut all = Vec::new();
    for ill in [0.1, 0.3, 0.5] {
        for calls in [1e4, 1e6, 1e9, 1e12] {
            // Those that no limit meets are none.
            let Ok(score) = Score::for_rates(quiet, ill, calls) else {
                continue;
            };
            let name = format!(
                "a score for {:.0} % against {:.2} %, once in {calls:.0e} calls by chance",
                ill * 100.0,
                quiet * 100.0
            );
            let failures = Cusum::of_failures(score);
            if let Some(limit) = log.slow {
                all.push(Named {
                    name: format!("{name}, slow calls too"),
                    guards: Config::cusum(failures.and_slow(limit, score))
                        .with(|config| config.overdue = Some(Overdue::Slow))
                        .into(),
                });
            }
            all.push(Named {
                name,
                guards: Config::cusum(failures).into(),
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_legal_and_scores_are_by_the_quiet_rate() {
        let of = |quiet_rate, slow| candidates(Log { quiet_rate, slow });
        let second = Some(Duration::from_secs(1));
        for quiet_rate in [0.0, 0.001, 0.03, 0.9] {
            for slow in [None, second] {
                let all = of(quiet_rate, slow);
                assert!(all.len() > 150, "{}", all.len());
                for named in &all {
                    assert!(named.guards.validate().is_ok(), "{named:?}");
                }
            }
        }
        let score = Score::for_rates(0.001, 0.3, 1e9).unwrap();
        let proposed = |quiet_rate| {
            let all = of(quiet_rate, None);
            let expected = Window::cusum(score);
            all.iter()
                .filter_map(|named| named.guards.breaker)
                .any(|config| config.window == expected)
        };
        assert!(proposed(0.001) && !proposed(0.03));
    }
}
