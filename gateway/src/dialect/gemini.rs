//! Gemini's `generateContent` and its stream, as <https://ai.google.dev/api/generate-content> describes them. An event of the
//! stream is an answer like a whole one.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::choice::Part;
use super::shape::gemini;
use super::speech::{Event, Said, Speech, Unfit, parse, refusal};
use super::{ApiError, Usage};

/// An answer is made of candidates. A stream ends well after a finish reason; there is no last event.
#[derive(Debug)]
pub(super) struct Generate;

impl Speech for Generate {
    fn whole(&self, text: &str) -> Result<(), Unfit> {
        match parse::<Answer>(text) {
            Ok(answer) if answer.error.is_none() => match answer.says() {
                Said::Piece { .. } => Ok(()),
                _ => Err(Unfit::Invalid("empty")),
            },
            Ok(_) => Err(refusal(text).map_or(Unfit::Invalid("empty"), Unfit::from)),
            Err(invalid) => Err(refusal(text).map_or(invalid, Unfit::from)),
        }
    }

    fn event(&self, event: Event<'_>) -> Said {
        match event.parse::<Answer>() {
            Ok(answer) if answer.error.is_none() && event.name != "error" => answer.says(),
            parsed => {
                let error = event.refusal(event.name == "error");
                error.unwrap_or_else(|| parsed.map_or_else(|broken| broken, |it| it.says()))
            }
        }
    }

    fn usage(&self, text: &[u8]) -> Option<Usage> {
        let tokens = serde_json::from_slice::<Spent>(text).ok()?.usage?;
        let sum = |one: Option<u64>, other: Option<u64>| {
            one.or(other)
                .map(|_| one.unwrap_or(0).saturating_add(other.unwrap_or(0)))
        };
        Usage::plausible(
            sum(tokens.prompt, tokens.tool_use),
            sum(tokens.candidates, tokens.thoughts),
        )
    }

    fn failure(&self, error: &ApiError) -> String {
        format!("data: {}\n\n", gemini(error))
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Answer {
    error: Option<IgnoredAny>,
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<Feedback>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content {
    parts: Option<Vec<Part>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<IgnoredAny>,
}

impl Answer {
    fn says(&self) -> Said {
        let candidates = self.candidates.as_deref().unwrap_or_default();
        let is_blocked = self
            .prompt_feedback
            .as_ref()
            .is_some_and(|feedback| feedback.block_reason.is_some());
        let finished = is_blocked
            || candidates
                .iter()
                .any(|candidate| candidate.finish_reason.is_some());
        let has_content = candidates.iter().any(|candidate| {
            let parts = candidate
                .content
                .as_ref()
                .and_then(|content| content.parts.as_ref());
            parts.is_some_and(|parts| parts.iter().any(|part| part.0))
        });
        if finished || has_content {
            Said::Piece { finished }
        } else {
            Said::Head
        }
    }
}

#[derive(Deserialize)]
struct Spent {
    #[serde(default, rename = "usageMetadata")]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default, rename = "promptTokenCount")]
    prompt: Option<u64>,
    #[serde(default, rename = "toolUsePromptTokenCount")]
    tool_use: Option<u64>,
    #[serde(default, rename = "candidatesTokenCount")]
    candidates: Option<u64>,
    #[serde(default, rename = "thoughtsTokenCount")]
    thoughts: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{Endpoint, Fault, sse::read};

    #[test]
    fn what_an_event_and_an_answer_say() {
        let piece = |finished| Said::Piece { finished };
        for (data, said) in [
            (
                r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"x"}]}}]}"#,
                piece(false),
            ),
            (
                r#"{"candidates":[{"content":{"role":"model","parts":[{"text":""}]}}]}"#,
                Said::Head,
            ),
            (
                r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}"#,
                piece(false),
            ),
            (
                r#"{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}"#,
                piece(true),
            ),
            (
                r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#,
                piece(true),
            ),
            (r#"{"usageMetadata":{"promptTokenCount":7}}"#, Said::Head),
            ("{}", Said::Head),
        ] {
            let event = format!("data: {data}\r\n\r\n");
            assert_eq!(
                read(Endpoint::StreamGenerate, event.as_bytes()),
                said,
                "{data}"
            );
            let is_answer = matches!(said, Said::Piece { .. });
            assert_eq!(Generate.whole(data).is_ok(), is_answer, "{data}");
        }
        let said = read(Endpoint::StreamGenerate, b"data: {\"cand\r\n\r\n");
        assert_eq!(said, Said::Broken("an event that is not JSON"));
    }

    #[test]
    fn an_error_is_understood_alone_and_in_a_list() {
        let error = r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#;
        for text in [error.to_owned(), format!("[{error}]")] {
            let Err(Unfit::Refused(refusal)) = Generate.whole(&text) else {
                panic!("{text}");
            };
            assert_eq!((refusal.status.as_u16(), refusal.fault), (400, Fault::Key));
            let event = format!("data: {text}\n\n");
            let said = read(Endpoint::StreamGenerate, event.as_bytes());
            assert_eq!(said, Said::Error(refusal));
        }
    }
}
