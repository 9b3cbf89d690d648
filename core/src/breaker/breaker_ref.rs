//! Breakers however they are held, for those who wrap calls.

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::breaker::Breaker;
use crate::breaker::gate::Gate;
use crate::breaker::permit::{OwnedPermit, Permit};
use crate::breaker::rejected::{Rejected, TimeLeft};
use crate::contract::clock::Clock;

/// A breaker that is shared in an `Arc` or borrowed, say from a `static`: a [`Gate`] that is one breaker.
///
/// An `Arc` counts its references: one more for each permit, and one less when that is settled. These are two writes to one
/// counter for each call, which threads that share the breaker take from each other: two of them make no more
/// calls than one. Borrowing writes nothing. So where many threads call through one breaker, let it live as long as the
/// process, in a `static` or by [`Breaker::leak`], and borrow it: a `Permit<'static>` goes wherever an `OwnedPermit` does.
pub trait BreakerRef: Gate {
    /// The breaker's clock.
    type Clock: Clock;

    /// The breaker.
    fn breaker(&self) -> &Breaker<Self::Clock>;
}

/// For both ways to hold one.
macro_rules! breaker_ref {
    ($holder:ty, $permit:ty, $allow:ident $(, $lifetime:lifetime)?) => {
        impl<$($lifetime,)? C: Clock> BreakerRef for $holder {
            type Clock = C;

            #[inline]
            fn breaker(&self) -> &Breaker<C> {
                self
            }
        }

        impl<$($lifetime,)? C: Clock> Gate for $holder {
            type Permit = $permit;

            #[inline]
            fn admit(&self) -> Result<Self::Permit, Rejected> {
                self.$allow()
            }

            #[inline]
            fn refusal(&self) -> Option<Rejected> {
                Breaker::refusal(self)
            }

            #[cold]
            fn reject(&self, refused: Rejected) -> Rejected {
                self.reject_refused(refused)
            }
        }
    };
}

breaker_ref!(Arc<Breaker<C>>, OwnedPermit<C>, allow_owned);
breaker_ref!(&'a Breaker<C>, Permit<'a, C>, allow, 'a);

impl<C: 'static> Breaker<C> {
    /// Lets the breaker live as long as the process, so that permits, layers and tasks can borrow it: what an
    /// `Arc` is for, without the count of references that each owned permit writes to.
    ///
    /// Its memory is never freed. For breakers that come and go, an `Arc` is right.
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::{Breaker, Permit, Settled};
    ///
    /// let breaker: &'static Breaker = Breaker::builder().name("search").build()?.leak();
    /// let permit: Permit<'static> = breaker.allow().unwrap();
    /// let call = std::thread::spawn(move || permit.success());
    /// assert_eq!(call.join().unwrap(), Settled::Recorded);
    /// # Ok::<(), cutout::ConfigError>(())
    /// ```
    #[must_use = "a breaker that nobody borrows is lost"]
    pub fn leak(self) -> &'static Self {
        Box::leak(Box::new(self))
    }
}

impl<C: Clock> Breaker<C> {
    fn reject_refused(&self, refused: Rejected) -> Rejected {
        let now = self.refusal().unwrap_or(Rejected {
            left: TimeLeft::nanos(0),
            ..refused
        });
        self.reject(now.word, now.left)
    }
}
