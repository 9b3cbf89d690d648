//! Whose fault an error is, by the names and words that providers have for it, and which status goes with a name.

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Whose fault a refusal is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Fault {
    /// The request's: every provider would refuse it.
    Request,
    /// The key's, which the gateway has at the provider.
    Key,
    /// The account's of that key: it has nothing left to spend.
    Credit,
    /// Nobody's: this provider does not have what was asked for, and another may.
    Absent,
    /// The provider's.
    Provider,
}

/// The status that an error inside a 200 amounts to.
pub(super) fn status_inside(error: &Map<String, Value>) -> Option<StatusCode> {
    let number = |field| {
        let value = error.get(field)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        let number = u16::try_from(number).ok()?;
        (400..600).contains(&number).then_some(number)
    };
    let name = |field| status_named(error.get(field)?.as_str()?);
    let status = number("code")
        .or_else(|| number("status"))
        .or_else(|| name("code"))
        .or_else(|| name("status"))
        .or_else(|| name("type"))?;
    StatusCode::from_u16(status).ok()
}

/// The status that goes with a name, as the providers' own references have them.
fn status_named(name: &str) -> Option<u16> {
    Some(match name.to_ascii_lowercase().as_str() {
        "context_length_exceeded"
        | "string_above_max_length"
        | "content_filter"
        | "content_policy_violation"
        | "responsibleaipolicyviolation"
        | "invalid_prompt"
        | "invalid_request_error"
        | "invalid_request"
        | "badrequesterror"
        | "bad_request"
        | "invalid_argument"
        | "failed_precondition"
        | "unsupported_parameter"
        | "invalid_value" => 400,
        "invalid_api_key"
        | "authentication_error"
        | "account_deactivated"
        | "unauthenticated"
        | "unauthorized" => 401,
        "payment_required" | "insufficient_balance" | "billing_error" => 402,
        "permission_error" | "permission_denied" | "forbidden" => 403,
        "model_not_found" | "not_found_error" | "not_found" => 404,
        "request_too_large" => 413,
        "rate_limit_exceeded"
        | "rate_limit_error"
        | "resource_exhausted"
        | "insufficient_quota"
        | "billing_hard_limit_reached"
        | "billing_not_active"
        | "tokens"
        | "requests" => 429,
        "unavailable" | "service_unavailable" | "service_unavailable_error" => 503,
        "timeout" | "timeout_error" | "deadline_exceeded" => 504,
        "overloaded" | "overloaded_error" => 529,
        _ => return None,
    })
}

/// Whose fault it is that goes by such a name, whatever the status.
fn fault_named(name: &str) -> Option<Fault> {
    Some(match name.to_ascii_lowercase().as_str() {
        "context_length_exceeded"
        | "string_above_max_length"
        | "content_filter"
        | "content_policy_violation"
        | "responsibleaipolicyviolation"
        | "invalid_prompt" => Fault::Request,
        "invalid_api_key" | "account_deactivated" | "api_key_invalid" => Fault::Key,
        "insufficient_quota"
        | "billing_hard_limit_reached"
        | "billing_not_active"
        | "insufficient_balance"
        | "billing_error" => Fault::Credit,
        "model_not_found" => Fault::Absent,
        _ => return None,
    })
}

/// Whose fault an error is by its own words.
pub(super) fn fault_in(error: &Map<String, Value>) -> Option<Fault> {
    let names = ["code", "type"].map(|field| error.get(field).and_then(Value::as_str));
    let reasons = details(error).filter_map(|detail| detail["reason"].as_str());
    let mut names = names.into_iter().flatten().chain(reasons);
    names
        .find_map(fault_named)
        .or_else(|| fault_told(error.get("message")?.as_str()?))
}

/// Whose fault it is by what it says, where no name does.
fn fault_told(message: &str) -> Option<Fault> {
    // Anthropic's way to say it, with the status 400.
    let is_spent = message.contains("credit balance is too low");
    is_spent.then_some(Fault::Credit)
}

/// The details of Google's errors.
pub(super) fn details(error: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let details = error.get("details").and_then(Value::as_array);
    details.into_iter().flatten()
}

/// Whose fault an error is by its status.
pub(super) fn fault_of(status: StatusCode) -> Fault {
    match status.as_u16() {
        401 | 403 => Fault::Key,
        402 => Fault::Credit,
        404 | 405 | 410 | 415 | 421 | 426 => Fault::Absent,
        408 | 409 | 425 | 429 => Fault::Provider,
        400..500 => Fault::Request,
        _ => Fault::Provider,
    }
}
