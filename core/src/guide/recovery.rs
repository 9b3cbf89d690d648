//! An upstream that is overloaded, and one that comes back: what to put before it, and what comes of it.
//!
//! A plain [`Breaker`](crate::Breaker) knows all or nothing. That is right for an upstream that is down. It is wrong for one that takes a part
//! of its calls: open, the breaker keeps from it what it could do; closed, it sends what it cannot. Three things stand between.
//!
//! | | what it does | for |
//! | --- | --- | --- |
//! | [`Stages`](crate::Stages) | let more probes in with each step that goes well, of which some may fail | an upstream that is back with some errors |
//! | [`Config::ramp`](crate::Config::ramp) | refuses a falling share of the calls after a close | one that is back cold, or with a backlog |
//! | [`Throttle`](crate::Throttle) | sends about as much as is accepted | one that is overloaded |
//!
//! # Advice by case
//!
//! | the upstream | put before it |
//! | --- | --- |
//! | is up or down | a breaker |
//! | is back with some errors of its own | a breaker with stages, whose ratio is about twice the share that opens it |
//! | is slow until its caches are warm | a breaker with a ramp as long as that takes |
//! | refuses at once what is too much for it (429, 503) | a throttle |
//! | gets slow when there is too much, and its callers give up | a breaker with a ramp, or a throttle; timeouts inside their permits |
//! | is kept down by retries | any of them, and a budget for retries ([`retries`](super::retries)) |
//! | is down for some keys | a breaker or a throttle for each part; one for all sees a share of failures, and tolerates it or takes the whole for ill |
//! | any of these | a throttle behind a breaker, which opens at a higher share than the throttle leaves |
//!
//! # Both
//!
//! A pair `(breaker, throttle)` is a [`Gate`](crate::Gate), which the adapters take in the place of a breaker. In the order of asking: the
//! breaker, the throttle, then a limit on concurrency; retries inside the permit, each attempt with its timeout inside the retry.
//!
//! A throttle lets through up to `k` times what is accepted, so a share of up to `1 - 1 / k` of the calls fails while it does what it is for. The
//! breaker must tolerate that: with `k` 2 a ratio above 0.5, say 0.9. One that opens at 0.5 opens before the throttle has its say.
//!
//! A [`Registry`](crate::registry::Registry#a-throttle-beside-it-or-instead) keeps a throttle beside each breaker, a
//! [`Target`](crate::router::Target::throttle) of a router has one beside its own, and [`Throttle::call_timeout`](crate::Throttle::call_timeout) is that of a breaker.
//!
//! # What comes of it
//!
//! The numbers and pictures are of a simulation: 1000 requests a second (800 where there are retries) to an upstream with a queue before one
//! server; the breaker, by ratios over 5 s with a wait of one second, and the throttle are the real ones, with a clock that is simulated. `cargo run -p cutout-bench
//! --example recovery` in the repository makes them again, and `bench/tests/recovery.rs` holds what is said here. *Overshoot* is
//! what was sent in the first second of the recovery, by what the upstream could take then; *to 95 %* the time from the end of
//! the trouble until good answers came at 95 % of the rate before.
//!
//! `failsafe` is the breaker of that crate (1.3), by its rule on the share of failures, with the same share, time, least number of calls and wait. Half-open it lets
//! everyone in, and the first outcome decides. The other peers of the benches read the system's clock and no other, so they cannot be here.
//!
//! ## Cold caches after a restart
//!
//! Down for 10 s, then an eighth of its capacity, which grows with each answer until 3000 have been given. One who knows the upstream needs 4.9 s.
//!
//! | before it | overshoot | to 95 % | calls to the dead |
//! | --- | --- | --- | --- |
//! | nothing | 5.5 times | 5.3 s | 9782 |
//! | breaker | 5.4 times | 6.3 s | 2425 |
//! | breaker, stages | 4.0 times | 5.4 s | 2449 |
//! | breaker, ramp of 8 s | 0.4 times | 7.4 s | 2425 |
//! | breaker, stages and ramp | 0.7 times | 8.2 s | 2449 |
//! | throttle | 0.0 times | 37.6 s | 7017 |
//! | breaker and throttle | 0.0 times | 29.2 s | 4370 |
//! | `failsafe` | 5.8 times | 6.8 s | 3373 |
//!
//! A throttle finds its way back from one probe a second by the factor e each 5 s, which takes its time. A shorter
//! [`length`](crate::ThrottleConfig::length) or more [probes](crate::ThrottleConfig::probes_per_second) shorten it.
//!
#![doc = include_str!("recovery/cold_restart.svg")]
//!
//! ## A fifth of the capacity
//!
//! 200 of 1000 calls a second are taken for 60 s, and the rest is refused at once.
//!
//! | before it | good answers a second | calls refused that would have been taken |
//! | --- | --- | --- |
//! | nothing | 200, of 1000 sent | 0 |
//! | breaker | 26 | 54625 |
//! | breaker, ramp | 147 | 29318 |
//! | throttle, alone or behind a breaker | 200, of 407 sent | 15163 |
//! | `failsafe` | 175 | 8086 |
//!
//! The throttle sends `k` times what is taken. (Calls that were refused while there was room number more than what was lost, since the room
//! was taken by the next ones.)
//!
#![doc = include_str!("recovery/a_fifth_of_the_capacity.svg")]
//!
//! ## Overload by retries
//!
//! A third of the capacity for 5 s. Each request is tried up to four times, and the server goes on to work on what its callers have given up: so with nothing
//! before it the overload stays when its cause is gone.
//!
//! | before it | to 95 % |
//! | --- | --- |
//! | nothing | never |
//! | breaker, with stages or without | 9 to 10 s |
//! | breaker, ramp | 17 s |
//! | breaker and throttle | 13.5 s |
//! | throttle | 47.6 s |
//! | `failsafe` | 15 s |
//!
#![doc = include_str!("recovery/overload_by_retries.svg")]
//!
//! ## One of five shards dead
//!
//! A fifth of the keys fails. Nobody else is refused by rules that tolerate 20 %: neither by a breaker that opens at 50 %, nor by a throttle
//! with `k` 2.
//!
//! ## Three of five shards dead: when a throttle does harm
//!
//! A throttle takes each failure for a refusal. An upstream whose calls fail for reasons of their own gets ever fewer of them once more than
//! `1 - 1 / k` fail: with `k` 2 from a half on. Each refused call raises the share of requests that are not accepted, and so the share that is
//! refused, until nothing but the probes is left. Below that bound nobody is refused. A breaker that opens at 50 % does harm at once.
//!
//! - Let failures that are no sign of overload be [`Outcome::Answered`](crate::Outcome::Answered): what the tables of
//!   [`verdict`](crate::verdict) say of most 4xx.
//! - Where a part of the upstream may be dead, give each part a throttle of its own, or a `k` of 3 and more.
//!
#![doc = include_str!("recovery/three_of_five_shards_dead.svg")]
//!
//! # Clocks that jump
//!
//! A clock that steps back leaves a throttle its share and its probes, and a ramp starts over from where the clock is; once a ramp
//! is over it does not come back. One that leaps ahead by more than the window leaves a throttle as new: it sends what is asked until the first answers are in. A ramp is
//! over then.
