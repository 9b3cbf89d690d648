//! What the numbers of a config mean: how seldom it opens by chance, and how soon when it should.
//!
//! Needs the `odds` feature, which has no clock and needs no standard library.
//!
//! A breaker is a statistical test that is made again with each call. Like all tests it has two
//! errors: it opens though the upstream is as well as ever, and it takes some calls to
//! notice that one is not. [`Config::odds`](crate::Config::odds) tells both, for a given share of bad calls.
//!
//! ```
//! use cutout::{Config, odds::Traffic};
//!
//! let config = Config::default(); // half of the last 20, once there are 10
//! // With one call in ten failing it opens by chance once in some 400,000 calls ...
//! let well = config.odds(Traffic::failing(0.1))?;
//! assert!((350_000.0..450_000.0).contains(&well.from_empty.mean_calls()));
//! // ... with nine in ten failing after 10 to 12, and after 12 to 16 if all went well before.
//! let ill = config.odds(Traffic::failing(0.9))?;
//! assert!(ill.from_empty.mean_calls() < 12.0);
//! assert!(ill.from_full.mean_calls() < 16.0);
//! # Ok::<(), cutout::ConfigError>(())
//! ```
//!
//! # What they assume
//!
//! Each call fails with the same chance, whatever the others do. Real calls do not: when an upstream
//! stalls, many of them fail within a tenth of a second, and a rule that should open by chance once in
//! 10^9 calls opens a hundred thousand times more often. So the odds say how rules compare, and bound what
//! they do to an upstream whose failures are independent; they are no promise for one whose failures
//! come in bursts.
//!
//! # How they are computed
//!
//! | rule | how | how exact |
//! | --- | --- | --- |
//! | failures in a row | closed formula (Feller) | exact |
//! | a score | its Markov chain (Brook and Evans 1972) | exact |
//! | a ratio or a number over a count window | each number of failures until the window is full, the discrete scan statistic after that (Naus 1982) | within 10 % between 10 and 10^7 calls, by simulation |
//! | the same over a time window | as a count window of as many calls as come in its time | as above, if calls come evenly |
//! | several rules | as if they matched independently | a lower bound of the mean |
//!
//! Outcomes that no window records (ignored ones) are no calls here.

mod binomial;
mod curve;
mod cusum;
mod of_config;
mod rates;
mod run;
mod scan;
mod traffic;

pub use curve::Curve;
pub use of_config::Odds;
pub use traffic::Traffic;
