//! Each transition told to a URL of the operator's, off the way of requests.

use std::sync::Arc;
use std::time::Duration;

use backon::{ConstantBuilder, Retryable};
use bytes::Bytes;
use http::{HeaderValue, Request, header};
use http_body_util::Full;
use secrecy::ExposeSecret;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

use crate::client::Client;
use crate::config::Webhook;
use crate::events::Transition;
use crate::gateway::Gateway;

/// How long the URL may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Tells of each of these transitions, in their order, for ever: up to three attempts each. A URL that falls 256 transitions
/// behind misses the oldest.
pub(crate) async fn tell(gateway: Arc<Gateway>, mut transitions: Receiver<Arc<Transition>>) {
    let client = match Client::from_environment(PATIENCE) {
        Ok(client) => client,
        Err(why) => {
            tracing::error!(why, "the webhook is told of nothing");
            return;
        }
    };
    loop {
        let transition = match transitions.recv().await {
            Ok(transition) => transition,
            Err(RecvError::Lagged(missed)) => {
                tracing::warn!(missed, "the webhook is too slow");
                continue;
            }
            Err(RecvError::Closed) => return,
        };
        let Some(webhook) = gateway.fleet.load().config.webhook.clone() else {
            continue;
        };
        let attempts = (|| post(&client, &webhook, &transition))
            .retry(
                ConstantBuilder::default()
                    .with_delay(Duration::from_secs(1))
                    .with_max_times(2),
            )
            .sleep(tokio::time::sleep);
        if let Err(why) = attempts.await {
            tracing::warn!(
                why,
                breaker = transition.breaker,
                "the webhook was not told"
            );
        }
    }
}

async fn post(client: &Client, webhook: &Webhook, transition: &Transition) -> Result<(), String> {
    let body = serde_json::to_vec(transition).map_err(|error| error.to_string())?;
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = webhook
        .url
        .parse()
        .map_err(|_| "its URL is none".to_owned())?;
    let headers = request.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    if let Some(token) = &webhook.token {
        let mut value = HeaderValue::try_from(format!("Bearer {}", token.read()?.expose_secret()))
            .map_err(|_| "its token is none".to_owned())?;
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
    let answer = timeout(PATIENCE, client.send(request)).await;
    let answer = answer.map_err(|_| "it did not answer in time".to_owned())?;
    let status = answer.map_err(|error| error.to_string())?.status();
    if status.is_success() {
        Ok(())
    } else {
        Err(format!("it answered {status}"))
    }
}
