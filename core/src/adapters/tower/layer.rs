//! The layer.

use alloc::sync::Arc;
use core::fmt;

use tower_layer::Layer;

use crate::adapters::tower::{AtResult, BreakerService};
use crate::breaker::Breaker;
use crate::breaker::gate::Gate;
use crate::wrap::classify::ByResult;

/// Puts a breaker before services.
///
/// All services it makes, and those of its clones, share the breaker.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use cutout::adapters::tower::BreakerLayer;
/// use cutout::{Breaker, Outcome};
///
/// #[derive(Debug)]
/// struct Refused { by_upstream: bool }
///
/// let breaker = Arc::new(Breaker::builder().name("search").build()?);
/// let layer = BreakerLayer::new(breaker.clone()).classify(
///     |result: Result<&String, &Refused>| match result {
///         Ok(_) => Outcome::Success,
///         Err(refused) if refused.by_upstream => Outcome::Failure,
///         Err(_) => Outcome::Ignored,
///     },
/// );
/// # let _ = layer;
/// # Ok::<(), cutout::ConfigError>(())
/// ```
pub struct BreakerLayer<K = AtResult<ByResult>, R = Arc<Breaker>> {
    breaker: R,
    settle: K,
}

impl<R: Gate> BreakerLayer<AtResult<ByResult>, R> {
    /// A layer in which `Ok` is a success and `Err` a failure. The breaker is shared in an
    /// `Arc` or borrowed: see [`Gate`].
    pub const fn new(breaker: R) -> Self {
        Self::of(breaker)
    }
}

impl<R> BreakerLayer<AtResult<ByResult>, R> {
    pub(super) const fn of(breaker: R) -> Self {
        Self {
            breaker,
            settle: AtResult(ByResult),
        }
    }
}

impl<K, R> BreakerLayer<AtResult<K>, R> {
    /// Lets a [`Classify`](crate::wrap::classify::Classify) say what results mean: a closure,
    /// `HttpStatus`, `GrpcStatus`, or one of your own. Each call gets a clone of it.
    pub fn classify<L>(self, classifier: L) -> BreakerLayer<AtResult<L>, R> {
        BreakerLayer {
            breaker: self.breaker,
            settle: AtResult(classifier),
        }
    }

    /// Hands the permit of a call whose answer counts as a success on to the answer's body, which
    /// settles it when it ends: so a body that breaks after good headers is a failure. `judge`
    /// says what frames and errors mean; [`ByResult`] counts an error as a failure.
    ///
    /// An answer that counts as anything else settles at its headers, and so does one whose body
    /// is empty. The service's response becomes `Response<GuardedBody<B>>`.
    #[cfg(feature = "body")]
    pub fn through_body<J>(
        self,
        judge: J,
    ) -> BreakerLayer<crate::adapters::tower::ThroughBody<K, J>, R> {
        BreakerLayer {
            breaker: self.breaker,
            settle: crate::adapters::tower::ThroughBody::new(self.settle.0, judge),
        }
    }
}

impl<K, R> BreakerLayer<K, R> {
    /// The breaker.
    pub const fn breaker(&self) -> &R {
        &self.breaker
    }
}

impl<S, K: Clone, R: Clone> Layer<S> for BreakerLayer<K, R> {
    type Service = BreakerService<S, K, R>;

    fn layer(&self, inner: S) -> Self::Service {
        BreakerService::new(inner, self.breaker.clone(), self.settle.clone())
    }
}

impl<K: Clone, R: Clone> Clone for BreakerLayer<K, R> {
    fn clone(&self) -> Self {
        Self {
            breaker: self.breaker.clone(),
            settle: self.settle.clone(),
        }
    }
}

impl<K, R: fmt::Debug> fmt::Debug for BreakerLayer<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerLayer")
            .field("breaker", &self.breaker)
            .finish_non_exhaustive()
    }
}
