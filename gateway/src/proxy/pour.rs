//! A stream on its way to the client, and what it came to.
//!
//! A task of its own reads the provider, so that a client that does not read holds it for a limited
//! time only, and one that goes away frees it at once.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use cutout::Outcome;
use http::StatusCode;
use http_body::{Body, Frame};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{sleep, timeout, timeout_at};

use super::call::Call;
use super::failed::Failed;
use super::reading::{Stream, heard, too_long};
use crate::config::Server;
use crate::dialect::sse::{read, usage};
use crate::dialect::{ApiError, Endpoint, Said};
use crate::requests::{End, Ended, Record};

/// How many events may wait for the client.
const WAITING: usize = 16;

/// How long a provider may take to end its answer after `[DONE]`, for its connection to be used again.
const AFTER_DONE: Duration = Duration::from_millis(100);

/// What goes with every stream.
#[derive(Debug)]
pub(super) struct Pace {
    /// How long the client may leave it unread.
    stall: Duration,
    /// How long it may be silent.
    pub(super) keep_alive: Duration,
    /// Its place among the streams.
    _place: OwnedSemaphorePermit,
}

impl Pace {
    pub(super) fn new(server: &Server, place: OwnedSemaphorePermit) -> Self {
        Self {
            stall: server.stall_timeout.get(),
            keep_alive: server.keep_alive.get(),
            _place: place,
        }
    }
}

/// The client has gone, or does not read.
pub(super) struct Gone;

/// The client of a stream.
pub(super) struct Client {
    pub(super) endpoint: Endpoint,
    events: mpsc::Sender<Bytes>,
    pub(super) pace: Pace,
}

impl Client {
    /// Sends one event, or a comment.
    pub(super) async fn send(&self, event: Bytes) -> Result<(), Gone> {
        match timeout(self.pace.stall, self.events.send(event)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Gone),
        }
    }

    /// Shows it that the connection lives.
    pub(super) async fn keep_alive(&self) -> Result<(), Gone> {
        self.send(self.endpoint.dialect().keep_alive()).await
    }

    /// Tells it that there is no answer, or no more of it: in the way that the official clients raise.
    pub(super) async fn tell(&self, error: &ApiError) {
        let event = Bytes::from(self.endpoint.speech().failure(error));
        // If it is not there any more, there is nobody to tell.
        let _ = self.send(event).await;
    }
}

/// The body of a stream. `work` fills it, and is dropped when the client goes away.
pub(super) fn pipe<W: Future<Output = ()> + Send + 'static>(
    endpoint: Endpoint,
    pace: Pace,
    work: impl FnOnce(Client) -> W,
) -> Pipe {
    let (events, receiver) = mpsc::channel(WAITING);
    let watched = events.clone();
    let work = work(Client {
        endpoint,
        events,
        pace,
    });
    tokio::spawn(async move {
        tokio::select! {
            () = watched.closed() => {}
            () = work => {}
        }
    });
    Pipe(receiver)
}

/// Why a stream ended early.
enum Cut {
    /// The provider's fault, or its time was over.
    Failed(Failed),
    /// The client's.
    Gone,
}

impl From<Gone> for Cut {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

impl From<Failed> for Cut {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

/// Passes the stream on. The call is settled when it ends: as success at its proper end, as failure or timeout when
/// it breaks, and as abandoned when it is the client who ends it.
pub(super) async fn pour(stream: Stream, call: Call, client: Client, mut record: Record) {
    record.head(StatusCode::OK);
    let passing = pass_on(stream, &call, &client, &mut record);
    let poured = timeout_at(call.due.at, passing).await;
    let failed = match poured {
        Ok(Ok(()) | Err(Cut::Gone)) => return,
        Ok(Err(Cut::Failed(failed))) => failed,
        Err(_) => call.due.passed(),
    };
    let settings = &call.target().provider.settings;
    let failed = failed.judged(settings);
    let error = failed.to_client(&settings.name);
    record.attempted(failed.ended(settings.scope));
    record.ends(End::Broken);
    call.fail(&failed);
    client.tell(&error).await;
}

async fn pass_on(
    mut stream: Stream,
    call: &Call,
    client: &Client,
    record: &mut Record,
) -> Result<(), Cut> {
    // Before the client hears of it: it may go away right then.
    let succeed = |record: &mut Record| {
        record.attempted(Ended::well(StatusCode::OK));
        record.ends(End::Complete);
        call.settle(Outcome::Success);
    };
    let endpoint = stream.endpoint;
    let mut finished = false;
    loop {
        while let Some(mut event) = stream.events.pop_front() {
            record.tokens(usage(endpoint, &event));
            match read(endpoint, &event) {
                Said::Nothing => event = endpoint.dialect().comments(&event),
                Said::Head => {}
                Said::Piece { finished: now } => finished |= now,
                Said::Done { .. } => {
                    succeed(record);
                    client.send(event).await?;
                    let _ = timeout(AFTER_DONE, drain(stream, call)).await;
                    return Ok(());
                }
                Said::Error(refusal) => return Err(Failed::from(*refusal).into()),
                Said::Broken(why) => return Err(Failed::Invalid(why.to_owned()).into()),
            }
            client.send(event).await?;
        }
        match next(&mut stream, call, client).await? {
            Some(data) => {
                let pushed = stream.splitter.push(&data, &mut stream.events);
                pushed.map_err(|_| too_long())?;
            }
            None if finished || ends(endpoint, stream.splitter.rest()) => {
                record.tokens(usage(endpoint, stream.splitter.rest()));
                succeed(record);
                let rest = Bytes::copy_from_slice(stream.splitter.rest());
                if !rest.is_empty() {
                    client.send(rest).await?;
                }
                return Ok(());
            }
            None => {
                let why = "the stream ended before its end";
                return Err(Failed::Broken(why.to_owned()).into());
            }
        }
    }
}

/// Whether what came last, though without its blank line, ends a stream well.
fn ends(endpoint: Endpoint, rest: &[u8]) -> bool {
    matches!(
        read(endpoint, rest),
        Said::Done { .. } | Said::Piece { finished: true }
    )
}

/// The next piece; while the provider is silent, the client is kept alive.
async fn next(stream: &mut Stream, call: &Call, client: &Client) -> Result<Option<Bytes>, Cut> {
    let idle = call.target().provider.settings.limits.idle.get();
    let mut next = pin!(heard(&mut stream.body, idle, &call.signs));
    loop {
        tokio::select! {
            biased;
            piece = &mut next => return Ok(piece?),
            () = sleep(client.pace.keep_alive) => client.keep_alive().await?,
        }
    }
}

async fn drain(mut stream: Stream, call: &Call) {
    while let Ok(Some(_)) = heard(&mut stream.body, AFTER_DONE, &call.signs).await {}
}

/// The body that the client gets.
#[derive(Debug)]
pub(crate) struct Pipe(mpsc::Receiver<Bytes>);

impl Body for Pipe {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0
            .poll_recv(context)
            .map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}
