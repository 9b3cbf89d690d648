//! One attempt at one provider: the request sent once, the answer read within its limits and looked at.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::time::{Instant, timeout, timeout_at};

use super::ask::Ask;
use super::failed::{Failed, Limit, retry_after};
use crate::config::Limits;
use crate::dialect::headers;
use crate::dialect::sse::{Said, Splitter, read};
use crate::providers::{Endpoint, Target};

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
    /// A stream whose first event is there.
    Stream(Stream),
}

/// A stream that has begun well.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) headers: HeaderMap,
    /// Whole events that have come and have not been looked at.
    pub(super) events: VecDeque<Bytes>,
    pub(super) splitter: Splitter,
    pub(super) body: Incoming,
}

/// Sends the request and waits for the answer, or for the first event of a stream.
///
/// # Cancel safety
///
/// Dropping the future closes the connection, so that the provider stops too.
pub(super) async fn attempt(
    target: &Target,
    endpoint: Endpoint,
    ask: &Ask,
) -> Result<Answer, Failed> {
    let limits = &target.provider.settings.limits;
    let first_byte = limits.first_byte.get();
    let due = Instant::now() + first_byte;
    let late = |_| Failed::TimedOut(Limit::FirstByte, first_byte);
    let request = request(target, endpoint, ask);
    let sent = target.provider.client.send(request);
    let unsent = |error| unsent(&error, limits.connect.get());
    let response = timeout_at(due, sent).await.map_err(late)?.map_err(unsent)?;
    if !response.status().is_success() {
        return Err(refusal(response, limits.idle.get()).await);
    }
    if response
        .headers()
        .get(header::CONTENT_ENCODING)
        .is_some_and(|coding| coding != "identity")
    {
        return Err(Failed::Invalid(
            "compressed, though not asked to be".to_owned(),
        ));
    }
    match (kind(&response).as_str(), ask.stream) {
        ("text/event-stream", true) => {
            let begun = begin(response, limits);
            timeout_at(due, begun)
                .await
                .map_err(late)?
                .map(Answer::Stream)
        }
        ("application/json", false) => whole(response, limits).await,
        (kind, stream) => {
            let wanted = if stream { "a stream" } else { "JSON" };
            Err(Failed::Invalid(format!("{kind:?} in place of {wanted}")))
        }
    }
}

fn request(target: &Target, endpoint: Endpoint, ask: &Ask) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(ask.body_for(&target.model)));
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = target.provider.uri(endpoint).clone();
    let headers = request.headers_mut();
    *headers = ask.headers.clone();
    let accepted = if ask.stream {
        "text/event-stream"
    } else {
        "application/json"
    };
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(header::ACCEPT, HeaderValue::from_static(accepted));
    // So that the answer can be looked at.
    headers.insert(
        header::ACCEPT_ENCODING,
        HeaderValue::from_static("identity"),
    );
    if let Some(key) = &target.provider.authorization {
        headers.insert(header::AUTHORIZATION, key.clone());
    }
    request
}

/// The media type, in lower case and without its parameters.
fn kind(response: &Response<Incoming>) -> String {
    let kind = response.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("");
    kind.trim().to_ascii_lowercase()
}

async fn refusal(response: Response<Incoming>, idle: Duration) -> Failed {
    let status = response.status();
    if status.is_redirection() || status.is_informational() {
        return Failed::Invalid(format!(
            "status {}: redirects are not followed",
            status.as_u16()
        ));
    }
    let retry_after = retry_after(response.headers());
    // Why it refused is good to know, but not worth an error of its own.
    let body = collect(response.into_body(), ERROR_BYTES, idle)
        .await
        .unwrap_or_default();
    Failed::Status {
        status,
        retry_after,
        body,
    }
}

async fn whole(response: Response<Incoming>, limits: &Limits) -> Result<Answer, Failed> {
    let (head, body) = response.into_parts();
    let body = collect(body, limits.max_answer_bytes, limits.idle.get()).await?;
    let invalid = |why: &str| Failed::Invalid(why.to_owned());
    // JSON is UTF-8; what is skipped in it below would not be checked.
    let text = std::str::from_utf8(&body).map_err(|_| invalid("a body that is not UTF-8"))?;
    let looked: Whole =
        serde_json::from_str(text).map_err(|_| invalid("a body that is not a JSON object"))?;
    if looked.error.is_some() {
        return Err(Failed::Status {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            retry_after: None,
            body,
        });
    }
    Ok(Answer::Whole {
        status: head.status,
        headers: headers::to_client(&head.headers),
        body,
    })
}

/// What of a whole answer matters here.
#[derive(Deserialize)]
struct Whole {
    #[serde(default)]
    error: Option<IgnoredAny>,
}

async fn collect(mut body: Incoming, limit: usize, idle: Duration) -> Result<Bytes, Failed> {
    let mut all = BytesMut::new();
    while let Some(data) = piece(&mut body, idle).await? {
        if all.len() + data.len() > limit {
            return Err(Failed::Invalid(format!("more than {limit} bytes")));
        }
        all.extend_from_slice(&data);
    }
    Ok(all.freeze())
}

/// The next piece of a body; `None` at its end.
pub(super) async fn piece(body: &mut Incoming, idle: Duration) -> Result<Option<Bytes>, Failed> {
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

/// Waits for the first event that says something.
async fn begin(response: Response<Incoming>, limits: &Limits) -> Result<Stream, Failed> {
    let (head, mut body) = response.into_parts();
    let mut splitter = Splitter::new(limits.max_answer_bytes);
    let mut events = VecDeque::new();
    loop {
        let Some(data) = piece(&mut body, limits.idle.get()).await? else {
            return Err(Failed::Broken(
                "the stream ended before its first event".to_owned(),
            ));
        };
        splitter.push(&data, &mut events).map_err(|_| too_long())?;
        match events
            .iter()
            .map(|event| read(event))
            .find(|said| *said != Said::Nothing)
        {
            None => {}
            Some(Said::Error(error)) => return Err(Failed::ErrorEvent(error)),
            Some(Said::Broken(why)) => return Err(Failed::Invalid(why.to_owned())),
            Some(Said::Nothing | Said::Piece { .. } | Said::Done) => {
                return Ok(Stream {
                    headers: headers::to_client(&head.headers),
                    events,
                    splitter,
                    body,
                });
            }
        }
    }
}

pub(super) fn too_long() -> Failed {
    Failed::Invalid("an event that does not end".to_owned())
}

/// The innermost cause of an error: the only one that says something.
fn why(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// What kept a request from being answered.
fn unsent(error: &hyper_util::client::legacy::Error, connect: Duration) -> Failed {
    let why = why(error);
    if !error.is_connect() {
        return Failed::Broken(why);
    }
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let kind = cause
            .downcast_ref::<std::io::Error>()
            .map(std::io::Error::kind);
        if kind == Some(std::io::ErrorKind::TimedOut) {
            return Failed::TimedOut(Limit::Connect, connect);
        }
        source = cause.source();
    }
    Failed::Unreachable(why)
}
