//! OpenAI's responses, as <https://platform.openai.com/docs/api-reference/responses-streaming> describes their events.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::choice::Part;
use super::shape::openai;
use super::speech::{Event, NO_JSON, Said, Speech, Unfit, parse, refusal};
use super::{ApiError, Refusal, Usage};

/// An answer is a list of items. `response.completed` and `response.incomplete` end a stream well.
#[derive(Debug)]
pub(super) struct Responses;

impl Speech for Responses {
    fn whole(&self, text: &str) -> Result<(), Unfit> {
        let answer: Answer<'_> = parse(text)?;
        if answer.error.is_some()
            && let Some(refusal) = refusal(text)
        {
            return Err(refusal.into());
        }
        if answer.has_output() {
            return Ok(());
        }
        match answer.status.as_deref() {
            Some("failed") => Err(failed(None).into()),
            // Cut short before its first item, or on its way in the background.
            Some("incomplete" | "in_progress" | "queued" | "cancelled") => Ok(()),
            _ => Err(Unfit::Invalid("empty")),
        }
    }

    fn event(&self, event: Event<'_>) -> Said {
        if event.data.trim() == "[DONE]" {
            return Said::Done { is_answer: false };
        }
        let Ok(told) = event.parse::<Told<'_>>() else {
            return event.refusal(event.name == "error").unwrap_or(NO_JSON);
        };
        let kind = told.kind.as_deref().unwrap_or(event.name);
        if (kind == "error" || told.error.is_some())
            && let Some(error) = event.refusal(kind == "error")
        {
            return error;
        }
        match kind {
            "" => Said::Broken("an event without a type"),
            "response.failed" => {
                let value: Value = serde_json::from_str(event.data).unwrap_or_default();
                Said::Error(Box::new(failed(value.pointer("/response/error"))))
            }
            "response.completed" | "response.done" => Said::Done {
                is_answer: told.response.is_some_and(|answer| answer.has_output()),
            },
            "response.incomplete" | "response.cancelled" => Said::Done { is_answer: true },
            "response.created"
            | "response.in_progress"
            | "response.queued"
            | "response.content_part.added"
            | "response.reasoning_summary_part.added"
            | "keepalive" => Said::Head,
            "response.output_item.added" if told.item.is_some_and(|item| item.is_a_frame()) => {
                Said::Head
            }
            delta if delta.ends_with(".delta") && told.delta.is_some_and(|part| !part.0) => {
                Said::Head
            }
            _ => Said::Piece { finished: false },
        }
    }

    fn usage(&self, text: &[u8]) -> Option<Usage> {
        let told: Spent = serde_json::from_slice(text).ok()?;
        let tokens = told.usage.or_else(|| told.response?.usage)?;
        Usage::plausible(tokens.input_tokens, tokens.output_tokens)
    }

    /// In the shape of this protocol's own event; its clients raise what has an `error`.
    fn failure(&self, error: &ApiError) -> String {
        let mut told = openai(error);
        let own = json!({
            "type": "error", "sequence_number": 0, "param": Value::Null,
            "code": told["error"]["code"], "message": told["error"]["message"],
        });
        if let (Value::Object(told), Value::Object(own)) = (&mut told, own) {
            told.extend(own);
        }
        format!("event: error\ndata: {told}\n\n")
    }
}

/// What `response.failed` amounts to.
fn failed(error: Option<&Value>) -> Refusal {
    let said = error.and_then(Value::as_object).cloned();
    let unsaid = || Map::from_iter([("message".to_owned(), "the response failed".into())]);
    Refusal::named(said.unwrap_or_else(unsaid))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer<'a> {
    error: Option<IgnoredAny>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    output: Option<Vec<IgnoredAny>>,
}

impl Answer<'_> {
    fn has_output(&self) -> bool {
        self.output.as_ref().is_some_and(|items| !items.is_empty())
    }
}

#[derive(Deserialize)]
struct Told<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(default)]
    error: Option<IgnoredAny>,
    #[serde(borrow, default)]
    response: Option<Answer<'a>>,
    #[serde(borrow, default)]
    item: Option<Item<'a>>,
    #[serde(default)]
    delta: Option<Part>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
}

impl Item<'_> {
    /// Whether its content comes later. A call of a function has a name at once.
    fn is_a_frame(&self) -> bool {
        matches!(self.kind.as_deref(), Some("message" | "reasoning"))
    }
}

#[derive(Deserialize)]
struct Spent {
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    response: Option<SpentInside>,
}

#[derive(Deserialize)]
struct SpentInside {
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{Endpoint, Fault, sse::read};

    #[test]
    fn what_an_event_says() {
        let piece = Said::Piece { finished: false };
        let done = |is_answer| Said::Done { is_answer };
        for (data, said) in [
            (
                r#"{"type":"response.created","response":{"status":"in_progress","error":null,"output":[]}}"#,
                Said::Head,
            ),
            (
                r#"{"type":"response.output_item.added","item":{"type":"message","content":[]}}"#,
                Said::Head,
            ),
            (
                r#"{"type":"response.output_item.added","item":{"type":"function_call","name":"f"}}"#,
                piece.clone(),
            ),
            (
                r#"{"type":"response.output_text.delta","delta":""}"#,
                Said::Head,
            ),
            (
                r#"{"type":"response.output_text.delta","delta":"x"}"#,
                piece.clone(),
            ),
            (r#"{"type":"response.of_tomorrow"}"#, piece),
            (
                r#"{"type":"response.completed","response":{"output":[]}}"#,
                done(false),
            ),
            (
                r#"{"type":"response.completed","response":{"output":[{}]}}"#,
                done(true),
            ),
            (
                r#"{"type":"response.incomplete","response":{"output":[]}}"#,
                done(true),
            ),
            ("[DONE]", done(false)),
            (r#"{"choices":[]}"#, Said::Broken("an event without a type")),
            (r#"{"type":"#, NO_JSON),
        ] {
            let event = format!("data: {data}\n\n");
            assert_eq!(read(Endpoint::Responses, event.as_bytes()), said, "{data}");
        }
        for (data, status, fault) in [
            (
                r#"{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"no"}}}"#,
                429,
                Fault::Provider,
            ),
            (
                r#"{"type":"response.failed","response":{"error":null}}"#,
                500,
                Fault::Provider,
            ),
            (
                r#"{"type":"error","code":"context_length_exceeded","message":"no","param":null}"#,
                400,
                Fault::Request,
            ),
            (
                r#"{"error":{"type":"server_error","message":"no"}}"#,
                500,
                Fault::Provider,
            ),
        ] {
            let Said::Error(refusal) =
                read(Endpoint::Responses, format!("data: {data}\n\n").as_bytes())
            else {
                panic!("{data}");
            };
            assert_eq!(
                (refusal.status.as_u16(), refusal.fault),
                (status, fault),
                "{data}"
            );
        }
    }

    #[test]
    fn what_an_answer_is() {
        let whole = |text: &str| Responses.whole(text);
        assert_eq!(
            whole(r#"{"status":"completed","error":null,"output":[{}]}"#),
            Ok(())
        );
        assert_eq!(whole(r#"{"status":"queued","output":[]}"#), Ok(()));
        assert_eq!(
            whole(r#"{"status":"completed","output":[]}"#),
            Err(Unfit::Invalid("empty"))
        );
        for error in [
            r#"{"status":"failed","error":{"code":"server_error","message":"no"},"output":[]}"#,
            r#"{"status":"failed","output":[]}"#,
        ] {
            assert!(matches!(whole(error), Err(Unfit::Refused(_))), "{error}");
        }
    }
}
