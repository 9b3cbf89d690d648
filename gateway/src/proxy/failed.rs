//! How an attempt can fail, and what that means to whom.
//!
//! Three questions, three functions: is it [worth another attempt](Failed::is_worth_retrying) at the same provider, what
//! does it [say of the provider's health](Failed::report), and [may another provider](Failed::may_move_on) do better?

use std::time::{Duration, SystemTime};

use cutout::adapters::http::retry_after;
use cutout::verdict::{Verdict, Verdicts};
use cutout::{Outcome, Report};
use http::StatusCode;

use crate::client::ProxyError;
use crate::config::{self, Scope};
use crate::dialect::{self, ApiError, Fault, Refusal, Unfit};
use crate::providers::Target;
use crate::requests::Ended;
use crate::suspension::{Cause, Suspension};

/// An attempt that brought no answer.
#[derive(Clone, Debug)]
pub(crate) enum Failed {
    /// No connection could be made.
    Unreachable(String),
    /// The proxy on the way there made no connection.
    Proxy(ProxyError),
    /// The connection broke before the answer was whole.
    Broken(String),
    /// A limit passed.
    TimedOut(Limit, Duration),
    /// The provider answered with an error, by its status or inside a 200.
    Refused {
        /// What it said.
        refusal: Box<Refusal>,
        /// The wait that it asked for.
        retry_after: Option<Duration>,
        /// Whether it said that another try is useless.
        is_final: bool,
        /// What the file says that its status means, if it does.
        ruled: Option<Verdict>,
    },
    /// The answer was not one of the protocol, or empty.
    Invalid(String),
}

/// Which limit passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// To accept a connection.
    Connect,
    /// To the first content of a stream.
    FirstByte,
    /// To the first byte of a whole answer.
    Whole,
    /// Between two pieces of it.
    Idle,
    /// To its end.
    Total,
    /// The route's, for everything. It says nothing of the provider that was asked last.
    Deadline,
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self::Refused {
            retry_after: refusal.asked_wait().and_then(believed),
            refusal: Box::new(refusal),
            is_final: false,
            ruled: None,
        }
    }
}

impl From<Unfit> for Failed {
    fn from(unfit: Unfit) -> Self {
        match unfit {
            Unfit::Refused(refusal) => Self::from(*refusal),
            Unfit::Invalid(why) => Self::Invalid(why.to_owned()),
        }
    }
}

impl Failed {
    /// It as its provider's rules have it.
    #[must_use]
    pub(crate) fn judged(mut self, provider: &config::Provider) -> Self {
        if let Self::Refused {
            refusal,
            retry_after,
            ruled,
            ..
        } = &mut self
        {
            if let Some(fault) = config::fault_of(&provider.faults, refusal) {
                refusal.fault = fault;
            }
            let status = refusal.status.as_u16();
            *ruled = provider.verdicts.ruled(status);
            if !provider.verdicts.of(status).waits {
                *retry_after = None;
            }
        }
        self
    }

    /// Whether the same provider may do better in a moment. A limit that passed has cost enough time already, and what
    /// is not of the protocol will not be the next time.
    pub(crate) fn is_worth_retrying(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Broken(_) => true,
            // What it forbids it will forbid again; what it could not do it may.
            Self::Proxy(error) => error.status.is_none_or(|status| status.is_server_error()),
            Self::Refused {
                refusal,
                is_final,
                ruled,
                ..
            } => {
                let may = match ruled {
                    Some(verdict) => verdict.retry,
                    None => refusal.fault == Fault::Provider && verdict(refusal.status).retry,
                };
                may && !is_final
            }
            Self::TimedOut(..) | Self::Invalid(_) => false,
        }
    }

    /// What it says of the health of what the breaker guards. A provider that refuses what is the client's or the key's fault
    /// lives; so does one that does not have the model, unless the breaker guards that model alone.
    pub(crate) fn report(&self, scope: Scope) -> Report {
        let outcome = match self {
            Self::TimedOut(Limit::Deadline, _) => Outcome::Ignored,
            Self::TimedOut(..) => Outcome::Timeout,
            Self::Refused {
                ruled: Some(verdict),
                ..
            } => verdict.outcome,
            Self::Refused { refusal, .. } => match refusal.fault {
                Fault::Provider => verdict(refusal.status).outcome,
                Fault::Absent if scope == Scope::Model => Outcome::Failure,
                // It lives, and said no.
                _ => Outcome::Answered,
            },
            _ => Outcome::Failure,
        };
        let mut report = Report::from(outcome);
        report.retry_after = self.retry_after();
        if matches!(outcome, Outcome::Failure | Outcome::Timeout) {
            report = report.label(self.what().as_str());
        }
        report
    }

    /// Whether another provider may do better: yes, unless the request itself is at fault, or its time is over.
    pub(crate) fn may_move_on(&self) -> bool {
        match self {
            Self::Refused { refusal, .. } => refusal.fault != Fault::Request,
            Self::TimedOut(Limit::Deadline, _) => false,
            _ => true,
        }
    }

    /// Why another model may answer what this one does not take.
    pub(crate) fn cause(&self) -> Option<dialect::Cause> {
        match self {
            Self::Refused { refusal, .. } => refusal.cause(),
            _ => None,
        }
    }

    /// Why the target is to be left out from now on, if it is.
    pub(crate) fn suspension(&self, target: &Target) -> Option<Suspension> {
        let Self::Refused { refusal, .. } = self else {
            return None;
        };
        let cause = match refusal.fault {
            Fault::Key => Cause::Key,
            Fault::Credit => Cause::Credit,
            _ => return None,
        };
        let lasts = target.provider.settings.suspend.get();
        let status = refusal.status.as_u16();
        Some(Suspension::new(
            &target.model,
            cause,
            status,
            refusal.masked(),
            lasts,
        ))
    }

    /// The wait that the provider asked for.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// How much it tells a client, of several failures the one that is shown.
    pub(crate) fn weight(&self) -> u8 {
        match self {
            Self::Refused { refusal, .. } => match (refusal.fault, refusal.status) {
                (Fault::Provider, StatusCode::TOO_MANY_REQUESTS) => 5,
                (Fault::Provider, _) => 6,
                _ => 1,
            },
            Self::TimedOut(..) => 4,
            Self::Invalid(_) => 3,
            Self::Broken(_) | Self::Unreachable(_) | Self::Proxy(_) => 2,
        }
    }

    /// It as the log of requests has it.
    pub(crate) fn ended(&self, scope: Scope) -> Ended {
        Ended {
            status: match self {
                Self::Refused { refusal, .. } => Some(refusal.status),
                _ => None,
            },
            outcome: self.report(scope).outcome,
            error: Some(self.what()),
            said: match self {
                Self::Refused { refusal, .. } => refusal.masked().chars().take(200).collect(),
                _ => String::new(),
            },
        }
    }

    /// It in a few words.
    pub(crate) fn what(&self) -> String {
        match self {
            Self::Unreachable(why) => format!("unreachable ({why})"),
            Self::Proxy(error) => error.to_string(),
            Self::Broken(why) => format!("connection broke ({why})"),
            Self::TimedOut(limit, after) => format!("{} limit of {after:?} passed", limit.name()),
            Self::Refused { refusal, .. } => {
                let inside = if refusal.inside { " inside a 200" } else { "" };
                format!("status {}{inside}", refusal.status.as_u16())
            }
            Self::Invalid(why) => format!("invalid answer ({why})"),
        }
    }

    /// It as the client is told, when there is nothing better.
    pub(crate) fn to_client(&self, provider: &str) -> ApiError {
        let bad = |code, message| ApiError::server(StatusCode::BAD_GATEWAY, code, message);
        match self {
            Self::Refused {
                refusal,
                retry_after,
                ..
            } => {
                let (status, said) = (refusal.status, refusal.message());
                match (refusal.fault, status.as_u16()) {
                    (Fault::Key, _) => {
                        let message = format!("{provider} refused the gateway's key: {status}");
                        bad("provider_refused_key", message)
                    }
                    (Fault::Provider, 429) => {
                        let mut error = ApiError::server(status, "rate_limit_exceeded", said);
                        error.kind = "rate_limit_error";
                        error.retry_after = *retry_after;
                        error.words(refusal.error.clone())
                    }
                    (Fault::Provider, _) => bad(
                        "provider_error",
                        format!("{provider} answered {status}: {said}"),
                    ),
                    (Fault::Absent, 404) => ApiError::invalid(status, "model_not_found", said)
                        .words(refusal.error.clone()),
                    (Fault::Credit, _) => ApiError::server(status, "insufficient_quota", said)
                        .words(refusal.error.clone()),
                    (Fault::Request | Fault::Absent, _) => {
                        ApiError::invalid(client_error(status), "refused_by_provider", said)
                            .words(refusal.error.clone())
                    }
                }
            }
            Self::TimedOut(Limit::Deadline, after) => {
                let message = format!("no answer within {after:?}, the deadline of this model");
                ApiError::server(StatusCode::GATEWAY_TIMEOUT, "deadline", message)
            }
            Self::TimedOut(..) => {
                let message = format!("{provider}: {}", self.what());
                ApiError::server(StatusCode::GATEWAY_TIMEOUT, "provider_timeout", message)
            }
            Self::Invalid(_) => bad(
                "invalid_provider_answer",
                format!("{provider}: {}", self.what()),
            ),
            Self::Proxy(_) => bad("proxy_failed", format!("{provider}: {}", self.what())),
            Self::Unreachable(_) | Self::Broken(_) => bad(
                "provider_unreachable",
                format!("{provider}: {}", self.what()),
            ),
        }
    }
}

/// A request that is at fault is told so, also by a provider which says it with the status of its own failures.
fn client_error(status: StatusCode) -> StatusCode {
    if status.is_client_error() {
        status
    } else {
        StatusCode::BAD_REQUEST
    }
}

impl Limit {
    const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::FirstByte => "first-byte",
            Self::Whole => "whole-answer",
            Self::Idle => "idle",
            Self::Total => "total",
            Self::Deadline => "deadline",
        }
    }
}

/// The longest wait that a provider is believed.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// The wait that an answer asks for. A wait of nothing is none.
pub(crate) fn asked_wait(headers: &http::HeaderMap) -> Option<Duration> {
    believed(retry_after(headers, SystemTime::now())?)
}

fn believed(wait: Duration) -> Option<Duration> {
    (!wait.is_zero()).then_some(wait.min(LONGEST_WAIT))
}

/// The core's one table says what a status means.
fn verdict(status: StatusCode) -> Verdict {
    Verdicts::http().of(status.as_u16())
}
