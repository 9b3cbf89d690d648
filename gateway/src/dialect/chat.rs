//! OpenAI's chat completions, completions and embeddings, as all that call themselves compatible speak them.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::choice::{Choice, Choices, Part, failure};
use super::shape::openai;
use super::speech::{Event, Said, Speech, Unfit, parse, refusal};
use super::{ApiError, Usage};

/// An answer is made of choices. `[DONE]` ends a stream well, and so does its end after a finish reason.
#[derive(Debug)]
pub(super) struct Chat;

impl Speech for Chat {
    fn whole(&self, text: &str) -> Result<(), Unfit> {
        let answer: Answer<'_> = parse(text)?;
        if !answer.is_plain()
            && let Some(refusal) = refusal(text)
        {
            return Err(refusal.into());
        }
        let choices = answer.choices.unwrap_or_default();
        let mut choices = choices.iter().flatten();
        if let Some(refusal) = choices.clone().find_map(failure) {
            return Err(refusal.into());
        }
        if choices.any(|choice| choice.has_content() || choice.is_finished()) {
            Ok(())
        } else {
            Err(Unfit::Invalid("empty"))
        }
    }

    fn event(&self, event: Event<'_>) -> Said {
        if event.data.trim() == "[DONE]" {
            return Said::Done { is_answer: false };
        }
        let answer = event.parse::<Answer<'_>>();
        let is_named = event.name == "error";
        if (is_named || !answer.as_ref().is_ok_and(Answer::is_plain))
            && let Some(error) = event.refusal(is_named)
        {
            return error;
        }
        let choices = match answer {
            Ok(answer) => answer.choices.unwrap_or_default(),
            Err(broken) => return broken,
        };
        let mut choices = choices.iter().flatten();
        if let Some(refusal) = choices.clone().find_map(failure) {
            return Said::Error(Box::new(refusal));
        }
        let finished = choices.clone().any(Choice::is_finished);
        if finished || choices.any(Choice::has_content) {
            Said::Piece { finished }
        } else {
            Said::Head
        }
    }

    fn usage(&self, text: &[u8]) -> Option<Usage> {
        usage(text)
    }

    fn failure(&self, error: &ApiError) -> String {
        format!("data: {}\n\n", openai(error))
    }
}

/// An answer is a list of vectors.
#[derive(Debug)]
pub(super) struct Embeddings;

impl Speech for Embeddings {
    fn whole(&self, text: &str) -> Result<(), Unfit> {
        let answer: Answer<'_> = parse(text)?;
        if !answer.is_plain()
            && let Some(refusal) = refusal(text)
        {
            return Err(refusal.into());
        }
        let has_some = |data: Vec<Part>| data.iter().any(|part| part.0);
        if answer.data.is_some_and(has_some) {
            Ok(())
        } else {
            Err(Unfit::Invalid("empty"))
        }
    }

    fn event(&self, _: Event<'_>) -> Said {
        Said::Broken("an event where no stream was asked for")
    }

    fn usage(&self, text: &[u8]) -> Option<Usage> {
        usage(text)
    }

    fn failure(&self, error: &ApiError) -> String {
        Chat.failure(error)
    }
}

/// What of an answer, or of an event, matters here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer<'a> {
    error: Option<IgnoredAny>,
    #[serde(borrow)]
    object: Option<Cow<'a, str>>,
    #[serde(borrow)]
    choices: Choices<'a>,
    data: Option<Vec<Part>>,
}

impl Answer<'_> {
    /// Whether it is no error.
    fn is_plain(&self) -> bool {
        self.error.is_none() && self.object.as_deref() != Some("error")
    }
}

#[derive(Deserialize)]
struct Told {
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
}

fn usage(text: &[u8]) -> Option<Usage> {
    let tokens = serde_json::from_slice::<Told>(text).ok()?.usage?;
    Usage::plausible(tokens.prompt_tokens, tokens.completion_tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Endpoint;
    use crate::dialect::sse::read;

    #[test]
    fn what_an_event_says() {
        let piece = |finished| Said::Piece { finished };
        let read = |event: &str| read(Endpoint::Chat, event.as_bytes());
        let done = Said::Done { is_answer: false };
        for (event, said) in [
            (
                "data: {\"choices\":[{\"finish_reason\":\"\",\"delta\":{\"content\":\"x\"}}]}\n\n",
                piece(false),
            ),
            ("data: {\"choices\":[null]}\n\n", Said::Head),
            ("data: {\"error\":{},\"choices\":[]}\n\n", Said::Head),
            ("data: [DONE]\n\n", done.clone()),
            ("data:[DONE]\r\n\r\n", done),
            (
                "data: {\"choices\":[{\"finish_reason\":null,\"delta\":{\"content\":\"x\"}}]}\n\n",
                piece(false),
            ),
            (
                "data: {\"choices\":[{\"finish_reason\":\"stop\"}],\"new\":1}\n\n",
                piece(true),
            ),
            ("data: {\"choices\":[],\"usage\":{}}\n\n", Said::Head),
            (
                "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null,\"tool_calls\":[]}}]}\n\n",
                Said::Head,
            ),
            (
                "data: {\"choices\":[{\"delta\":{\"of_tomorrow\":7}}]}\n\n",
                piece(false),
            ),
            ("data: {\"choices\":[{\"text\":\"x\"}]}\n\n", piece(false)),
            (
                "data: {\"choices\":\ndata: [{\"text\":\"x\"}]}\n\n",
                piece(false),
            ),
            (
                "data: {\"cho\n\n",
                Said::Broken("an event that is not JSON"),
            ),
        ] {
            assert_eq!(read(event), said, "{event:?}");
        }
        for (event, message, status) in [
            (
                "data: {\"error\":{\"message\":\"no\",\"code\":1}}\n\n",
                "no",
                500,
            ),
            ("data: {\"error\":\"no\"}\n\n", "no", 500),
            (
                "event: error\ndata: {\"message\":\"no\",\"code\":\"400\"}\n\n",
                "no",
                400,
            ),
            ("event: error\ndata: \"no\"\n\n", "no", 500),
            (
                "data: {\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\",\"error\":{\"code\":502,\"message\":\"no\"}}]}\n\n",
                "no",
                502,
            ),
            (
                "data: {\"object\":\"error\",\"message\":\"no\"}\n\n",
                "no",
                500,
            ),
        ] {
            let Said::Error(refusal) = read(event) else {
                panic!("{event}");
            };
            assert_eq!(
                (refusal.message().as_str(), refusal.status.as_u16()),
                (message, status)
            );
        }
    }
}
