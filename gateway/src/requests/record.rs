//! One request from its first byte in to its last byte out.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use cutout::Outcome;
use http::{HeaderMap, StatusCode};
use serde::Serialize;

use super::Requests;
use super::traffic::CameTo;
use crate::auth::KeyName;
use crate::dialect::{Endpoint, Usage};
use crate::metrics;
use crate::providers::Target;

/// What is remembered of a text that a client chose.
const LONGEST: usize = 200;

/// How an answer ended, as far as the client can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    /// All of it was handed over.
    Complete,
    /// It broke off after its head: the client has half of it, and was told so.
    Broken,
    /// The client went away before its end.
    ClientGone,
}

/// An account of one request. Dropping it says that the client has gone, unless its end was said before.
#[derive(Debug)]
pub(crate) struct Record {
    kept: Arc<Requests>,
    since: Instant,
    first_byte: Option<Duration>,
    /// What the answer has said of its tokens.
    used: Usage,
    line: Line,
    attempts: Mutex<Attempts>,
}

/// A line of the log, in the order of its fields.
#[derive(Debug, Serialize)]
struct Line {
    ts: String,
    id: String,
    key: Option<Arc<str>>,
    endpoint: &'static str,
    route: Option<String>,
    model: Option<String>,
    stream: bool,
    target: Option<String>,
    status: Option<u16>,
    end: End,
    error: Option<String>,
    first_byte_ms: Option<f64>,
    duration_ms: f64,
    tokens_in: Option<u64>,
    tokens_out: Option<u64>,
    attempts: Vec<Attempt>,
}

/// One request to a target.
#[derive(Debug, Serialize)]
struct Attempt {
    target: String,
    status: Option<u16>,
    outcome: &'static str,
    error: Option<String>,
    duration_ms: f64,
}

#[derive(Debug, Default)]
struct Attempts {
    ended: Vec<Attempt>,
    open: Option<Open>,
}

/// An attempt in flight.
#[derive(Debug)]
struct Open {
    target: String,
    breaker: String,
    since: Instant,
}

/// What an attempt came to.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The status, if an answer came.
    pub(crate) status: Option<StatusCode>,
    /// What the breaker was told.
    pub(crate) outcome: Outcome,
    /// What went wrong, in a few words.
    pub(crate) error: Option<String>,
    /// What the target said itself, without what may be a key. It may repeat what it was asked: for operators who look,
    /// and for no log.
    pub(crate) said: String,
}

impl Ended {
    /// A good answer.
    pub(crate) fn well(status: StatusCode) -> Self {
        Self {
            status: Some(status),
            outcome: Outcome::Success,
            error: None,
            said: String::new(),
        }
    }
}

impl Record {
    /// Of a request that has just come, with these headers.
    pub(crate) fn new(kept: &Arc<Requests>, endpoint: Endpoint, headers: &HeaderMap) -> Self {
        Self {
            kept: Arc::clone(kept),
            since: Instant::now(),
            first_byte: None,
            used: Usage::default(),
            line: Line {
                ts: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
                id: id(headers),
                key: None,
                endpoint: endpoint.name(),
                route: None,
                model: None,
                stream: false,
                target: None,
                status: None,
                end: End::ClientGone,
                error: None,
                first_byte_ms: None,
                duration_ms: 0.0,
                tokens_in: None,
                tokens_out: None,
                attempts: Vec::new(),
            },
            attempts: Mutex::default(),
        }
    }

    /// The request's name: the client's own, if it gave a fit one.
    pub(crate) fn id(&self) -> &str {
        &self.line.id
    }

    /// The name of the client's key.
    pub(crate) fn key(&mut self, name: Option<&KeyName>) {
        self.line.key = name.map(|name| Arc::clone(&name.0));
    }

    /// What the client asks for.
    pub(crate) fn asks(&mut self, model: &str, stream: bool) {
        self.line.model = Some(model.chars().take(LONGEST).collect());
        self.line.stream = stream;
    }

    /// The route that it leads to.
    pub(crate) fn route(&mut self, model: &str) {
        self.line.route = Some(model.to_owned());
    }

    /// A request goes to a target.
    pub(crate) fn begin(&self, target: &Target) {
        self.lock().open = Some(Open {
            target: target.name(),
            breaker: target.upstream.name.clone(),
            since: Instant::now(),
        });
    }

    /// What came of the attempt in flight; nothing if there is none.
    pub(crate) fn attempted(&self, ended: Ended) {
        let Ended { said, error, .. } = ended;
        let failed = matches!(ended.outcome, Outcome::Failure | Outcome::Timeout);
        let full = error
            .clone()
            .filter(|_| failed)
            .map(|error| match said.as_str() {
                "" => error,
                said => format!("{error}: {said}"),
            });
        self.close(ended.status, named(ended.outcome), error, full);
    }

    fn close(
        &self,
        status: Option<StatusCode>,
        outcome: &'static str,
        error: Option<String>,
        full: Option<String>,
    ) {
        let mut attempts = self.lock();
        let Some(open) = attempts.open.take() else {
            return;
        };
        let status = status.map(|status| status.as_u16());
        metrics::attempt(&open.target, status, outcome);
        let traffic = &self.kept.traffic;
        traffic.attempt(&open.breaker, full);
        attempts.ended.push(Attempt {
            target: open.target,
            status,
            outcome,
            error,
            duration_ms: millis(open.since.elapsed()),
        });
    }

    /// The answer is this target's.
    pub(crate) fn answered_by(&mut self, target: &Target) {
        self.line.target = Some(target.name());
    }

    /// The head of the answer, and a first byte of it, are on their way.
    pub(crate) fn head(&mut self, status: StatusCode) {
        self.line.status = Some(status.as_u16());
        self.first_byte.get_or_insert_with(|| self.since.elapsed());
    }

    /// The answer is an error of the gateway's own, or one that it passes on.
    pub(crate) fn refused(&mut self, status: StatusCode, code: &str) {
        self.head(status);
        self.line.error = Some(code.chars().take(LONGEST).collect());
    }

    /// What a part of the answer says of its tokens.
    pub(crate) fn tokens(&mut self, told: Option<Usage>) {
        if let Some(usage) = told {
            self.used = self.used.then(usage);
        }
    }

    /// How the answer ends, if the account ends now.
    pub(crate) fn ends(&mut self, end: End) {
        self.line.end = end;
    }

    /// How the answer ended, which is the end of the account.
    pub(crate) fn end(mut self, end: End) {
        self.ends(end);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Attempts> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.close(None, "abandoned", None, None);
        let took = self.since.elapsed();
        let line = &mut self.line;
        line.attempts = std::mem::take(
            &mut self
                .attempts
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner)
                .ended,
        );
        line.tokens_in = self.used.input;
        line.tokens_out = self.used.output;
        line.duration_ms = millis(took);
        line.first_byte_ms = self.first_byte.map(millis);
        let status = match line.end {
            End::Complete => line
                .status
                .map_or_else(String::new, |status| status.to_string()),
            End::Broken => "broken".to_owned(),
            End::ClientGone => "client_gone".to_owned(),
        };
        metrics::request(&metrics::Request {
            endpoint: line.endpoint,
            route: line.route.as_deref(),
            target: line.target.as_deref(),
            status,
            first_byte: self.first_byte,
            took,
        });
        if let (Some(route), Some(target)) = (&line.route, &line.target) {
            let key = line.key.as_deref().unwrap_or_default();
            metrics::tokens(key, route, target, self.used);
            self.kept.ledger.spend(key, route, target, self.used);
        }
        let came_to = match (line.end, line.status) {
            (End::Broken, _) | (End::Complete, Some(429 | 500..)) => CameTo::Failure,
            (End::Complete, Some(..400)) => CameTo::Answer,
            _ => CameTo::Neither,
        };
        if let Some(route) = &line.route {
            let target = line.target.as_deref();
            self.kept.traffic.request(route, target, came_to);
        }
        if self.kept.log.is_on()
            && let Ok(mut text) = serde_json::to_vec(&self.line)
        {
            text.push(b'\n');
            self.kept.log.line(&text);
        }
    }
}

/// An outcome as the log and the metrics name it.
fn named(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Success => "success",
        Outcome::Answered => "answered",
        Outcome::Failure => "failure",
        Outcome::Timeout => "timeout",
        _ => "ignored",
    }
}

/// The client's own id if it is short and plain, or a new one.
fn id(headers: &HeaderMap) -> String {
    let given = headers.get("x-request-id").and_then(|id| id.to_str().ok());
    let is_plain = |id: &&str| {
        (1..=64).contains(&id.len())
            && id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    given
        .filter(is_plain)
        .map_or_else(|| format!("{:032x}", fastrand::u128(..)), str::to_owned)
}

/// Milliseconds to a thousandth.
fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
