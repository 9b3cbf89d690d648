//! The answer of a provider, read within its limits and looked at.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Response, StatusCode, header};
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::failed::{Failed, Limit, asked_wait};
use super::signs::Signs;
use super::way::Way;
use crate::client::Received;
use crate::config::Limits;
use crate::dialect::sse::{Splitter, read};
use crate::dialect::{Endpoint, Refusal, SHOULD_RETRY, Said, headers};

/// How much of an error's body is read.
const ERROR_BYTES: usize = 64 << 10;

/// A good answer, or the good beginning of one.
#[derive(Debug)]
pub(super) enum Answer {
    /// All of it.
    Whole {
        status: StatusCode,
        headers: HeaderMap,
        body: Bytes,
    },
    /// A stream whose first content is there.
    Stream(Stream),
}

/// A stream that has begun well.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) endpoint: Endpoint,
    pub(super) headers: HeaderMap,
    /// Whole events that have come and have not been looked at.
    pub(super) events: VecDeque<Bytes>,
    pub(super) splitter: Splitter,
    pub(super) body: Received,
}

impl Stream {
    /// Puts comments that came first before the rest.
    pub(super) fn preface(&mut self, comments: impl Iterator<Item = Bytes>) {
        let rest = std::mem::take(&mut self.events);
        self.events = comments.chain(rest).collect();
    }
}

/// The media type, in lower case and without its parameters.
pub(super) fn kind(headers: &HeaderMap) -> String {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("");
    kind.trim().to_ascii_lowercase()
}

pub(super) async fn refusal(response: Response<Received>, idle: Duration) -> Failed {
    let status = response.status();
    if status.is_redirection() || status.is_informational() {
        return Failed::Invalid(format!(
            "status {}: redirects are not followed",
            status.as_u16()
        ));
    }
    let (head, body) = response.into_parts();
    let should_retry = head.headers.get(SHOULD_RETRY);
    // Why it refused is good to know, but not worth an error of its own.
    let body = collect(body, idle).await.unwrap_or_default();
    let refusal = Refusal::of_status(status, &kind(&head.headers), &body);
    let asked = asked_wait(&head.headers);
    let mut failed = Failed::from(refusal);
    if let Failed::Refused {
        retry_after,
        is_final,
        ..
    } = &mut failed
    {
        *retry_after = asked.or(*retry_after);
        *is_final = should_retry.is_some_and(|should| should == "false");
    }
    failed
}

/// Waits for the first piece of a whole answer, which is when the provider has made up its mind.
pub(super) async fn first(
    response: Response<Received>,
    limits: &Limits,
    signs: &Signs,
) -> Result<(Response<Received>, Bytes), Failed> {
    let mut response = response;
    let first = heard(response.body_mut(), limits.idle.get(), signs).await?;
    Ok((response, first.unwrap_or_default()))
}

pub(super) async fn whole(
    response: Response<Received>,
    first: Bytes,
    limits: &Limits,
    endpoint: Endpoint,
    signs: &Signs,
) -> Result<Answer, Failed> {
    let (head, mut rest) = response.into_parts();
    let mut body = BytesMut::from(&first[..]);
    while let Some(data) = heard(&mut rest, limits.idle.get(), signs).await? {
        if body.len() + data.len() > limits.max_answer_bytes {
            let limit = limits.max_answer_bytes;
            return Err(Failed::Invalid(format!("more than {limit} bytes")));
        }
        body.extend_from_slice(&data);
    }
    let body = body.freeze();
    // JSON is UTF-8; what is skipped in it below would not be checked.
    let text = std::str::from_utf8(&body)
        .map_err(|_| Failed::Invalid("a body that is not UTF-8".to_owned()))?;
    endpoint.speech().whole(text)?;
    Ok(Answer::Whole {
        status: head.status,
        headers: headers::to_client(&head.headers),
        body,
    })
}

/// An error's body, as far as it is worth reading.
pub(super) async fn collect(mut body: Received, idle: Duration) -> Result<Bytes, Failed> {
    let mut all = BytesMut::new();
    while let Some(data) = piece(&mut body, idle).await? {
        if all.len() + data.len() > ERROR_BYTES {
            return Err(Failed::Invalid(format!("more than {ERROR_BYTES} bytes")));
        }
        all.extend_from_slice(&data);
    }
    Ok(all.freeze())
}

/// The next piece of a good answer, which is a sign of life.
pub(super) async fn heard(
    body: &mut Received,
    idle: Duration,
    signs: &Signs,
) -> Result<Option<Bytes>, Failed> {
    signs.listen();
    let piece = piece(body, idle).await?;
    if piece.is_some() {
        signs.heard();
    }
    Ok(piece)
}

/// The next piece of a body; `None` at its end.
async fn piece(body: &mut Received, idle: Duration) -> Result<Option<Bytes>, Failed> {
    loop {
        let frame = timeout(idle, body.frame()).await;
        match frame.map_err(|_| Failed::TimedOut(Limit::Idle, idle))? {
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
            Some(Err(error)) => return Err(Failed::Broken(why(&error))),
            None => return Ok(None),
        }
    }
}

/// Waits for the first event with content. What comes before it is kept: it commits to nobody.
pub(super) async fn begin(
    response: Response<Received>,
    limits: &Limits,
    way: &Way,
    signs: &Signs,
) -> Result<Stream, Failed> {
    let (head, mut body) = response.into_parts();
    let mut splitter = Splitter::new(limits.max_answer_bytes);
    let (mut kept, mut events) = (VecDeque::new(), VecDeque::new());
    let mut bytes = 0;
    loop {
        let Some(data) = heard(&mut body, limits.idle.get(), signs).await? else {
            let why = "the stream ended before its first content";
            return Err(Failed::Broken(why.to_owned()));
        };
        splitter.push(&data, &mut events).map_err(|_| too_long())?;
        while let Some(event) = events.pop_front() {
            match read(way.endpoint, &event) {
                Said::Nothing => {
                    way.comment(way.endpoint.dialect().comments(&event));
                    continue;
                }
                Said::Head => {}
                Said::Piece { .. } | Said::Done { is_answer: true } => {
                    kept.push_back(event);
                    kept.append(&mut events);
                    return Ok(Stream {
                        endpoint: way.endpoint,
                        headers: headers::to_client(&head.headers),
                        events: kept,
                        splitter,
                        body,
                    });
                }
                Said::Done { is_answer: false } => {
                    return Err(Failed::Invalid("empty".to_owned()));
                }
                Said::Error(refusal) => return Err(Failed::from(*refusal)),
                Said::Broken(why) => return Err(Failed::Invalid(why.to_owned())),
            }
            bytes += event.len();
            if bytes > limits.max_answer_bytes {
                return Err(too_long());
            }
            kept.push_back(event);
        }
    }
}

pub(super) fn too_long() -> Failed {
    Failed::Invalid("an event that does not end".to_owned())
}

/// The innermost cause of an error: the only one that says something.
pub(super) fn why(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
