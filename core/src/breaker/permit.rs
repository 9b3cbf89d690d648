//! The right to make one call, which settles exactly once.

use alloc::sync::Arc;
use core::fmt;
use core::mem;
use core::time::Duration;

use crate::breaker::Breaker;
use crate::breaker::token::{Dropped, Token};
use crate::contract::clock::{Clock, SystemClock};
use crate::contract::outcome::{Outcome, Report, Settled};

/// What grants permits, as they hold it: borrowed or shared.
pub(crate) trait Holder {
    /// What a permit knows of its call.
    type Token: Copy;

    fn settle(&self, token: Self::Token, report: &Report) -> Settled;

    /// Not inlined, for futures: one that settles its permit in place would be too large to be
    /// inlined itself.
    #[inline(never)]
    fn settle_apart(&self, token: Self::Token, report: &Report) -> Settled {
        self.settle(token, report)
    }

    fn abandon(&self, token: Self::Token, dropped: Dropped);

    fn drop_permit(&self, token: Self::Token);

    fn withdraw(&self, token: Self::Token);

    fn now(&self) -> u64;
}

impl<C: Clock> Holder for &Breaker<C> {
    type Token = Token;

    #[inline(always)]
    fn settle(&self, token: Token, report: &Report) -> Settled {
        Breaker::settle(self, token, report)
    }

    fn abandon(&self, token: Token, dropped: Dropped) {
        Breaker::abandon(self, token, dropped);
    }

    fn drop_permit(&self, token: Token) {
        Breaker::drop_permit(self, token);
    }

    fn withdraw(&self, token: Token) {
        Breaker::withdraw(self, token);
    }

    fn now(&self) -> u64 {
        Breaker::now(self)
    }
}

impl<C: Clock> Holder for Arc<Breaker<C>> {
    type Token = Token;

    #[inline(always)]
    fn settle(&self, token: Token, report: &Report) -> Settled {
        Breaker::settle(self, token, report)
    }

    fn abandon(&self, token: Token, dropped: Dropped) {
        Breaker::abandon(self, token, dropped);
    }

    fn drop_permit(&self, token: Token) {
        Breaker::drop_permit(self, token);
    }

    fn withdraw(&self, token: Token) {
        Breaker::withdraw(self, token);
    }

    fn now(&self) -> u64 {
        Breaker::now(self)
    }
}

/// A token and what it is to be settled with, until it is.
pub(crate) struct Unsettled<H: Holder> {
    holder: Option<H>,
    token: H::Token,
}

impl<H: Holder> Unsettled<H> {
    #[inline]
    pub(crate) const fn new(holder: H, token: H::Token) -> Self {
        Self {
            holder: Some(holder),
            token,
        }
    }

    // Always, and so all on the way to the breaker: where one of them is not inlined, the
    // permit and the report are put together in memory first, which doubles a healthy call's
    // instructions.
    #[inline(always)]
    pub(crate) fn settle(self, report: &Report) -> Settled {
        let (holder, token) = self.take();
        holder.settle(token, report)
    }

    #[inline]
    pub(crate) fn settle_apart(self, report: &Report) -> Settled {
        let (holder, token) = self.take();
        holder.settle_apart(token, report)
    }

    /// Takes it apart, without the drop of what is left, which is nothing.
    #[inline(always)]
    fn take(mut self) -> (H, H::Token) {
        let holder = self.holder.take();
        let token = self.token;
        mem::forget(self);
        match holder {
            Some(holder) => (holder, token),
            None => unreachable!("only settling takes the holder, and it takes the permit too"),
        }
    }

    /// The time by the holder's clock.
    pub(crate) fn now(&self) -> Duration {
        let now = self.holder.as_ref().map(Holder::now);
        Duration::from_nanos(now.unwrap_or_default())
    }

    pub(crate) fn abandon(mut self) {
        if let Some(holder) = self.holder.take() {
            holder.abandon(self.token, Dropped::Abandoned);
        }
    }

    pub(crate) fn withdraw(self) {
        let (holder, token) = self.take();
        holder.withdraw(token);
    }
}

impl<H: Holder> Drop for Unsettled<H> {
    #[inline]
    fn drop(&mut self) {
        if let Some(holder) = self.holder.take() {
            holder.drop_permit(self.token);
        }
    }
}

/// The right to make one call.
///
/// Settle it with the call's outcome. Dropping it settles it as *abandoned*:
/// ignored by default, a failure when the thread is panicking; both are set in
/// [`Config`](crate::Config). A permit cannot know whose panic it is. A future that holds one while it waits
/// is dropped by the panics of others too, say of another branch of a `join!`: there use
/// [`Breaker::call_async`], which counts only a panic of the call, or [`abandon`](Self::abandon). A permit that is leaked (`mem::forget`) costs nothing
/// when it is a normal one; a probe's slot is reclaimed after its lease.
///
/// A permit settles exactly once. Settling consumes it, so a second time does
/// not compile:
///
/// ```compile_fail,E0382
/// let breaker = cutout::Breaker::new(cutout::Config::default()).unwrap();
/// let permit = breaker.allow().unwrap();
/// permit.success();
/// permit.failure();
/// ```
#[must_use = "a permit that is dropped at once settles as abandoned"]
pub struct Permit<'a, C: Clock = SystemClock>(Unsettled<&'a Breaker<C>>);

/// A [`Permit`] that owns its share of the breaker.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use cutout::{Breaker, Config, Settled};
///
/// let breaker = Arc::new(Breaker::new(Config::default())?);
/// let permit = breaker.allow_owned().unwrap();
/// let call = std::thread::spawn(move || permit.success());
/// assert_eq!(call.join().unwrap(), Settled::Recorded);
/// # Ok::<(), cutout::ConfigError>(())
/// ```
#[must_use = "a permit that is dropped at once settles as abandoned"]
pub struct OwnedPermit<C: Clock = SystemClock>(Unsettled<Arc<Breaker<C>>>);

/// Permits differ only in what they hold, and how.
macro_rules! permit {
    ($permit:ident<$($lifetime:lifetime,)? C>, $holder:ty, $token:ty) => {
        impl<$($lifetime,)? C: Clock> $permit<$($lifetime,)? C> {
            #[inline]
            pub(crate) fn new(holder: $holder, token: $token) -> Self {
                Self(Unsettled::new(holder, token))
            }

            /// Settles the permit with the call's outcome, or with a [`Report`]
            /// that says more.
            ///
            /// Lock-free; at most one clock read. Without allocation, but for the first label that the
            /// breaker keeps (see [`Report::label`]), which makes room for all that follow. With a breaker, in the
            /// healthy case (a success, a full window of fast successes, no slow
            /// rule), it reads one word and writes nothing.
            #[inline(always)]
            pub fn done(self, report: impl Into<Report>) -> Settled {
                self.0.settle(&report.into())
            }

            /// Settles the permit with an outcome and the duration that the caller
            /// measured.
            #[inline]
            pub fn done_after(self, outcome: Outcome, elapsed: Duration) -> Settled {
                self.done(Report::from(outcome).elapsed(elapsed))
            }

            /// Settles the permit as [`Outcome::Success`].
            #[inline(always)]
            pub fn success(self) -> Settled {
                self.done(Outcome::Success)
            }

            /// Settles the permit as [`Outcome::Answered`].
            #[inline]
            pub fn answered(self) -> Settled {
                self.done(Outcome::Answered)
            }

            /// Settles the permit as [`Outcome::Failure`].
            #[inline]
            pub fn failure(self) -> Settled {
                self.done(Outcome::Failure)
            }

            /// Settles the permit as [`Outcome::Timeout`].
            #[inline]
            pub fn timeout(self) -> Settled {
                self.done(Outcome::Timeout)
            }

            /// Settles the permit as [`Outcome::Ignored`].
            #[inline]
            pub fn ignore(self) -> Settled {
                self.done(Outcome::Ignored)
            }

            /// Settles the permit as abandoned, as the config says: what dropping it does, also where
            /// a thread is panicking.
            ///
            /// For a future of one's own that is dropped: whatever panic drops it, it
            /// is not the call's.
            pub fn abandon(self) {
                self.0.abandon();
            }
        }

        impl<$($lifetime,)? C: Clock> $crate::breaker::gate::AnyPermit for $permit<$($lifetime,)? C> {
            #[inline]
            fn done(self, report: Report) -> Settled {
                self.0.settle_apart(&report)
            }

            fn abandon(self) {
                self.0.abandon();
            }

            fn withdraw(self) {
                self.0.withdraw();
            }

            fn now(&self) -> Duration {
                self.0.now()
            }
        }
    };
}

pub(crate) use permit;

permit!(Permit<'a, C>, &'a Breaker<C>, Token);
permit!(OwnedPermit<C>, Arc<Breaker<C>>, Token);

/// What a breaker's permits say of themselves.
macro_rules! of_breaker {
    ($permit:ident<$($lifetime:lifetime,)? C>) => {
        impl<$($lifetime,)? C: Clock> $permit<$($lifetime,)? C> {
            /// The generation that granted the permit.
            pub fn generation(&self) -> u32 {
                self.0.token.stamp().generation()
            }

            /// Whether the permit is a probe: its outcome decides a half-open breaker.
            pub fn is_probe(&self) -> bool {
                self.0.token.stamp().is_probe()
            }
        }

        impl<$($lifetime,)? C: Clock> fmt::Debug for $permit<$($lifetime,)? C> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($permit))
                    .field("generation", &self.generation())
                    .field("is_probe", &self.is_probe())
                    .finish_non_exhaustive()
            }
        }
    };
}

of_breaker!(Permit<'a, C>);
of_breaker!(OwnedPermit<C>);
