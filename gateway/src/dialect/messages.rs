//! Anthropic's messages, as <https://docs.anthropic.com/en/docs/build-with-claude/streaming> describes their events.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::choice::Part;
use super::shape::anthropic;
use super::speech::{Event, NO_JSON, Said, Speech, Unfit, parse, refusal};
use super::{ApiError, Usage};

/// An answer is a list of blocks. `message_stop` ends a stream well, and so does its end after a stop reason.
#[derive(Debug)]
pub(super) struct Messages;

impl Speech for Messages {
    fn whole(&self, text: &str) -> Result<(), Unfit> {
        let answer: Answer = parse(text)?;
        if answer.error.is_some()
            && let Some(refusal) = refusal(text)
        {
            return Err(refusal.into());
        }
        let has_some = |content: Vec<Part>| content.iter().any(|part| part.0);
        // To stop without a word is an answer too.
        if answer.stop_reason.is_some() || answer.content.is_some_and(has_some) {
            Ok(())
        } else {
            Err(Unfit::Invalid("empty"))
        }
    }

    fn event(&self, event: Event<'_>) -> Said {
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
            "message_start" | "ping" | "content_block_stop" => Said::Head,
            "content_block_start" if !told.content_block.is_some_and(|part| part.0) => Said::Head,
            "content_block_delta" if !told.has_delta() => Said::Head,
            "message_delta" if told.stops() => Said::Piece { finished: true },
            "message_delta" => Said::Head,
            "message_stop" => Said::Done { is_answer: false },
            _ => Said::Piece { finished: false },
        }
    }

    fn usage(&self, text: &[u8]) -> Option<Usage> {
        let told: Spent = serde_json::from_slice(text).ok()?;
        let tokens = told.usage.or_else(|| told.message?.usage)?;
        let cached = [
            tokens.cache_creation_input_tokens,
            tokens.cache_read_input_tokens,
        ];
        let cached: u64 = cached.into_iter().flatten().fold(0, u64::saturating_add);
        let input = tokens
            .input_tokens
            .map(|input| input.saturating_add(cached));
        Usage::plausible(input, tokens.output_tokens)
    }

    fn failure(&self, error: &ApiError) -> String {
        format!("event: error\ndata: {}\n\n", anthropic(error))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    error: Option<IgnoredAny>,
    content: Option<Vec<Part>>,
    stop_reason: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Told<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(default)]
    error: Option<IgnoredAny>,
    #[serde(default)]
    content_block: Option<Part>,
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Stop {
    #[serde(default)]
    stop_reason: Option<IgnoredAny>,
}

impl Told<'_> {
    fn has_delta(&self) -> bool {
        let part = self
            .delta
            .and_then(|delta| serde_json::from_str(delta.get()).ok());
        part.is_some_and(|part: Part| part.0)
    }

    fn stops(&self) -> bool {
        let stop = self
            .delta
            .and_then(|delta| serde_json::from_str(delta.get()).ok());
        stop.is_some_and(|stop: Stop| stop.stop_reason.is_some())
    }
}

#[derive(Deserialize)]
struct Spent {
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    message: Option<SpentInside>,
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
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{Endpoint, Fault, sse::read};

    #[test]
    fn what_an_event_says() {
        let piece = |finished| Said::Piece { finished };
        for (data, said) in [
            (
                r#"{"type":"message_start","message":{"content":[],"stop_reason":null,"usage":{"input_tokens":9}}}"#,
                Said::Head,
            ),
            (r#"{"type":"ping"}"#, Said::Head),
            (
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                Said::Head,
            ),
            (
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
                Said::Head,
            ),
            (
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#,
                piece(false),
            ),
            (
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}"#,
                Said::Head,
            ),
            (
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}"#,
                piece(false),
            ),
            (
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"of_tomorrow","new":1}}"#,
                piece(false),
            ),
            (r#"{"type":"content_block_stop","index":0}"#, Said::Head),
            (
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
                piece(true),
            ),
            (
                r#"{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":1}}"#,
                Said::Head,
            ),
            (
                r#"{"type":"message_stop"}"#,
                Said::Done { is_answer: false },
            ),
            (r#"{"type":"of_tomorrow"}"#, piece(false)),
            (r#"{"choices":[]}"#, Said::Broken("an event without a type")),
            ("{", NO_JSON),
        ] {
            let event = format!("data: {data}\n\n");
            assert_eq!(read(Endpoint::Messages, event.as_bytes()), said, "{data}");
        }
        for (event, status, fault) in [
            (
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"no\"}}\n\n",
                529,
                Fault::Provider,
            ),
            (
                "data: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}\n\n",
                429,
                Fault::Provider,
            ),
            ("event: error\ndata: no\n\n", 500, Fault::Provider),
            (
                "data: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no\"}}\n\n",
                400,
                Fault::Request,
            ),
        ] {
            let Said::Error(refusal) = read(Endpoint::Messages, event.as_bytes()) else {
                panic!("{event}");
            };
            assert_eq!(
                (refusal.status.as_u16(), refusal.fault),
                (status, fault),
                "{event}"
            );
        }
    }

    #[test]
    fn what_an_answer_is() {
        let whole = |text: &str| Messages.whole(text);
        assert_eq!(
            whole(r#"{"type":"message","content":[{"type":"text","text":"x"}]}"#),
            Ok(())
        );
        assert_eq!(whole(r#"{"content":[],"stop_reason":"end_turn"}"#), Ok(()));
        for none in [
            r#"{"content":[],"stop_reason":null}"#,
            "{}",
            r#"{"content":[{"type":"text","text":""}]}"#,
        ] {
            assert_eq!(whole(none), Err(Unfit::Invalid("empty")), "{none}");
        }
        let error = r#"{"type":"error","error":{"type":"api_error","message":"no"}}"#;
        assert!(matches!(whole(error), Err(Unfit::Refused(_))));
    }
}
