//! The way of a request: route, semaphore, breaker, retry, provider, in this order.
//!
//! 1. The body is read whole, within limits, before anything of a provider is held. So a slow client holds none.
//! 2. The route by the model's name; a conversation goes first to whom it was with last.
//! 3. A provider that has all the requests it may have is passed over, its breaker unasked.
//! 4. The breaker gives a permit or a rejection; a rejected target is passed over.
//! 5. All attempts at a provider happen under that one permit and are one outcome.
//! 6. What fails moves on to the next target, as long as nothing has gone to the client and the request is not itself at fault.
//!
//! A client that goes away drops all of it at once.

mod ask;
mod attempt;
mod call;
mod failed;
mod failover;
mod pour;
mod respond;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use tokio::time::timeout;

use crate::auth::KeyName;
use crate::dialect::ApiError;
use crate::gateway::Gateway;
use crate::providers::{Endpoint, Route, Target};
use crate::requests::{End, Record};
use ask::Ask;
use attempt::Answer;
use failed::{Failed, Limit};
use failover::Search;
use respond::{Good, REQUEST_ID, respond};

/// `POST /v1/chat/completions`.
pub(crate) async fn chat(State(gateway): State<Arc<Gateway>>, request: Request<Body>) -> Response {
    handle(&gateway, Endpoint::Chat, request).await
}

/// `POST /v1/embeddings`.
pub(crate) async fn embeddings(
    State(gateway): State<Arc<Gateway>>,
    request: Request<Body>,
) -> Response {
    handle(&gateway, Endpoint::Embeddings, request).await
}

async fn handle(gateway: &Gateway, endpoint: Endpoint, request: Request<Body>) -> Response {
    let mut record = Record::new(&gateway.requests, endpoint, request.headers());
    let id = HeaderValue::try_from(record.id());
    let mut response = match answer(gateway, endpoint, request, &mut record).await {
        Ok(good) => respond(good, record),
        Err(error) => {
            record.refused(error.status, error.code);
            record.end(End::Complete);
            error.into_response()
        }
    };
    if let Ok(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

async fn answer(
    gateway: &Gateway,
    endpoint: Endpoint,
    request: Request<Body>,
    record: &mut Record,
) -> Result<Good, ApiError> {
    // The configuration that this request goes by, to its end.
    let fleet = gateway.fleet.load_full();
    let (head, body) = request.into_parts();
    record.key(head.extensions.get::<KeyName>());
    let server = &fleet.config.server;
    let conversation = |route: &Route| conversation(route, &head.headers);
    let ask = Ask::read(head.headers.clone(), body, server, &gateway.places.memory).await?;
    record.asks(&ask.model, ask.stream);
    // After the body, so that slow clients take no place of others.
    let _place = gateway.places.request()?;
    let Some(route) = fleet.routes.get(&ask.model) else {
        let message = format!("the model {:?} does not exist here", ask.model);
        return Err(
            ApiError::invalid(StatusCode::NOT_FOUND, "model_not_found", message).param("model"),
        );
    };
    record.route(&ask.model);
    let place = if ask.stream {
        Some(gateway.places.stream()?)
    } else {
        None
    };
    let stall = server.stall_timeout.get();
    let mut search = Search::new(route, endpoint, &ask, conversation(route), record);
    if let Some(found) = search.in_queue().await? {
        if let Answer::Whole { body, .. } = &found.answer {
            route.answers.keep(endpoint, &ask.body, body);
        }
        return Ok(Good::of(found, search.tried, place, stall));
    }
    if let Some(found) = search.in_degraded().await? {
        return Ok(Good::of(found, search.tried, place, stall).degraded("model"));
    }
    if let Some(body) = route.answers.get(endpoint, &ask.body) {
        return Ok(Good::cached(body, search.tried));
    }
    Err(search.nothing_left())
}

/// One attempt with this body, outside of any call.
pub(crate) async fn once(
    target: &Target,
    endpoint: Endpoint,
    body: &'static str,
) -> Result<(), Failed> {
    let ask = Ask::own(body);
    let total = target.provider.settings.limits.total.get();
    let answer = timeout(total, attempt::attempt(target, endpoint, &ask)).await;
    answer
        .map_err(|_| Failed::TimedOut(Limit::Total, total))?
        .map(|_| ())
}

/// The key of the conversation that a request belongs to.
fn conversation(route: &Route, headers: &HeaderMap) -> Option<u64> {
    let value = headers.get(route.settings.sticky_header.as_deref()?)?;
    let mut hasher = DefaultHasher::new();
    value.as_bytes().hash(&mut hasher);
    Some(hasher.finish())
}
