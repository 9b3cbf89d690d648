//! The state and the transitions as they happen.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, header};
use http_body_util::channel::Channel;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep_until};

use super::state::state;
use crate::gateway::Gateway;

/// The time between two states while nothing moves.
const TICK: Duration = Duration::from_secs(1);

/// The time from a transition to the state that has it; more of them in it share one.
const SOON: Duration = Duration::from_millis(100);

/// `GET /admin/events`.
pub(super) async fn answer(State(gateway): State<Arc<Gateway>>) -> Response {
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(4);
    tokio::spawn(async move {
        let mut transitions = gateway.events.subscribe();
        let mut next = Instant::now();
        while !gateway.is_draining() {
            let event = tokio::select! {
                () = sleep_until(next) => {
                    next = Instant::now() + TICK;
                    event("state", &state(&gateway))
                }
                transition = transitions.recv() => match transition {
                    Ok(transition) => {
                        next = next.min(Instant::now() + SOON);
                        event("transition", &transition)
                    }
                    // The next state has what was missed.
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                },
            };
            if sender.send_data(event).await.is_err() {
                return;
            }
        }
    });
    let mut response = Response::new(Body::new(body));
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn event(name: &str, data: &impl serde::Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_default();
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}
