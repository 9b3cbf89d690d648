//! What a fake provider answers in each mood.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};

use axum::body::{Body, to_bytes};
use axum::extract;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, header};
use serde_json::Value;

use super::mood::Mood;
use super::pieces::{Piece, pieces, with_type};
use super::seen::{Open, Seen};
use super::voice::{Kind, Voice};

/// Answers as the endpoint does.
pub(super) async fn answer(
    kind: Kind,
    extract::State(seen): extract::State<Arc<Seen>>,
    request: Request<Body>,
) -> Response {
    let (open, mood, body) = receive(&seen, request).await;
    let voice = Voice::of(kind, &body);
    let is_stream = match kind {
        Kind::StreamGenerate => true,
        Kind::Chat | Kind::Completions | Kind::Responses | Kind::Messages => body["stream"] == true,
        _ => false,
    };
    if is_stream {
        stream(open, mood, voice).await
    } else {
        whole(open, mood, voice).await
    }
}

/// What a verb behind a model's name asks for.
pub(super) async fn verb(
    state: extract::State<Arc<Seen>>,
    extract::Path(action): extract::Path<String>,
    request: Request<Body>,
) -> Response {
    let kind = match action.rsplit_once(':') {
        Some((_, "generateContent")) => Kind::Generate,
        Some((_, "streamGenerateContent")) => Kind::StreamGenerate,
        _ => Kind::CountContent,
    };
    answer(kind, state, request).await
}

async fn receive(seen: &Arc<Seen>, request: Request<Body>) -> (Open, Mood, Value) {
    seen.calls.fetch_add(1, Relaxed);
    let open = Open::new(seen);
    let (head, body) = request.into_parts();
    let body = to_bytes(body, 64 << 20).await.unwrap_or_default();
    let value = serde_json::from_slice(&body).unwrap_or_default();
    let asked = head.uri.to_string();
    *seen.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((asked, head.headers, body));
    let mood = seen
        .mood
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    (open, mood, value)
}

async fn whole(open: Open, mood: Mood, voice: Voice) -> Response {
    let json = HeaderValue::from_static("application/json");
    match mood {
        Mood::Stalling => pieces(json, open, vec![Piece::Text("{\"id\":"), Piece::Nothing]),
        Mood::Cutting => pieces(json, open, vec![Piece::Text("{\"id\":"), Piece::Cut]),
        Mood::Unfinished => with_type(json, "{\"id\":".to_owned()),
        Mood::BadText => with_type(json, Bytes::from_static(b"{\"id\":\"\xff\"}")),
        Mood::BrokenEvents => with_type(json, "{\"id\":}".to_owned()),
        Mood::ErrorAs200 | Mood::ErrorFirst | Mood::ErrorLast => {
            with_type(json, voice.trouble.to_string())
        }
        Mood::Empty => with_type(json, "{}"),
        Mood::Endless => pieces(json, open, vec![Piece::Endless("          ")]),
        mood => match ill(mood, &voice).await {
            Some(response) => response,
            None => with_type(json, voice.answer.to_string()),
        },
    }
}

async fn stream(open: Open, mood: Mood, voice: Voice) -> Response {
    let events = HeaderValue::from_static("text/event-stream");
    let trouble = Piece::Owned(voice.trouble_event());
    let mut all: Vec<_> = voice.head.iter().cloned().map(Piece::Owned).collect();
    let content = voice.content.iter().cloned().map(Piece::Owned);
    match mood {
        Mood::Empty => {}
        Mood::ErrorFirst => all.push(trouble),
        Mood::Endless => all = vec![Piece::Endless("data: 0123456789")],
        Mood::Dripping(each) => {
            let Some(first) = voice.content.first() else {
                return Response::default();
            };
            all.push(Piece::Drip(Box::new(Piece::Owned(first.clone())), each));
        }
        Mood::Stalling => all.extend(content.chain([Piece::Nothing])),
        Mood::Cutting => {
            all.extend(content.chain([Piece::Text("data: {\"id\":\"chatc"), Piece::Cut]));
        }
        Mood::Unfinished => all.extend(content),
        Mood::ErrorLast | Mood::ErrorAs200 => all.extend(content.chain([trouble])),
        Mood::BrokenEvents => all.extend(content.chain([Piece::Text("data: {\"id\":\n\n")])),
        Mood::BadText => {
            all.extend(content.chain([Piece::Bytes(b"data: {\"id\":\"\xff\"}\n\n")]));
        }
        mood => match ill(mood, &voice).await {
            Some(response) => return response,
            None => all.extend(content.chain(voice.end.iter().cloned().map(Piece::Owned))),
        },
    }
    pieces(events, open, all)
}

/// What is the same for streams and whole answers; `None` if it is well.
async fn ill(mood: Mood, voice: &Voice) -> Option<Response> {
    match mood {
        Mood::Refusing(status, wait) => {
            let body = voice.refusal(status).to_string();
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
