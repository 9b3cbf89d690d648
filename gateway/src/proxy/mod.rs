//! The way of a request: route, semaphore, breaker, retry, provider, in this order.
//!
//! 1. The body is read whole, within limits, before anything of a provider is held. So a slow client holds none.
//! 2. The route by the model's name; a conversation goes first to whom it was with last.
//! 3. A provider that has all the requests it may have is passed over, its breaker unasked.
//! 4. The breaker gives a permit or a rejection; a rejected target is passed over.
//! 5. All attempts at a provider happen under that one permit and are one outcome.
//! 6. What fails moves on to the next target at once, as long as no content has gone to the client and the request is not itself
//!    at fault. The last one that would take the request is tried again.
//! 7. All of it ends by the route's deadline, and within its number of upstream calls.
//!
//! A client that goes away drops all of it at once.

mod ask;
mod attempt;
mod call;
mod due;
mod failed;
mod failover;
mod pour;
mod reading;
mod respond;
mod signs;
mod waiting;
mod way;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;

use crate::auth::KeyName;
use crate::dialect::{ApiError, Endpoint};
use crate::gateway::Gateway;
use crate::providers::{Fleet, Route, Target};
use crate::requests::Record;
use ask::Ask;
pub(crate) use ask::Path;
use failed::{Failed, Limit};
use failover::Search;
use way::Way;

use pour::Pace;
use respond::{REQUEST_ID, refuse, respond};
use signs::Signs;

/// Answers a request for a model.
pub(crate) async fn handle(gateway: Arc<Gateway>, path: Path, request: Request<Body>) -> Response {
    let endpoint = path.endpoint;
    let mut record = Record::new(&gateway.requests, endpoint, request.headers());
    let id = HeaderValue::try_from(record.id());
    let mut response = match take_in(&gateway, path, request, &mut record).await {
        Ok(asked) => asked.answer(endpoint, record).await,
        Err(error) => refuse(endpoint, &error, record),
    };
    if let Ok(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// A request that can be answered.
struct Asked {
    fleet: Arc<Fleet>,
    ask: Ask,
    route: Arc<Route>,
    conversation: Option<u64>,
    /// For streams.
    pace: Option<Pace>,
    _place: OwnedSemaphorePermit,
}

async fn take_in(
    gateway: &Gateway,
    path: Path,
    request: Request<Body>,
    record: &mut Record,
) -> Result<Asked, ApiError> {
    // The configuration that this request goes by, to its end.
    let fleet = gateway.fleet.load_full();
    let (head, body) = request.into_parts();
    record.key(head.extensions.get::<KeyName>());
    let hop = gateway.hop.follow(&head.headers)?;
    let server = &fleet.config.server;
    let (endpoint, memory) = (path.endpoint, &gateway.places.memory);
    let ask = Ask::read(path, &head, hop, body, server, memory).await?;
    record.asks(&ask.model, ask.stream);
    // After the body, so that slow clients take no place of others.
    let place = gateway.places.request()?;
    let Some(route) = fleet.route(&ask.model) else {
        let message = format!("the model {:?} does not exist here", ask.model);
        return Err(
            ApiError::invalid(StatusCode::NOT_FOUND, "model_not_found", message).param("model"),
        );
    };
    if route.dialect != endpoint.dialect() {
        let (is, asked) = (route.dialect.name(), endpoint.dialect().name());
        let message = format!(
            "the providers of {:?} speak the dialect of {is}, this path that of {asked}, and nothing is translated: use \
             a path of {is}",
            ask.model
        );
        let error = ApiError::invalid(StatusCode::BAD_REQUEST, "wrong_dialect", message);
        return Err(error.param("model"));
    }
    record.route(&route.settings.model);
    let pace = if ask.stream {
        Some(Pace::new(server, gateway.places.stream()?))
    } else {
        None
    };
    // Last, so that what was refused for anything else is not counted.
    let mut named = server.client_keys.iter();
    let known = head.extensions.get::<KeyName>();
    let known = known.and_then(|name| named.find(|key| *key.name == *name.0));
    if let Some(key) = known {
        gateway.requests.ledger.enter(&key.name, &key.limits)?;
    }
    Ok(Asked {
        conversation: conversation(route, &head.headers),
        route: Arc::clone(route),
        fleet: Arc::clone(&fleet),
        ask,
        pace,
        _place: place,
    })
}

impl Asked {
    async fn answer(self, endpoint: Endpoint, record: Record) -> Response {
        let (sender, comments) = mpsc::channel(waiting::COMMENTS);
        let sender = self.pace.is_some().then_some(sender);
        let most = self.route.settings.max_calls;
        let way = Way::new(endpoint, self.ask, sender, most);
        let search = Search::new(self.fleet, self.route, way, self.conversation, record);
        let Some(pace) = self.pace else {
            let (found, record) = search.run().await;
            return match found {
                Ok(found) => respond(endpoint, found, None, record),
                Err(error) => refuse(endpoint, &error, record),
            };
        };
        waiting::stream(endpoint, search, comments, pace).await
    }
}

/// One attempt with this body, outside of any call. What it says of the key counts.
pub(crate) async fn once(
    gateway: &Gateway,
    target: &Arc<Target>,
    endpoint: Endpoint,
    body: &'static str,
) -> Result<(), Failed> {
    let ask = Ask::own(endpoint, body, gateway.hop.first());
    let way = Way::new(endpoint, ask, None, 1);
    let signs = Signs::new(Arc::clone(target), None, false);
    let total = target.provider.settings.limits.total.get();
    let answer = timeout(total, attempt::attempt(target, &way, &signs)).await;
    let answer = answer.unwrap_or(Err(Failed::TimedOut(Limit::Total, total)));
    match &answer {
        Ok(_) => target.provider.resume(&target.model),
        Err(failed) => {
            if let Some(suspension) = failed.suspension(target) {
                target.provider.suspend(suspension);
            }
        }
    }
    answer.map(|_| ())
}

/// The key of the conversation that a request belongs to.
fn conversation(route: &Route, headers: &HeaderMap) -> Option<u64> {
    let value = headers.get(route.settings.sticky_header.as_deref()?)?;
    let mut hasher = DefaultHasher::new();
    value.as_bytes().hash(&mut hasher);
    Some(hasher.finish())
}
