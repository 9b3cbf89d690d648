//! Answers that come piece by piece, and break.

use std::io;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, header};
use tokio::sync::mpsc;

use super::seen::Open;

/// How long the pieces before a break have to be written.
const WRITTEN: Duration = Duration::from_millis(5);

/// A piece of an answer.
pub(super) enum Piece {
    Text(&'static str),
    Bytes(&'static [u8]),
    Owned(String),
    /// Nothing, for ever.
    Nothing,
    /// The connection breaks.
    Cut,
    /// This, for ever.
    Endless(&'static str),
    /// This, for ever, each so often.
    Drip(Box<Piece>, Duration),
}

/// An answer of these pieces, in the background.
pub(super) fn pieces(kind: HeaderValue, open: Open, pieces: Vec<Piece>) -> Response {
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        tokio::select! {
            () = sender.closed() => {}
            _ = play(pieces, &sender) => {}
        }
        drop(open);
    });
    with_type(kind, Body::new(Played(receiver)))
}

/// An answer of this type.
pub(super) fn with_type(kind: HeaderValue, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// Plays the pieces; `None` when nobody listens any more.
async fn play(pieces: Vec<Piece>, sender: &mpsc::Sender<Option<Bytes>>) -> Option<()> {
    for piece in pieces {
        match piece {
            Piece::Text(text) => sender
                .send(Some(Bytes::from_static(text.as_bytes())))
                .await
                .ok()?,
            Piece::Bytes(bytes) => sender.send(Some(Bytes::from_static(bytes))).await.ok()?,
            Piece::Owned(text) => sender.send(Some(Bytes::from(text))).await.ok()?,
            Piece::Nothing => std::future::pending().await,
            Piece::Cut => {
                // A connection that breaks takes along what has not been written yet.
                tokio::time::sleep(WRITTEN).await;
                sender.send(None).await.ok()?;
            }
            Piece::Endless(text) => loop {
                sender
                    .send(Some(Bytes::from(text.repeat(100))))
                    .await
                    .ok()?;
            },
            Piece::Drip(piece, each) => {
                let Piece::Owned(text) = *piece else {
                    return None;
                };
                let text = Bytes::from(text);
                loop {
                    sender.send(Some(text.clone())).await.ok()?;
                    // A timer rounds up to a millisecond.
                    if each.is_zero() {
                        tokio::task::yield_now().await;
                    } else {
                        tokio::time::sleep(each).await;
                    }
                }
            }
        }
    }
    Some(())
}

/// A body of pieces; `None` breaks it.
struct Played(mpsc::Receiver<Option<Bytes>>);

impl http_body::Body for Played {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, io::Error>>> {
        self.0.poll_recv(context).map(|piece| {
            piece.map(|piece| {
                piece
                    .map(http_body::Frame::data)
                    .ok_or(io::ErrorKind::BrokenPipe.into())
            })
        })
    }
}
