//! Configs, states, snapshots and events in any format that `serde` knows (feature `serde`).
//!
//! [`Config`], [`OpenWait`], [`SlowRule`], [`Stages`], [`Window`], [`Cusum`](crate::Cusum), [`Score`](crate::Score), [`State`], [`Cause`], [`Outcome`],
//! [`Sample`], [`Counts`], [`Snapshot`], [`Event`] and [`Verdict`] implement `Serialize` and `Deserialize`.
//! So does [`ThrottleConfig`](crate::ThrottleConfig). With the feature `registry`, `RegistryConfig` does too. No derive macro is built for it.
//!
//! # How a config is written
//!
//! - Every field of [`Config`] may be left out and is then that of [`Config::default`]. A field
//!   that does not exist is refused, and so is one that is given twice.
//! - A duration is a text with its unit: `"30s"`, `"1.5s"`, `"1m 30s"`. The units are `d`, `h`,
//!   `m`, `s`, `ms`, `us` and `ns`. A bare number is refused: it does not say what it counts.
//! - An optional field is switched off with `"none"`, also in formats that have no null.
//!   Leaving it out means its default, which for `failure_ratio` and `probe_lease` is not none.
//! - `window` is a number of outcomes, `100`, or a time, `"10s"`, or `"10s in 20"` buckets. It may also be a table,
//!   `{ count = 100 }` or `{ time = "10s", buckets = 20 }`; or scores, `{ cusum = { failures = … } }`, where a score is either its
//!   numbers, `{ bad = 10, good = 1, limit = 55 }`, or what they shall do, `{ p0 = 0.01, p1 = 0.3, calls = 1e9 }`. The latter needs
//!   the feature `odds` ([`Score::for_rates`](crate::Score), whose errors are this format's), and is written back as its numbers. On
//!   slow calls: `{ cusum = { slow = { limit = "2s", score = … } } }`. The other fields of [`Cusum`](crate::Cusum) may stand beside.
//! - `overdue` is `"slow"`, or the time after which a call in flight counts as a timeout.
//! - `stages` is a table of `first`, `growth`, `until` and `failure_ratio`, of which each may be left out.
//! - The open wait is a table of `base`, `factor`, `max` and, if wanted, `jitter_percent`; or
//!   one duration, which is a fixed wait.
//! - States, causes and outcomes are in lower case: `"half_open"`, `"failure_ratio"`, `"timeout"`.
//! - A verdict is one of the names that [`Verdict`] has, such as `"retry"`, or a table of `outcome` and, where it differs from what the
//!   outcome says by itself, `retry` and `waits`. What single statuses say is a map of such: see
//!   [`Verdicts::with_all`](crate::verdict::Verdicts::with_all).
//!
//! Formats that are not meant for people (postcard, bincode) get the same fields in order, with
//! durations as seconds and nanoseconds.
//!
//! Reading does not validate: `failure_ratio = 1.5` is read, and refused by
//! [`Builder::build`](crate::Builder::build), [`Breaker::new`](crate::Breaker::new) and
//! [`Breaker::reconfigure`](crate::Breaker::reconfigure) with a
//! [`ConfigError`](crate::ConfigError). Call [`Config::validate`] to know it earlier.
//!
//! A snapshot is read as it was written, and [`Builder::restore`](crate::Builder::restore) takes
//! from it what fits: see there. A field that is not known was written by a later release and is passed over, in snapshots and events.
//! So two releases may share a store while one replaces the other. Where passing over
//! would be wrong, the later release writes a higher `version`, and this one refuses the snapshot.
//! Formats without names, such as postcard, cannot pass a field over: with them both releases must be the same.
//!
//! # One config over another
//!
//! `figment`, the `config` crate and their like merge tables field by field and replace everything else: defaults, then a
//! file, then the environment. Every field can be set by a text, as the environment has nothing else: `APP_FAILURE_RATIO=0.25`,
//! `APP_PROBE_LEASE=none`, `APP_WINDOW=10s`. A window written in one word replaces whichever was below it. Two tables of
//! different kinds become one that has both kinds' fields; that is refused, with this advice.
//!
//! # Errors
//!
//! An error in a field begins with its name, and shows what is legal: `slow: limit: "2" is not a duration: …`. A missing, an
//! unknown or a repeated field is named too.
//!
//! # Examples
//!
//! ```
//! use core::time::Duration;
//! use cutout::{Breaker, Config, OpenWait};
//!
//! let config: Config = toml::from_str(
//!     r#"
//!     window = { count = 100 }
//!     min_calls = 20
//!     failure_ratio = "none"
//!     consecutive_failures = 5
//!     slow = { limit = "2s", ratio = 0.8 }
//!     open_wait = "1m 30s"
//!     "#,
//! )?;
//! assert_eq!(config.failure_ratio, None);
//! assert_eq!(config.open_wait, OpenWait::fixed(Duration::from_secs(90)));
//! assert_eq!(config.max_probes, Config::default().max_probes);
//!
//! let breaker = Breaker::new(config)?; // validates
//!
//! let misspelt = toml::from_str::<Config>("failur_ratio = 0.5").unwrap_err();
//! assert!(misspelt.message().contains("`failur_ratio`"));
//! let unitless = toml::from_str::<Config>("probe_lease = 30").unwrap_err();
//! assert!(unitless.message().starts_with("probe_lease: "));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Config`]: crate::Config
//! [`Config::default`]: crate::Config#impl-Default-for-Config
//! [`Config::validate`]: crate::Config::validate
//! [`OpenWait`]: crate::OpenWait
//! [`SlowRule`]: crate::SlowRule
//! [`Stages`]: crate::Stages
//! [`Window`]: crate::Window
//! [`State`]: crate::State
//! [`Cause`]: crate::Cause
//! [`Outcome`]: crate::Outcome
//! [`Sample`]: crate::Sample
//! [`Counts`]: crate::Counts
//! [`Snapshot`]: crate::Snapshot
//! [`Event`]: crate::Event
//! [`Verdict`]: crate::verdict::Verdict

#[macro_use]
mod record;
mod duration;
#[cfg(feature = "registry")]
mod registry;
mod types;
mod verdict;
mod wire;
