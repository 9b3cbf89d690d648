//! How to choose a rule: how often each opens by chance, and how soon when it should.
//!
//! A breaker is a statistical test that is made again with each call, and it has two errors. It opens though the upstream is as
//! well as ever: a *false trip*. And it takes some calls to notice that the upstream is ill: a *delay*. Each rule buys the one
//! with the other; what differs between rules is the price.
//!
//! So three numbers say more than a window and a ratio: **p0**, the share of calls that fail when all is well; **p1**, the share that is
//! ill; and how many **calls** may pass between two false trips. `Config::for_rates` (feature `odds`) makes a config of them; in a
//! file it is `window = { cusum = { failures = { p0 = 0.01, p1 = 0.3, calls = 1e9 } } }`. `Config::odds` tells of any config what it does.
//!
//! ```
//! # #[cfg(feature = "odds")]
//! # {
//! use cutout::{Config, odds::Traffic};
//!
//! let config = Config::for_rates(0.01, 0.3, 1e9)?;
//! assert!(config.odds(Traffic::failing(0.01))?.from_full.mean_calls() > 1e9);
//! assert!(config.odds(Traffic::failing(0.3))?.from_full.mean_calls() < 25.0);
//! # }
//! # Ok::<(), cutout::ConfigError>(())
//! ```
//!
//! # In one picture
//!
//! Each curve is one kind of rule, from hasty on the left to careful on the right. The lower one finds an outage in fewer calls at as
//! many false trips.
//!
#![doc = include_str!("choosing/picture.svg")]
//!
//! # At equal false trips
//!
//! The score, the best count window (of all sizes up to 512 and all numbers of failures the one that opens first at p1) and the
//! shortest run of failures that is long enough. p1, for which the score and the window are made, is 30 % beside a p0 of 1 %, and 50 %
//! beside the others. Before the outage all calls had succeeded. The first in each column is bold.
//!
#![doc = include_str!("choosing/delays.md")]
//!
//! At the p1 that it was made for the score is first: no test with as few false trips needs fewer calls there (Moustakides
//! 1986, see `Score::for_rates`). Elsewhere it gives something away:
//!
#![doc = include_str!("choosing/losses.md")]
//!
//! So a run of failures is the better rule for an upstream that fails altogether or not at all, and the worst for one that fails in part: at
//! 30 % five failures in a row take hundreds of calls. A count window is between the two.
//!
//! # Independent failures, and bursts
//!
//! All that takes each call to fail *independently*: with the same chance, whatever the calls before it did. Real ones do not. An upstream
//! stalls for a tenth of a second, and a dozen calls fail that were in flight together; a connection breaks, and all that were on it
//! fail. In logs of upstreams that were well, a call after a failed one failed in 15 to 70 % of the cases, where 0.1 to 1.7 % failed in all.
//!
//! Below, 1 % of the calls fail in both columns. In the first each fails by itself. In the second four fifths of the failures come in stalls, in each
//! of which 4 to 12 calls fail one after another, and all is well again. 100 calls come in a second; a breaker that has opened is closed again after
//! half a minute.
//!
#![doc = include_str!("choosing/bursts.md")]
//!
//! A limit that should have sufficed for 10⁹ calls is met every thousand or two: the odds compare rules, and are no promise for an upstream whose failures
//! come in bursts. A window that is far larger than a stall forgives it, and takes seconds to find that nothing works any more. What tells a stall from an outage
//! is that it is over soon. So a score matches only when it has been above zero for [`lasting`](crate::Cusum::lasting), half a second by default, which
//! is added to the delay. At a few calls a second it adds nothing, since so many calls take longer. Two stalls in a
//! second, or one that lasts longer, still open the breaker: what is left is a number of seconds to choose, by what an outage may cost.
//!
//! # On real logs
//!
//! Three extracts of real logs with troubles that are known, replayed by `cutout-replay` with an open wait of 30 seconds; in `slow_mesh_a` a
//! slow call is bad, and each of seven dependencies has its breaker. (In a fourth, `apache_2015`, there is no trouble, and no
//! rule opens.)
//!
#![doc = include_str!("choosing/logs.md")]
//!
//! A p0 that is too low is dear: in `slow_mesh_a` one dependency has 1.7 % of slow calls when it is well, in clumps, and a score that was told 1 % opens for
//! nothing more often than the default does. Told 2 %, and to last for a second, or to open a thousand times more seldom, it opens for nothing no more often than the
//! default on any of the logs, and finds two outages that the default misses. So take p0 from a log and not from hope: `cutout-replay` replays your own, and `--search` tries scores too.
//! In `haproxy_2012` a call comes once in 75 seconds, and its trouble is 23 failures in 78 minutes: at such a rate a score is older than
//! [`max_age`](crate::Cusum::max_age) before the next failure, and no rule here finds it.
//!
//! # The presets
//!
//! Without `lasting`, and for independent failures; before, all was well. "More than" is where nobody will see one.
//!
#![doc = include_str!("choosing/presets.md")]
//!
//! [`Config::default`](crate::Config#impl-Default-for-Config) is for an upstream that fails in up to 5 % of the calls when it is well: at 10 %
//! it opens by chance every few hundred thousand calls, at 20 % every thousand or two. `Config::high_traffic` is for one that fails seldom and is called often: it
//! sees a fifth of the calls failing, which at 10 % is far away and at 20 % is there. `Config::low_traffic` opens after three failures in a row, which at 1 % come
//! by once in a million calls and at 10 % once in a thousand. `Config::opens_by_chance` warns of a config that opens by chance more
//! often than once in a million calls at 1 %, and so does `--check` of the gateway.
//!
//! # Why no other rule has a `lasting`
//!
//! A score's moments are written by the outcomes that raise it, and a breaker with a count window reads no clock at all while it is closed. A run or
//! a ratio that lasts would have to read the clock with each failure and keep since when; and a ratio has no moment at which it began: a
//! full window always holds something. A run has one, and is a score: with `bad: 1` and `good` and `limit` both 5 each success
//! takes it back to zero, and five failures in a row open the breaker, if they lasted. In `slow_mesh_a` above that takes 49 false trips to 13, at the
//! price of one outage more that is not found.
//!
//! ```
//! use cutout::{Breaker, Config, Cusum, ManualClock, Outcome, Score, Settled};
//! use core::time::Duration;
//!
//! let clock = ManualClock::new();
//! let five_in_a_row = Score { bad: 1, good: 5, limit: 5 };
//! let breaker = Breaker::builder()
//!     .config(Config::cusum(Cusum::of_failures(five_in_a_row)))
//!     .clock(clock.clone())
//!     .build()?;
//! let fail = || breaker.allow().unwrap().done(Outcome::Failure);
//! // A stall is over before half a second is.
//! assert!((0..12).all(|_| fail() == Settled::Recorded));
//! clock.advance(Duration::from_millis(500));
//! assert_eq!(fail(), Settled::Tripped);
//! # Ok::<(), cutout::ConfigError>(())
//! ```
//!
//! # How the numbers were found
//!
//! Calls between false trips are those of `Config::odds`, from a window full of successes. Calls until a breaker opens, and what bursts do, are means
//! of breakers of this crate that were called with outcomes drawn from a fixed seed: 10,000 outages for each number, or as many as fit in 10⁷ calls (the
//! longest of them may be off by a tenth); 2,000 in the table of bursts, and 10⁷ calls that were well. The program is `bench/examples/chances.rs`; a test holds the tables against what it
//! writes.
