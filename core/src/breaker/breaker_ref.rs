//! Breakers however they are held, for those who wrap calls.

use alloc::sync::Arc;

use crate::breaker::Breaker;
use crate::breaker::gate::Gate;
use crate::breaker::permit::{OwnedPermit, Permit};
use crate::breaker::rejected::{Rejected, TimeLeft};
use crate::contract::clock::Clock;

/// A breaker that is shared in an `Arc` or borrowed, say from a `static`: a [`Gate`] that is one breaker.
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

impl<C: Clock> Breaker<C> {
    fn reject_refused(&self, refused: Rejected) -> Rejected {
        let now = self.refusal().unwrap_or(Rejected {
            left: TimeLeft::nanos(0),
            ..refused
        });
        self.reject(now.word, now.left)
    }
}
