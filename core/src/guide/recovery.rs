//! An upstream that is overloaded, and one that comes back: what to put before it.
//!
//! A [`Breaker`](crate::Breaker) knows all or nothing. That is right for an upstream that is down, and wrong for one that takes a part of its
//! calls: opened, it keeps from it what it could do; closed, it sends what it cannot. A [`Throttle`](crate::Throttle) sends about
//! as much as is accepted.
//!
//! # Both
//!
//! A pair `(breaker, throttle)` is a [`Gate`](crate::Gate), which the adapters take in the place of a breaker. In the order of asking: the
//! breaker, the throttle, then a limit on concurrency; retries inside the permit, each attempt with its timeout inside the retry.
//!
//! # When a throttle does harm
//!
//! It takes each failure for a refusal. An upstream whose calls fail for reasons of their own gets ever fewer of them once more than
//! `1 - 1 / k` fail: with `k` 2 from a half on. Each refused call raises the share of requests that are not accepted, and so the share that is
//! refused, until nothing but the probes is left. Below that bound nobody is refused. So
//!
//! - let failures that are no sign of overload be [`Outcome::Answered`](crate::Outcome::Answered): what the tables of
//!   [`verdict`](crate::verdict) say of most 4xx;
//! - where a part of the upstream may be dead, give each part a throttle of its own, or a `k` of 3 and more.
//!
//! # What to choose
//!
//! | the upstream | what |
//! | --- | --- |
//! | is up or down | a breaker |
//! | refuses what is too much for it (429, 503) | a throttle |
//! | is slow when there is too much, and its callers give up | a throttle, and timeouts inside its permits |
//! | any of these | a pair of both |
//! | fails for more than half of the keys by itself | no throttle, or one a key |
