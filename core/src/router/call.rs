//! Calls that go from target to target until one will do.

use core::error::Error;
use core::fmt;
use core::future::Future;

use super::Router;
use super::attempts::Attempts;
use super::choice::InFlight;
use super::error::NoTarget;
use crate::breaker::gate::AnyPermit;
use crate::breaker::guard::Guard;
use crate::breaker::nested::{MayReject, is_rejection, of_error_in, remember};
use crate::contract::clock::Clock;
use crate::contract::outcome::{Outcome, Report};

/// What a result means: for the target's breaker, and for the request.
///
/// # Examples
///
/// ```
/// use cutout::Outcome;
/// use cutout::router::Step;
///
/// fn judge(result: &Result<u16, std::io::Error>) -> Step {
///     match result {
///         Ok(429 | 500..) => Step::next(Outcome::Failure),
///         // The request is at fault: no other target would say otherwise.
///         Ok(400..) => Step::stop(Outcome::Answered),
///         Ok(_) => Step::stop(Outcome::Success),
///         Err(_) => Step::next(Outcome::Failure),
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What the breaker is told.
    pub report: Report,
    /// Whether the request moves on to the next target.
    pub moves_on: bool,
}

impl Step {
    /// The request ends with this result.
    pub fn stop(report: impl Into<Report>) -> Self {
        Self {
            report: report.into(),
            moves_on: false,
        }
    }

    /// The request moves on to the next target, if there is one that admits it.
    pub fn next(report: impl Into<Report>) -> Self {
        Self {
            report: report.into(),
            moves_on: true,
        }
    }

    /// `Ok` is a success and ends the request; `Err` is a failure and moves it on.
    pub fn of<V, E: 'static>(result: &Result<V, E>) -> Self {
        match result {
            Ok(_) => Self::stop(Outcome::Success),
            Err(error) => Self::next(of_error_in::<RouteError<E>, E>(error)),
        }
    }
}

/// The error of a call made through a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteError<E> {
    /// No call was made.
    NoTarget(NoTarget),
    /// The error of the last call that was made.
    Inner(E),
}

impl<E: fmt::Display> fmt::Display for RouteError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTarget(none) => none.fmt(f),
            Self::Inner(error) => error.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for RouteError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NoTarget(none) => none.source(),
            Self::Inner(error) => error.source(),
        }
    }
}

impl<E: 'static> MayReject for RouteError<E> {
    fn is_rejection(&self) -> bool {
        match self {
            Self::NoTarget(_) => true,
            Self::Inner(error) => is_rejection(error),
        }
    }
}

impl<E: 'static> From<NoTarget> for RouteError<E> {
    fn from(none: NoTarget) -> Self {
        remember::<Self>();
        Self::NoTarget(none)
    }
}

impl<T, C: Clock> Router<T, C> {
    /// Makes a call to one target after the other until `judge` stops or no target is
    /// left; the result is that of the last call.
    ///
    /// Each call is settled with its step before the next target is chosen. What the
    /// request has tried is in `attempts` afterwards.
    ///
    /// # Errors
    ///
    /// [`RouteError::NoTarget`] if no call was made; [`RouteError::Inner`] with the error of
    /// the last call.
    ///
    /// # Panics
    ///
    /// Passes on a panic of `call` or `judge`, which counts as
    /// [`Config::panicked`](crate::Config::panicked) says.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use cutout::Breaker;
    /// use cutout::router::{Attempts, Router, RouterConfig, Target, Step};
    ///
    /// let breaker = || Breaker::builder().build().map(Arc::new);
    /// let router = Router::new(RouterConfig::default(), [
    ///     Target::new("us", "not a number", breaker()?),
    ///     Target::new("eu", "42", breaker()?),
    /// ])?;
    /// let answer = router.call(&mut Attempts::new(), |host| host.parse::<u32>(), Step::of);
    /// assert_eq!(answer, Ok(42));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call<V, E: 'static>(
        &self,
        attempts: &mut Attempts,
        mut call: impl FnMut(&T) -> Result<V, E>,
        mut judge: impl FnMut(&Result<V, E>) -> Step,
    ) -> Result<V, RouteError<E>> {
        let mut last = None;
        loop {
            let choice = match self.choose(attempts) {
                Ok(choice) => choice,
                Err(none) => return nothing_left(last, none),
            };
            let result = call(choice.payload());
            let step = judge(&result);
            choice.done(step.report);
            if !step.moves_on {
                return result.map_err(RouteError::Inner);
            }
            last = Some(result);
        }
    }

    /// As [`call`](Self::call), with calls that are awaited. Each is given its target, and counts as in
    /// flight until it drops it.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, it settles the call that is under way as abandoned; those
    /// before it have been settled.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    ///
    /// # Panics
    ///
    /// As [`call`](Self::call).
    ///
    /// # Examples
    ///
    /// ```
    /// use cutout::router::{Attempts, InFlight, RouteError, Router, Step};
    ///
    /// async fn fetch(host: &str) -> Result<String, std::io::Error> {
    ///     Ok(format!("page of {host}"))
    /// }
    ///
    /// async fn page(hosts: &Router<String>) -> Result<String, RouteError<std::io::Error>> {
    ///     let fetch = async |target: InFlight<String>| fetch(target.payload()).await;
    ///     hosts.call_async(&mut Attempts::new(), fetch, Step::of).await
    /// }
    /// ```
    pub async fn call_async<V, E: 'static, F: Future<Output = Result<V, E>>>(
        &self,
        attempts: &mut Attempts,
        mut call: impl FnMut(InFlight<T, C>) -> F,
        mut judge: impl FnMut(&Result<V, E>) -> Step,
    ) -> Result<V, RouteError<E>> {
        let mut last = None;
        loop {
            let choice = match self.choose(attempts) {
                Ok(choice) => choice,
                Err(none) => return nothing_left(last, none),
            };
            let (permit, target) = choice.into_parts();
            let mut guard = permit.map_or_else(Guard::default, |permit| Guard::new(permit, ()));
            let result = guard.call(|| call(target)).await;
            let permit = guard.take();
            let step = judge(&result);
            if let Some((permit, ())) = permit {
                AnyPermit::done(permit, step.report);
            }
            if !step.moves_on {
                return result.map_err(RouteError::Inner);
            }
            last = Some(result);
        }
    }
}

fn nothing_left<V, E: 'static>(
    last: Option<Result<V, E>>,
    none: NoTarget,
) -> Result<V, RouteError<E>> {
    match last {
        Some(result) => result.map_err(RouteError::Inner),
        None => Err(none.into()),
    }
}
