//! What a fake provider answers in each mood.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};

use axum::body::{Body, to_bytes};
use axum::extract;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, header};
use serde_json::{Value, json};

use super::mood::Mood;
use super::pieces::{Piece, pieces, with_type};
use super::seen::{Open, Seen};

pub(super) async fn chat(
    extract::State(seen): extract::State<Arc<Seen>>,
    request: Request<Body>,
) -> Response {
    let (open, mood, body) = receive(&seen, request).await;
    let model = body["model"].as_str().unwrap_or_default();
    let answer = json!({
        "id": "chatcmpl-fake", "object": "chat.completion", "created": 1, "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello there"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    });
    match body["stream"].as_bool() {
        Some(true) => {
            let usage = body["stream_options"]["include_usage"] == true;
            stream(open, mood, model, usage.then_some(&answer["usage"])).await
        }
        _ => whole(open, mood, answer).await,
    }
}

pub(super) async fn embeddings(
    extract::State(seen): extract::State<Arc<Seen>>,
    request: Request<Body>,
) -> Response {
    let (open, mood, body) = receive(&seen, request).await;
    let answer = json!({
        "object": "list", "model": body["model"],
        "data": [{"object": "embedding", "index": 0, "embedding": [0.5, -0.25]}],
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    });
    whole(open, mood, answer).await
}

async fn receive(seen: &Arc<Seen>, request: Request<Body>) -> (Open, Mood, Value) {
    seen.calls.fetch_add(1, Relaxed);
    let open = Open::new(seen);
    let (head, body) = request.into_parts();
    let body = to_bytes(body, 64 << 20).await.unwrap_or_default();
    let value = serde_json::from_slice(&body).unwrap_or_default();
    *seen.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((head.headers, body));
    let mood = seen
        .mood
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    (open, mood, value)
}

async fn whole(open: Open, mood: Mood, answer: Value) -> Response {
    let json = HeaderValue::from_static("application/json");
    match mood {
        Mood::Stalling => pieces(json, open, vec![Piece::Text("{\"id\":"), Piece::Nothing]),
        Mood::Cutting => pieces(json, open, vec![Piece::Text("{\"id\":"), Piece::Cut]),
        Mood::Unfinished => with_type(json, "{\"id\":".to_owned()),
        Mood::BadText => with_type(json, Bytes::from_static(b"{\"id\":\"\xff\"}")),
        Mood::BrokenEvents => with_type(json, "{\"id\":}".to_owned()),
        Mood::ErrorAs200 | Mood::ErrorFirst | Mood::ErrorLast => {
            with_type(json, r#"{"error":{"message":"fake trouble"}}"#)
        }
        Mood::Endless => pieces(json, open, vec![Piece::Endless("          ")]),
        mood => match ill(mood).await {
            Some(response) => response,
            None => with_type(json, answer.to_string()),
        },
    }
}

async fn stream(open: Open, mood: Mood, model: &str, usage: Option<&Value>) -> Response {
    const WORDS: [&str; 3] = ["Hello", " ", "there"];
    let chunk = |delta: Value, finish: Option<&str>| {
        let chunk = json!({
            "id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1, "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        });
        Piece::Owned(format!("data: {chunk}\n\n"))
    };
    let mut all: Vec<_> = WORDS
        .iter()
        .map(|word| chunk(json!({"content": word}), None))
        .collect();
    let events = HeaderValue::from_static("text/event-stream");
    match mood {
        Mood::Stalling => all.push(Piece::Nothing),
        Mood::Cutting => all.extend([Piece::Text("data: {\"id\":\"chatc"), Piece::Cut]),
        Mood::Unfinished => {}
        Mood::ErrorFirst => all.insert(0, Piece::Text(TROUBLE)),
        Mood::ErrorLast | Mood::ErrorAs200 => all.push(Piece::Text(TROUBLE)),
        Mood::BrokenEvents => all.push(Piece::Text("data: {\"id\":\n\n")),
        Mood::BadText => all.push(Piece::Bytes(b"data: {\"id\":\"\xff\"}\n\n")),
        Mood::Endless => all = vec![Piece::Endless("data: 0123456789")],
        Mood::Dripping(each) => {
            let Some(first) = all.drain(..).next() else {
                return Response::default();
            };
            all.push(Piece::Drip(Box::new(first), each));
        }
        mood => match ill(mood).await {
            Some(response) => return response,
            None => {
                all.push(chunk(json!({}), Some("stop")));
                all.extend(usage.map(|usage| {
                    let chunk = json!({"id": "chatcmpl-fake", "choices": [], "usage": usage});
                    Piece::Owned(format!("data: {chunk}\n\n"))
                }));
                all.push(Piece::Text("data: [DONE]\n\n"));
            }
        },
    }
    pieces(events, open, all)
}

const TROUBLE: &str =
    "data: {\"error\":{\"message\":\"fake trouble\",\"type\":\"server_error\"}}\n\n";

/// What is the same for streams and whole answers; `None` if it is well.
async fn ill(mood: Mood) -> Option<Response> {
    match mood {
        Mood::Refusing(status, wait) => {
            let body = r#"{"error":{"message":"fake refusal","type":"fake"}}"#;
            let mut response = with_type(HeaderValue::from_static("application/json"), body);
            *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
            if let Some(wait) = wait {
                response
                    .headers_mut()
                    .insert(header::RETRY_AFTER, HeaderValue::from(wait));
            }
            Some(response)
        }
        Mood::Hanging => std::future::pending().await,
        Mood::Html => Some(with_type(
            HeaderValue::from_static("text/html"),
            "<h1>Please log in</h1>",
        )),
        Mood::Redirecting(to) => {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
            response
                .headers_mut()
                .insert(header::LOCATION, HeaderValue::try_from(to).ok()?);
            Some(response)
        }
        Mood::Slow(wait) => {
            tokio::time::sleep(wait).await;
            None
        }
        _ => None,
    }
}
