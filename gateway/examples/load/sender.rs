//! Requests at a fixed rate.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use cutout_gateway::client::Client;
use http::{HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::figures::{End, Figures};

/// After so long without an answer a request counts as lost.
const LOST: Duration = Duration::from_secs(10);

/// What is asked, and of whom.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    client: Client,
    uri: Uri,
    /// One in so many requests is a stream; 0 for none.
    streams: u64,
}

impl Ask {
    pub(crate) fn new(url: &str, streams: u64) -> Self {
        Self {
            client: Client::new(LOST),
            uri: format!("{url}/v1/chat/completions")
                .parse()
                .unwrap_or_default(),
            streams,
        }
    }

    fn request(&self, turn: u64) -> (bool, Request<Full<Bytes>>) {
        let stream = self.streams > 0 && turn.is_multiple_of(self.streams);
        let body = if stream {
            r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Hello"}]}"#
        } else {
            r#"{"model":"m","messages":[{"role":"user","content":"Hello"}]}"#
        };
        let mut request = Request::new(Full::new(Bytes::from_static(body.as_bytes())));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(header::CONTENT_TYPE, json);
        (stream, request)
    }
}

/// Sends so many per second for so long, and waits until all have ended.
pub(crate) async fn send(ask: &Ask, rate: u32, length: Duration, figures: &Arc<Mutex<Figures>>) {
    let mut ticks = interval(Duration::from_millis(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let begin = Instant::now();
    let each = Duration::from_secs(1) / rate;
    let mut sent = 0_u32;
    let mut running = JoinSet::new();
    while begin.elapsed() < length {
        ticks.tick().await;
        while each * sent <= begin.elapsed() {
            let due = begin + each * sent;
            let (stream, request) = ask.request(sent.into());
            let (client, figures) = (ask.client.clone(), Arc::clone(figures));
            running.spawn(async move {
                let answer = timeout(LOST, one(&client, request, stream)).await;
                Figures::add(&figures, answer.unwrap_or(End::Lost), due.elapsed());
            });
            sent += 1;
        }
        while running.try_join_next().is_some() {}
    }
    let length = begin.elapsed();
    while running.join_next().await.is_some() {}
    Figures::took(figures, length);
}

async fn one(client: &Client, request: Request<Full<Bytes>>, stream: bool) -> End {
    let response = match client.send(request).await {
        Ok(response) => response,
        Err(error) => {
            eprintln!("lost: {error:?}");
            return End::Lost;
        }
    };
    let status = response.status();
    let Ok(body) = response.into_body().collect().await else {
        return End::Lost;
    };
    let body = body.to_bytes();
    match status {
        StatusCode::OK if !stream || body.ends_with(b"[DONE]\n\n") => End::Answered,
        _ if body.windows(7).any(|part| part == b"\"error\"") => End::Refused,
        _ => End::Lost,
    }
}
