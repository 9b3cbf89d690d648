//! A stream on its way to the client, and what it came to.
//!
//! A task of its own reads the provider, so that a client that does not read holds it for a limited
//! time only, and one that goes away frees it at once.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use cutout::Outcome;
use http::StatusCode;
use http_body::{Body, Frame};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, timeout, timeout_at};

use super::attempt::{Stream, piece, too_long};
use super::call::Call;
use super::failed::{Failed, Limit};
use crate::dialect::Usage;
use crate::dialect::sse::{Said, read};
use crate::requests::{End, Ended, Record};

/// How many events may wait for the client.
const WAITING: usize = 16;

/// How long a provider may take to end its answer after `[DONE]`, for its connection to be used again.
const AFTER_DONE: Duration = Duration::from_millis(100);

/// Starts to pass the stream on. The call is settled when it ends: as success at its proper end, as failure or timeout when
/// it breaks, and as ignored when it is the client who ends it.
pub(super) fn pour(
    stream: Stream,
    call: Call,
    stall: Duration,
    place: OwnedSemaphorePermit,
    mut record: Record,
) -> Pipe {
    record.head(StatusCode::OK);
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let limits = &call.target().provider.settings.limits;
        let mut pouring = Pouring {
            idle: limits.idle.get(),
            total: limits.total.get(),
            due: call.due,
            call: Some(call),
            client: &sender,
            stall,
            record,
            end: End::ClientGone,
        };
        tokio::select! {
            () = sender.closed() => {}
            () = pouring.pour(stream) => {}
        }
        let Pouring { record, end, .. } = pouring;
        record.end(end);
        drop(place);
    });
    Pipe(receiver)
}

struct Pouring<'a> {
    /// Until it is settled.
    call: Option<Call>,
    client: &'a mpsc::Sender<Bytes>,
    due: Instant,
    total: Duration,
    idle: Duration,
    stall: Duration,
    record: Record,
    /// How it ends, as far as that is known.
    end: End,
}

/// Why a stream ended early.
enum Cut {
    /// The provider's fault.
    Failed(Failed),
    /// The provider's fault, and it has told the client itself.
    Told(Failed),
    /// The client's.
    Client,
}

impl Pouring<'_> {
    async fn pour(&mut self, stream: Stream) {
        let provider = self
            .call
            .as_ref()
            .map(|call| call.target().provider.settings.name.clone());
        let cut = match timeout_at(self.due, self.pass_on(stream)).await {
            Ok(Ok(())) => return,
            Ok(Err(cut)) => cut,
            Err(_) => Cut::Failed(Failed::TimedOut(Limit::Total, self.total)),
        };
        let Some(call) = self.call.take() else { return };
        match cut {
            Cut::Client => drop(call),
            Cut::Told(failed) => self.fail(call, &failed),
            Cut::Failed(failed) => {
                self.fail(call, &failed);
                let error = failed.to_client(&provider.unwrap_or_default()).body();
                let event = Bytes::from(format!("data: {error}\n\n"));
                let _ = self.send(event).await;
            }
        }
    }

    fn fail(&mut self, call: Call, failed: &Failed) {
        let scope = call.target().provider.settings.scope;
        self.record.attempted(failed.ended(scope));
        self.end = End::Broken;
        call.fail(failed);
    }

    async fn pass_on(&mut self, mut stream: Stream) -> Result<(), Cut> {
        let mut finished = false;
        loop {
            while let Some(event) = stream.events.pop_front() {
                self.record.tokens(|| Usage::of_event(&event));
                match read(&event) {
                    Said::Nothing => {}
                    Said::Piece { finished: now } => finished |= now,
                    Said::Done => {
                        // Before the client hears of it: it may go away right then.
                        self.succeed();
                        self.send(event).await?;
                        let _ = timeout(AFTER_DONE, drain(stream)).await;
                        return Ok(());
                    }
                    Said::Error(error) => {
                        let _ = self.send(event).await;
                        return Err(Cut::Told(Failed::ErrorEvent(error)));
                    }
                    Said::Broken(why) => return Err(Cut::Failed(Failed::Invalid(why.to_owned()))),
                }
                self.send(event).await?;
            }
            match piece(&mut stream.body, self.idle)
                .await
                .map_err(Cut::Failed)?
            {
                Some(data) => {
                    let pushed = stream.splitter.push(&data, &mut stream.events);
                    pushed.map_err(|_| Cut::Failed(too_long()))?;
                }
                None if finished || read(stream.splitter.rest()) == Said::Done => {
                    self.succeed();
                    let rest = Bytes::copy_from_slice(stream.splitter.rest());
                    return if rest.is_empty() {
                        Ok(())
                    } else {
                        self.send(rest).await
                    };
                }
                None => {
                    let why = "the stream ended before its end";
                    return Err(Cut::Failed(Failed::Broken(why.to_owned())));
                }
            }
        }
    }

    fn succeed(&mut self) {
        if let Some(call) = self.call.take() {
            self.record.attempted(Ended::well(StatusCode::OK));
            self.end = End::Complete;
            call.settle(Outcome::Success);
        }
    }

    async fn send(&self, event: Bytes) -> Result<(), Cut> {
        match timeout(self.stall, self.client.send(event)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Cut::Client),
        }
    }
}

async fn drain(mut stream: Stream) {
    while let Ok(Some(_)) = piece(&mut stream.body, AFTER_DONE).await {}
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
