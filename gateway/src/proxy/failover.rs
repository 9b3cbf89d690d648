//! From target to target until one gives a good answer, or none is left.
//!
//! One policy for queues of any length: a breaker that rejects is never passed by. What fails moves on at once; the last
//! target that would take the request is asked again if its settings say so. When the queue has nothing left,
//! the client gets what the route allows as a lesser answer, or the failure that tells it most, or, if nothing was
//! called at all, 503; with the soonest time that anyone named.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cutout::router::{Attempts, Router};
use http::StatusCode;

use super::call::Call;
use super::due::Due;
use super::failed::{Failed, Limit};
use super::reading::Answer;
use super::way::Way;
use crate::config::{Fallback, When};
use crate::dialect::{ApiError, Cause, Tried};
use crate::providers::{Fleet, Route, Target, choose};
use crate::requests::Record;

/// A good answer, or one that has begun well, and where it is from.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) from: From,
    /// Which kind of lesser answer it is.
    pub(super) degraded: Option<&'static str>,
    /// The route that stood in, if one did.
    pub(super) fallback: Option<String>,
    /// What was tried before.
    pub(super) tried: Vec<Tried>,
}

#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each request, and seldom the small one"
)]
pub(super) enum From {
    /// A provider.
    Call(Answer, Call),
    /// The answers that were kept.
    Kept(Bytes),
}

/// One request on its way through a route.
#[derive(Debug)]
pub(super) struct Search {
    /// Where other routes are found.
    fleet: Arc<Fleet>,
    route: Arc<Route>,
    /// Whether that is not the one that was asked for.
    is_fallback: bool,
    /// Why the request went no further with it, if another model may think otherwise.
    cause: Option<Cause>,
    way: Way,
    /// The conversation's key, if it has one.
    conversation: Option<u64>,
    record: Record,
    /// When it is over.
    deadline: Due,
    /// What was tried or passed over.
    tried: Vec<Tried>,
    /// The names of the targets that were asked.
    asked: Vec<String>,
    /// The failure that tells the most, and whose it is.
    worst: Option<(Failed, String)>,
    /// The soonest time that a provider asked to wait for.
    named: Option<Duration>,
}

impl Search {
    pub(super) fn new(
        fleet: Arc<Fleet>,
        route: Arc<Route>,
        way: Way,
        conversation: Option<u64>,
        record: Record,
    ) -> Self {
        let deadline = Due::in_time(Limit::Deadline, route.settings.deadline.get());
        Self {
            fleet,
            route,
            is_fallback: false,
            cause: None,
            way,
            conversation,
            record,
            deadline,
            tried: Vec::new(),
            asked: Vec::new(),
            worst: None,
            named: None,
        }
    }

    /// The best answer that the route has; the account of the request comes with it.
    ///
    /// # Errors
    ///
    /// The request itself is at fault, or nothing is left: what the client is told.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the call in flight.
    pub(super) async fn run(mut self) -> (Result<Found, ApiError>, Record) {
        let found = self.look().await;
        (found, self.record)
    }

    /// The best answer of the route, or of those that stand in for it.
    async fn look(&mut self) -> Result<Found, ApiError> {
        loop {
            let found = self.in_route().await;
            let stands_in = self.cause.take().and_then(|cause| {
                let Fallback {
                    context_too_long,
                    content_refused,
                    ..
                } = &self.route.settings.fallback;
                let name = match cause {
                    Cause::TooLong => context_too_long,
                    Cause::Content => content_refused,
                };
                self.fleet.routes.get(name.as_ref()?)
            });
            match (found, stands_in.map(Arc::clone)) {
                (Err(_), Some(route)) => self.go_on_with(route),
                (Ok(Some(found)), _) => return Ok(found),
                (Ok(None), _) => match self.route_when_down() {
                    Some(route) => self.go_on_with(route),
                    None => return Err(self.nothing_left()),
                },
                (Err(error), None) => return Err(error),
            }
        }
    }

    fn route_when_down(&self) -> Option<Arc<Route>> {
        let name = self.route.settings.fallback.all_down.as_ref()?;
        self.fleet.routes.get(name).map(Arc::clone)
    }

    /// Whatever was found out about the route before still stands in the list of what was tried.
    fn go_on_with(&mut self, route: Arc<Route>) {
        self.route = route;
        self.is_fallback = true;
        self.conversation = None;
        self.asked.clear();
    }

    async fn in_route(&mut self) -> Result<Option<Found>, ApiError> {
        let route = Arc::clone(&self.route);
        if let Some((answer, call)) = self.in_queue().await? {
            if let Answer::Whole { body, .. } = &answer {
                let ask = &self.way.ask;
                route
                    .answers
                    .keep(self.way.endpoint, &ask.model, &ask.body, body);
            }
            return Ok(Some(self.found(From::Call(answer, call), None)));
        }
        // Another route that is well is better than a lesser answer.
        if self.route_when_down().is_some() {
            return Ok(None);
        }
        if let Some(router) = &route.degraded
            && let Some((answer, call)) = self.all(router, &mut Attempts::new()).await?
        {
            return Ok(Some(self.found(From::Call(answer, call), Some("model"))));
        }
        let ask = &self.way.ask;
        let kept = route.answers.get(self.way.endpoint, &ask.model, &ask.body);
        Ok(kept.map(|body| self.found(From::Kept(body), Some("cached"))))
    }

    fn found(&mut self, from: From, degraded: Option<&'static str>) -> Found {
        Found {
            from,
            degraded,
            fallback: self.is_fallback.then(|| self.route.settings.model.clone()),
            tried: std::mem::take(&mut self.tried),
        }
    }

    /// The first good answer of the queue; a conversation asks first whom it was with last.
    async fn in_queue(&mut self) -> Result<Option<(Answer, Call)>, ApiError> {
        let route = Arc::clone(&self.route);
        let Some(key) = self.conversation else {
            return self.all(&route.queue, &mut Attempts::new()).await;
        };
        let mut attempts = Attempts::for_hash(key);
        let mut found = None;
        if let Some(last) = route.conversations.last(key) {
            found = self.one(&route.queue, &mut attempts, Some(&last)).await?;
        }
        if found.is_none() {
            found = self.all(&route.queue, &mut attempts).await?;
        }
        if let Some((_, call)) = &found {
            route.conversations.remember(key, call.target().name());
        }
        Ok(found)
    }

    async fn all(
        &mut self,
        router: &Router<Arc<Target>>,
        attempts: &mut Attempts,
    ) -> Result<Option<(Answer, Call)>, ApiError> {
        loop {
            let before = attempts.tried();
            let found = self.one(router, attempts, None).await?;
            if found.is_some() || attempts.tried() == before {
                return Ok(found);
            }
        }
    }

    /// Tries one target: the next, or the one of this name.
    async fn one(
        &mut self,
        router: &Router<Arc<Target>>,
        attempts: &mut Attempts,
        name: Option<&str>,
    ) -> Result<Option<(Answer, Call)>, ApiError> {
        if self.way.left() == 0 {
            return Ok(None);
        }
        let wanted = |target: &Target| name.is_none_or(|name| target.name() == name);
        let chosen = choose(router, attempts, &mut self.tried, wanted);
        let is_stream = self.way.ask.stream;
        let call = chosen.and_then(|choice| Call::new(choice, self.deadline, is_stream));
        let Some(call) = call else {
            return Ok(None);
        };
        self.asked.push(call.target().name());
        let retry = &call.target().provider.settings.retry;
        let again = retry.when == When::Always || !self.has_another(router);
        let most = if again { retry.attempts } else { 1 };
        match call
            .make(&self.way, most.min(self.way.left()), &self.record)
            .await
        {
            Ok(answer) => Ok(Some((answer, call))),
            Err(failed) => self.note(call, failed).map(|()| None),
        }
    }

    /// Whether another target would take the request.
    fn has_another(&self, router: &Router<Arc<Target>>) -> bool {
        let members = router.members();
        let mut others = members.iter().map(|member| member.payload());
        others.any(|target| target.is_ready() && !self.asked.contains(&target.name()))
    }

    fn note(&mut self, call: Call, failed: Failed) -> Result<(), ApiError> {
        let target = Arc::clone(call.target());
        self.record
            .attempted(failed.ended(target.provider.settings.scope));
        call.fail(&failed);
        let provider = &target.provider.settings.name;
        self.tried.push(target.tried(failed.what()));
        tracing::debug!(provider, what = failed.what(), "a call failed");
        if !failed.may_move_on() {
            self.cause = failed.cause();
            let mut error = failed.to_client(provider);
            error.is_final = true;
            return Err(self.telling(error));
        }
        let sooner = |wait: &Duration| self.named.is_none_or(|named| *wait < named);
        if let Some(wait) = failed.retry_after().filter(sooner) {
            self.named = Some(wait);
        }
        if self
            .worst
            .as_ref()
            .is_none_or(|(worst, _)| worst.weight() < failed.weight())
        {
            self.worst = Some((failed, provider.clone()));
        }
        Ok(())
    }

    /// What the client is told when nothing is left.
    fn nothing_left(&mut self) -> ApiError {
        let mut error = match self.worst.take() {
            Some((worst, provider)) => {
                let mut error = worst.to_client(&provider);
                error.retry_after = self.soonest();
                error
            }
            None => {
                let message = if self.tried.is_empty() {
                    "every provider of this model has all the requests it may have; try again soon"
                } else {
                    "no provider of this model is available at the moment"
                };
                let status = StatusCode::SERVICE_UNAVAILABLE;
                let wait = self.soonest().or_else(|| self.resumption());
                ApiError::server(status, "no_provider", message)
                    .retry_after(wait.unwrap_or(Duration::from_secs(1)))
            }
        };
        // A client that tries again by itself does so within a minute. Without a time, all that could be done at once has been.
        error.is_final = error.retry_after.is_none_or(|wait| wait > WORTH_WAITING);
        self.telling(error)
    }

    /// The soonest time that anyone named: a provider that was asked, or a breaker of the queue.
    fn soonest(&self) -> Option<Duration> {
        let members = self.route.queue.members();
        let waits = members
            .iter()
            .filter_map(|member| member.breaker().snapshot().remaining);
        waits.chain(self.named).min()
    }

    /// The soonest time that a target which is left out for its key is asked again.
    fn resumption(&self) -> Option<Duration> {
        let members = self.route.queue.members();
        let targets = members.iter().map(|member| member.payload());
        let waits = targets.filter_map(|target| {
            let suspension = target.provider.suspended(&target.model)?;
            Some(suspension.remaining())
        });
        waits.min()
    }

    fn telling(&self, mut error: ApiError) -> ApiError {
        error.tried = self.tried.as_slice().into();
        error
    }
}

/// The longest wait after which the official clients try again as they are told.
const WORTH_WAITING: Duration = Duration::from_secs(60);
