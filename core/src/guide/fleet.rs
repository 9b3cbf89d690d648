//! Many processes before one upstream: what each should know of the others.
//!
//! A breaker decides by what its own process has seen. With ten replicas that is ten proofs that an upstream is dead, and ten probes
//! at each wait. Most often that is right as it is: the proofs are small (ten calls each by the defaults), the decisions are independent, and nothing
//! between the replicas can fail. [`OpenWait::jitter_percent`](crate::OpenWait::jitter_percent) keeps the probes apart.
//!
//! # When to share
//!
//! - There are many replicas, and what the proofs and probes cost an upstream that is down or just back is much of what it can take.
//! - A replica has too few calls to tell by itself; others have more.
//! - Operators force an upstream open, and all replicas are to follow, those started later too.
//!
//! The package `cutout-fleet` does that over Redis or Valkey. Each decision stays in the process: news travels beside the calls, and a
//! [`Breaker`](crate::Breaker) is told by two methods that anything else may call as well: [`take_over`](crate::Breaker::take_over) opens it
//! by what others have found, and [`set_wait`](crate::Breaker::set_wait) has it wait while another one probes, or probe at once when another's probe has passed. Both are
//! automatic transitions of the cause [`Peers`](crate::Cause::Peers), and what follows is up to the breaker as always.
//!
//! # When not to
//!
//! Do not keep the breaker's *state* in a shared store and ask it on each call. It is then a call before each call: it takes as long as the store does, fails when it does,
//! and a store that hangs is an outage of everything that is guarded. Nor let one replica's verdict hold for all: it may be the replica that is ill.
//!
//! ```
//! use std::time::Duration;
//! use cutout::{Breaker, Counts, State};
//!
//! let breaker = Breaker::builder().name("search").build()?;
//! // Two of three have found it dead, says whoever has asked them; their windows held twelve failures.
//! let found = Counts { samples: 20, failures: 12, timeouts: 0, slow: 0 };
//! assert!(breaker.take_over(found, None));
//! // One of them probes: until it is done, or has had its time.
//! breaker.set_wait(Duration::from_secs(5));
//! assert_eq!(breaker.state(), State::Open);
//! // It has passed.
//! breaker.set_wait(Duration::ZERO);
//! breaker.allow()?.success();
//! assert_eq!(breaker.state(), State::Closed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
