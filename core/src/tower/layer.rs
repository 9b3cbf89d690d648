//! The layer.

use alloc::sync::Arc;
use core::fmt;

use tower_layer::Layer;

use crate::breaker::Breaker;
use crate::classify::ByResult;
use crate::clock::{Clock, SystemClock};
use crate::tower::{AtResult, BreakerService};

/// Puts a breaker before services.
///
/// All services it makes, and those of its clones, share the breaker.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use cutout::tower::BreakerLayer;
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
pub struct BreakerLayer<K = AtResult<ByResult>, C: Clock = SystemClock> {
    breaker: Arc<Breaker<C>>,
    settle: K,
}

impl<C: Clock> BreakerLayer<AtResult<ByResult>, C> {
    /// A layer in which `Ok` is a success and `Err` a failure.
    pub fn new(breaker: impl Into<Arc<Breaker<C>>>) -> Self {
        Self {
            breaker: breaker.into(),
            settle: AtResult(ByResult),
        }
    }
}

impl<K, C: Clock> BreakerLayer<AtResult<K>, C> {
    /// Lets a [`Classify`](crate::classify::Classify) say what results mean: a closure,
    /// `HttpStatus`, `GrpcStatus`, or one of your own. Each call gets a clone of it.
    pub fn classify<L>(self, classifier: L) -> BreakerLayer<AtResult<L>, C> {
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
    pub fn through_body<J>(self, judge: J) -> BreakerLayer<crate::tower::ThroughBody<K, J>, C> {
        BreakerLayer {
            breaker: self.breaker,
            settle: crate::tower::ThroughBody::new(self.settle.0, judge),
        }
    }
}

impl<K, C: Clock> BreakerLayer<K, C> {
    /// The breaker.
    pub const fn breaker(&self) -> &Arc<Breaker<C>> {
        &self.breaker
    }
}

impl<S, K: Clone, C: Clock> Layer<S> for BreakerLayer<K, C> {
    type Service = BreakerService<S, K, C>;

    fn layer(&self, inner: S) -> Self::Service {
        BreakerService::new(inner, Arc::clone(&self.breaker), self.settle.clone())
    }
}

impl<K: Clone, C: Clock> Clone for BreakerLayer<K, C> {
    fn clone(&self) -> Self {
        Self {
            breaker: Arc::clone(&self.breaker),
            settle: self.settle.clone(),
        }
    }
}

impl<K, C: Clock> fmt::Debug for BreakerLayer<K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerLayer")
            .field("breaker", &self.breaker)
            .finish_non_exhaustive()
    }
}
