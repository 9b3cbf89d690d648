//! What a subject offers to the loops that call it.

/// Something that can be called as a breaker is.
pub trait Subject: Send + Sync + 'static {
    /// Failures that trip it from a fresh closed state, and successes that
    /// then close it, in [`Load::Flapping`](crate::workload::Load::Flapping).
    const CYCLE: (u32, u32) = (10, 1);

    /// What makes calls from one thread.
    type Caller<'a>: Caller
    where
        Self: 'a;

    /// A way to make calls from one thread.
    fn caller(&self) -> Self::Caller<'_>;

    /// The state it is in, by its own word where it has one.
    fn state(&self) -> Seen;

    /// Lets the open wait pass. The default is for real clocks: the wait is a
    /// nanosecond then, gone before the next call.
    fn pass_time(&self) {}

    /// Takes the one probe of a half-open period and keeps it unsettled.
    fn hold_probe(&self) {}
}

/// Calls a subject from one thread.
pub trait Caller {
    /// Asks for admission, and where it is granted reports a failure or a success. Says
    /// whether it was granted.
    ///
    /// Implementations are `inline(always)`: a loop around a call that was inlined into one
    /// subject's loop and not into another's would compare compilers' moods.
    fn call(&mut self, fails: bool) -> bool;
}

/// A subject that all threads call through one reference: no thread has anything of its own.
pub trait Shared: Send + Sync + 'static {
    /// As [`Subject::CYCLE`].
    const CYCLE: (u32, u32) = (10, 1);

    /// As [`Caller::call`], `inline(always)` too.
    fn call(&self, fails: bool) -> bool;

    /// As [`Subject::state`].
    fn state(&self) -> Seen;

    /// As [`Subject::pass_time`].
    fn pass_time(&self) {}

    /// As [`Subject::hold_probe`].
    fn hold_probe(&self) {}
}

impl<S: Shared> Subject for S {
    const CYCLE: (u32, u32) = <S as Shared>::CYCLE;

    type Caller<'a> = &'a S;

    fn caller(&self) -> &S {
        self
    }

    fn state(&self) -> Seen {
        Shared::state(self)
    }

    fn pass_time(&self) {
        Shared::pass_time(self);
    }

    fn hold_probe(&self) {
        Shared::hold_probe(self);
    }
}

impl<S: Shared> Caller for &S {
    #[inline(always)]
    fn call(&mut self, fails: bool) -> bool {
        Shared::call(*self, fails)
    }
}

/// The state of a subject as seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Closed, it says.
    Closed,
    /// Open, or it rejects and does not say why.
    Open,
    /// Half-open, it says.
    HalfOpen,
    /// It admits calls and has no way to say in what state.
    Admits,
}
