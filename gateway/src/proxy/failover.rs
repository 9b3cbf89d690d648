//! From target to target until one gives a good answer, or none is left.
//!
//! One policy for queues of any length: a breaker that rejects is never passed by. When the queue has nothing left,
//! the client gets what the route allows as a lesser answer, or the failure that tells it most, or, if nothing was
//! called at all, 503 with the time after which a breaker may admit again.

use std::sync::Arc;
use std::time::Duration;

use cutout::router::{Attempts, Router};
use http::StatusCode;

use super::ask::Ask;
use super::attempt::Answer;
use super::call::Call;
use super::failed::Failed;
use crate::dialect::{ApiError, Tried};
use crate::providers::{Endpoint, Route, Target, choose};
use crate::requests::Record;

/// A good answer and where it is from.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) answer: Answer,
    pub(super) call: Call,
}

/// One request on its way through a route.
pub(super) struct Search<'a> {
    route: &'a Route,
    endpoint: Endpoint,
    ask: &'a Ask,
    /// The conversation's key, if it has one.
    conversation: Option<u64>,
    record: &'a Record,
    /// What was tried or passed over.
    pub(super) tried: Vec<Tried>,
    /// The failure that tells the most, and whose it is.
    worst: Option<(Failed, String)>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        route: &'a Route,
        endpoint: Endpoint,
        ask: &'a Ask,
        conversation: Option<u64>,
        record: &'a Record,
    ) -> Self {
        Self {
            route,
            endpoint,
            ask,
            conversation,
            record,
            tried: Vec::new(),
            worst: None,
        }
    }

    /// The first good answer of the queue. `Ok(None)` if nothing is left.
    ///
    /// # Errors
    ///
    /// The request itself is at fault: what the provider says of it.
    pub(super) async fn in_queue(&mut self) -> Result<Option<Found>, ApiError> {
        let mut attempts = self
            .conversation
            .map_or_else(Attempts::new, Attempts::for_hash);
        let last = self
            .conversation
            .and_then(|key| self.route.conversations.last(key));
        if let Some(last) = last
            && let Some(found) = self
                .one(&self.route.queue, &mut attempts, Some(&last))
                .await?
        {
            return Ok(Some(found));
        }
        let found = self.all(&self.route.queue, &mut attempts).await?;
        if let (Some(found), Some(key)) = (&found, self.conversation) {
            self.route
                .conversations
                .remember(key, found.call.target().name());
        }
        Ok(found)
    }

    /// The first good answer of the older models.
    ///
    /// # Errors
    ///
    /// As [`in_queue`](Self::in_queue).
    pub(super) async fn in_degraded(&mut self) -> Result<Option<Found>, ApiError> {
        match &self.route.degraded {
            Some(router) => self.all(router, &mut Attempts::new()).await,
            None => Ok(None),
        }
    }

    async fn all(
        &mut self,
        router: &Router<Arc<Target>>,
        attempts: &mut Attempts,
    ) -> Result<Option<Found>, ApiError> {
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
    ) -> Result<Option<Found>, ApiError> {
        let wanted = |target: &Target| name.is_none_or(|name| target.name() == name);
        let chosen = choose(router, attempts, &mut self.tried, wanted);
        let Some(call) = chosen.and_then(Call::new) else {
            return Ok(None);
        };
        match call.make(self.endpoint, self.ask, self.record).await {
            Ok(answer) => Ok(Some(Found { answer, call })),
            Err(failed) => self.note(call, failed).map(|()| None),
        }
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
            return Err(self.telling(failed.to_client(provider)));
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
    pub(super) fn nothing_left(mut self) -> ApiError {
        if let Some((worst, provider)) = self.worst.take() {
            return self.telling(worst.to_client(&provider));
        }
        let message = if self.tried.is_empty() {
            "every provider of this model has all the requests it may have; try again soon"
        } else {
            "no provider of this model is available at the moment"
        };
        let error = ApiError::server(StatusCode::SERVICE_UNAVAILABLE, "no_provider", message);
        let wait = self.soonest().unwrap_or(Duration::from_secs(1));
        self.telling(error.retry_after(wait))
    }

    /// The time until a breaker of the queue may admit again.
    fn soonest(&self) -> Option<Duration> {
        let members = self.route.queue.members();
        members
            .iter()
            .filter_map(|member| member.breaker().snapshot().remaining)
            .min()
    }

    fn telling(&self, mut error: ApiError) -> ApiError {
        error.tried.clone_from(&self.tried);
        error
    }
}
