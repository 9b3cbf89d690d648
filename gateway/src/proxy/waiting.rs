//! A client that waits for a stream.
//!
//! As long as nothing has to be said, nothing is: so an answer that fails at once has its own status, and a stream that begins
//! at once has the headers of its provider. When the provider sends a comment, or the client has waited for
//! `keep_alive`, the head goes out and comments follow it. That commits to nobody: the search goes on, and its
//! end is told in the stream.

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::time::sleep;

use axum::response::Response;
use http::{HeaderMap, StatusCode};

use super::failover::{Found, From, Search};
use super::pour::{Client, Gone, Pace, pipe, pour};
use super::reading::Answer;
use super::respond::{head_of_stream, refuse, respond};
use crate::dialect::Endpoint;
use crate::requests::{End, Record};

/// How many comments of providers may wait for the client.
pub(super) const COMMENTS: usize = 4;

/// A stream as the search finds it; `comments` are those of providers before the first content.
pub(super) async fn stream(
    endpoint: Endpoint,
    search: Search,
    mut comments: mpsc::Receiver<Bytes>,
    pace: Pace,
) -> Response {
    let mut search = Box::pin(search.run());
    let first = tokio::select! {
        biased;
        (found, record) = &mut search => return match found {
            Ok(mut found) => {
                if let From::Call(Answer::Stream(stream), _) = &mut found.from {
                    stream.preface(std::iter::from_fn(|| comments.try_recv().ok()));
                }
                respond(endpoint, found, Some(pace), record)
            }
            Err(error) => refuse(endpoint, &error, record),
        },
        Some(comment) = comments.recv() => comment,
        () = sleep(pace.keep_alive) => endpoint.dialect().keep_alive(),
    };
    let body = pipe(endpoint, pace, |client| async move {
        // A client that has gone needs no answer.
        let Ok((found, mut record)) = keep_alive(&mut search, comments, first, &client).await
        else {
            return;
        };
        match found {
            Ok(found) => begin(found, client, record).await,
            Err(error) => {
                record.refused(StatusCode::OK, error.code);
                record.ends(End::Broken);
                client.tell(&error).await;
            }
        }
    });
    head_of_stream(HeaderMap::new(), body)
}

/// Sends comments until the search has ended.
async fn keep_alive<F>(
    search: &mut F,
    mut comments: mpsc::Receiver<Bytes>,
    first: Bytes,
    client: &Client,
) -> Result<F::Output, Gone>
where
    F: Future + Unpin,
{
    client.send(first).await?;
    loop {
        let comment = tokio::select! {
            biased;
            found = &mut *search => return Ok(found),
            Some(comment) = comments.recv() => comment,
            () = sleep(client.pace.keep_alive) => client.endpoint.dialect().keep_alive(),
        };
        client.send(comment).await?;
    }
}

/// Says what the head could not, and goes on with the stream that was found.
async fn begin(found: Found, client: Client, mut record: Record) {
    let From::Call(Answer::Stream(stream), call) = found.from else {
        // Only whole answers are kept, and for requests that want no stream.
        return;
    };
    record.answered_by(call.target());
    let provider = &call.target().provider.settings.name;
    let degraded = found.degraded.map_or("", |_| ", degraded");
    let fallback = found
        .fallback
        .map_or_else(String::new, |route| format!(", by the route {route}"));
    let dialect = client.endpoint.dialect();
    let comment = dialect.comment(&format!("from {provider}{degraded}{fallback}"));
    if client.send(comment).await.is_ok() {
        pour(stream, call, client, record).await;
    }
}
