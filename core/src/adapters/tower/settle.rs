//! What becomes of a permit when its call has a result.

use crate::breaker::gate::AnyPermit;
use crate::wrap::classify::Classify;

/// Settles a call's permit by its result, or sees to it that it is settled later.
///
/// [`AtResult`] settles at once, by a [`Classify`]; `ThroughBody` hands the permit on.
pub trait Settle<T, E, P> {
    /// What the service answers with.
    type Response;

    /// Settles the permit of a call that came to `result`.
    ///
    /// # Errors
    ///
    /// The error of `result`.
    fn settle(&self, result: Result<T, E>, permit: P) -> Result<Self::Response, E>;

    /// Settles the permit of a call that came to nothing but an error, and gives that back.
    fn settle_error(&self, error: E, permit: P) -> E;
}

/// Settles as soon as there is a result, by a [`Classify`].
#[derive(Clone, Copy, Debug, Default)]
pub struct AtResult<K>(pub(super) K);

impl<K, T, E, P> Settle<T, E, P> for AtResult<K>
where
    K: Classify<T, E>,
    P: AnyPermit,
{
    type Response = T;

    // As the poll that it is part of.
    #[inline(always)]
    fn settle(&self, result: Result<T, E>, permit: P) -> Result<T, E> {
        permit.done(self.0.classify(result.as_ref()));
        result
    }

    fn settle_error(&self, error: E, permit: P) -> E {
        permit.done(self.0.classify(Err(&error)));
        error
    }
}
