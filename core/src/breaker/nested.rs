//! A rejection by another breaker, found in the error of a call.
//!
//! A call may go through a second breaker on its way: `outer.call(|| inner.call(…))`. What the inner
//! one rejects was never asked of the outer one's upstream, so it says nothing about that.
//!
//! The error of such a call is a `CallError<E>` of any `E`, and no type can be asked for "some
//! `CallError`". So whoever wraps a rejection in an error leaves behind how to look into that
//! type (once in a process for each type, in memory that stays: a type has no static of its own), and whoever judges an error
//! looks by those that were left. The look is at the value
//! itself: one that was left long ago finds nothing in an error that is none.

use alloc::boxed::Box;
use core::any::Any;
use core::error::Error;

use crate::breaker::rejected::{CallError, Rejected};
use crate::breaker::told::source_of;
use crate::contract::outcome::Outcome;

/// An error that may hold a rejection.
pub(crate) trait MayReject: Any {
    fn is_rejection(&self) -> bool;
}

impl<E: Any> MayReject for CallError<E> {
    fn is_rejection(&self) -> bool {
        match self {
            Self::Rejected(_) => true,
            Self::Inner(error) => is_rejection(error),
        }
    }
}

impl<E: 'static> From<Rejected> for CallError<E> {
    fn from(rejected: Rejected) -> Self {
        remember::<Self>();
        Self::Rejected(rejected)
    }
}

/// What an error says of the upstream by itself: nothing, if another breaker rejected the
/// call, or else that it failed.
pub(crate) fn of_error<E: Any>(error: &E) -> Outcome {
    of_error_in::<CallError<E>, E>(error)
}

/// As [`of_error`], for who will give it to its caller in a `W`.
pub(crate) fn of_error_in<W: MayReject, E: Any>(error: &E) -> Outcome {
    if is_rejection(error) {
        remember::<W>();
        Outcome::Ignored
    } else {
        Outcome::Failure
    }
}

#[inline(never)]
pub(crate) fn is_rejection<E: Any>(error: &E) -> bool {
    let error: &dyn Any = error;
    if error.is::<Rejected>() {
        return true;
    }
    if let Some(boxed) = error.downcast_ref::<Box<dyn Error + Send + Sync>>() {
        return has_rejection(&**boxed);
    }
    if let Some(boxed) = error.downcast_ref::<Box<dyn Error>>() {
        return has_rejection(&**boxed);
    }
    seen::any(error)
}

/// Whether an error or one of its sources is a rejection.
fn has_rejection(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<Rejected>() {
            return true;
        }
        let (is_rejection, source) = source_of(error);
        if is_rejection {
            return true;
        }
        next = source;
    }
    false
}

/// Leaves to all who judge how to look for a rejection in a `T`.
// Cold: a poll that has this in it is too large to be inlined itself.
#[cold]
#[inline(never)]
pub(crate) fn remember<T: MayReject>() {
    seen::add(seen::Look::of::<T>());
}

mod seen {
    use alloc::boxed::Box;
    use core::any::{Any, TypeId};

    use once_cell::race::OnceBox;

    use super::MayReject;

    /// How to look into errors of a type.
    #[derive(Clone, Copy)]
    pub(super) struct Look {
        at: TypeId,
        is_rejection: fn(&dyn Any) -> bool,
    }

    impl Look {
        pub(super) fn of<T: MayReject>() -> Self {
            Self {
                at: TypeId::of::<T>(),
                is_rejection: |error| error.downcast_ref::<T>().is_some_and(T::is_rejection),
            }
        }
    }

    struct Link {
        look: Look,
        next: OnceBox<Link>,
    }

    /// All that were left in this process: who judges may be on another thread. A link for each type
    /// of error that has held a rejection, so it is short, and it only grows.
    static FIRST: OnceBox<Link> = OnceBox::new();

    pub(super) fn add(look: Look) {
        let mut link = &FIRST;
        loop {
            let new = || {
                Box::new(Link {
                    look,
                    next: OnceBox::new(),
                })
            };
            let found = link.get_or_init(new);
            if found.look.at == look.at {
                return;
            }
            link = &found.next;
        }
    }

    pub(super) fn any(error: &dyn Any) -> bool {
        let mut next = FIRST.get();
        while let Some(link) = next {
            if link.look.at == error.type_id() {
                return (link.look.is_rejection)(error);
            }
            next = link.next.get();
        }
        false
    }
}
