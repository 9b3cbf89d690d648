//! What a call's result, or what arrives bit by bit, says about the upstream.
//!
//! Whether an error is worth another try and whether it says that the upstream is ill are two
//! questions; here it is the second. The wrappers of the features `tower`, `stream` and `body`
//! ask a [`Classify`] about a result and a [`Judge`] about a stream. Closures are both, and
//! [`ByResult`] is the plain case. The feature `http` adds `HttpStatus` and `GrpcStatus`.

use core::fmt;

use crate::contract::outcome::{Outcome, Report};

pub(crate) use crate::breaker::nested::of_error;

/// Says what a call's result means.
///
/// # Examples
///
/// ```
/// use std::io::{Error, ErrorKind};
/// use cutout::classify::Classify;
/// use cutout::Outcome;
///
/// fn of_files<T>(result: Result<&T, &Error>) -> Outcome {
///     match result {
///         Ok(_) => Outcome::Success,
///         Err(error) if error.kind() == ErrorKind::NotFound => Outcome::Answered,
///         Err(error) if error.kind() == ErrorKind::TimedOut => Outcome::Timeout,
///         Err(_) => Outcome::Failure,
///     }
/// }
///
/// let missing = Error::from(ErrorKind::NotFound);
/// assert_eq!(of_files::<()>.classify(Err(&missing)).outcome, Outcome::Answered);
/// ```
pub trait Classify<T, E> {
    /// What this result means.
    fn classify(&self, result: Result<&T, &E>) -> Report;
}

impl<F, R, T, E> Classify<T, E> for F
where
    F: Fn(Result<&T, &E>) -> R,
    R: Into<Report>,
{
    #[inline]
    fn classify(&self, result: Result<&T, &E>) -> Report {
        self(result).into()
    }
}

/// Judges what arrives bit by bit: the items of a stream, the frames of a body.
///
/// The first verdict settles the permit; nothing is asked after it. A closure is a judge for
/// whom a clean end is a success.
///
/// # Examples
///
/// A stream of events that is only whole when the last one says so:
///
/// ```
/// use cutout::classify::Judge;
/// use cutout::{Outcome, Report};
///
/// struct UntilDone;
///
/// impl Judge<String> for UntilDone {
///     fn item(&mut self, event: &String) -> Option<Report> {
///         match event.as_str() {
///             "[DONE]" => Some(Outcome::Success.into()),
///             event if event.starts_with("error:") => Some(Outcome::Failure.into()),
///             _ => None,
///         }
///     }
///
///     fn end(&mut self) -> Report {
///         Outcome::Failure.into() // without "[DONE]"
///     }
/// }
/// ```
pub trait Judge<Item> {
    /// The verdict, if this item brings one.
    fn item(&mut self, item: &Item) -> Option<Report>;

    /// The verdict on a clean end; a success unless it is told otherwise.
    fn end(&mut self) -> Report {
        Outcome::Success.into()
    }
}

impl<F, R, Item> Judge<Item> for F
where
    F: FnMut(&Item) -> Option<R>,
    R: Into<Report>,
{
    #[inline]
    fn item(&mut self, item: &Item) -> Option<Report> {
        self(item).map(Into::into)
    }
}

/// `Ok` is a success, `Err` a failure, unless it is the rejection of another breaker, which says
/// nothing of this one's upstream and is ignored.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByResult;

impl<T, E: 'static> Classify<T, E> for ByResult {
    #[inline]
    fn classify(&self, result: Result<&T, &E>) -> Report {
        match result {
            Ok(_) => Outcome::Success.into(),
            Err(error) => of_error(error).into(),
        }
    }
}

impl<T, E: 'static> Judge<Result<T, E>> for ByResult {
    #[inline]
    fn item(&mut self, item: &Result<T, E>) -> Option<Report> {
        item.as_ref().err().map(|error| of_error(error).into())
    }
}

/// Answers by one classifier, errors by a function of their own: which of them are timeouts is
/// known by their type.
///
/// # Examples
///
/// ```
/// use std::io::{Error, ErrorKind};
/// use cutout::classify::{ByResult, Classify, ErrorsBy};
/// use cutout::Outcome;
///
/// let classifier = ErrorsBy::new(ByResult, |error: &Error| match error.kind() {
///     ErrorKind::TimedOut => Outcome::Timeout,
///     _ => Outcome::Failure,
/// });
/// let late = Error::from(ErrorKind::TimedOut);
/// assert_eq!(classifier.classify(Err::<&(), _>(&late)).outcome, Outcome::Timeout);
/// ```
#[derive(Clone, Copy)]
pub struct ErrorsBy<K, F> {
    answers: K,
    errors: F,
}

impl<K, F> ErrorsBy<K, F> {
    /// Classifies answers by `answers` and errors by `errors`.
    pub const fn new(answers: K, errors: F) -> Self {
        Self { answers, errors }
    }
}

impl<K, F, R, T, E> Classify<T, E> for ErrorsBy<K, F>
where
    K: Classify<T, E>,
    F: Fn(&E) -> R,
    R: Into<Report>,
{
    #[inline]
    fn classify(&self, result: Result<&T, &E>) -> Report {
        match result {
            Ok(_) => self.answers.classify(result),
            Err(error) => (self.errors)(error).into(),
        }
    }
}

impl<K: fmt::Debug, F> fmt::Debug for ErrorsBy<K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorsBy")
            .field("answers", &self.answers)
            .finish_non_exhaustive()
    }
}

/// What a judge says of what a poll has brought: an item, or the end. `is_last` tells whether the item was the last: a
/// consumer that sees that need not ask for the end, and seldom does.
#[cfg(any(feature = "stream", feature = "body"))]
#[inline]
pub(crate) fn judge_next<I>(
    judge: &mut impl Judge<I>,
    next: Option<&I>,
    is_last: impl FnOnce() -> bool,
) -> Option<Report> {
    let verdict = match next {
        Some(item) => judge.item(item),
        None => Some(judge.end()),
    };
    verdict.or_else(|| is_last().then(|| judge.end()))
}
