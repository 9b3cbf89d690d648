//! What an answer says of the tokens that it cost.

use serde::Deserialize;

/// The `usage` of an answer.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the question.
    #[serde(default)]
    pub prompt_tokens: Option<u64>,
    /// Tokens of the answer.
    #[serde(default)]
    pub completion_tokens: Option<u64>,
}

impl Usage {
    /// That of a whole answer, if it says.
    pub fn of_answer(body: &[u8]) -> Option<Self> {
        find(body)?;
        serde_json::from_slice::<Body>(body).ok()?.usage
    }

    /// That of an event of a stream: most say nothing, or `null`.
    pub fn of_event(event: &[u8]) -> Option<Self> {
        let at = find(event)?;
        // An event of several lines is legal; a provider that cuts its JSON into such has not been seen.
        let start = memchr::memrchr(b'\n', &event[..at]).map_or(0, |end| end + 1);
        let line = event[start..].split(|&byte| byte == b'\n').next()?;
        let data = line.strip_prefix(b"data:")?;
        serde_json::from_slice::<Body>(data).ok()?.usage
    }
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    usage: Option<Usage>,
}

/// Nearly all events have none: looked for before anything is taken apart.
fn find(text: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, b"\"usage\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_from_answers_and_from_events_that_have_them() {
        let usage = Some(Usage {
            prompt_tokens: Some(7),
            completion_tokens: Some(11),
        });
        let body = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":11,"total_tokens":18}}"#;
        assert_eq!(Usage::of_answer(body.as_bytes()), usage);
        assert_eq!(
            Usage::of_event(format!("id: 1\ndata: {body}\n\n").as_bytes()),
            usage
        );
        for none in [
            "data: {\"usage\":null}\n\n",
            "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\"\"}}]}\n\n",
            "data: {\"usage\":\"none\"}\n\n",
            "data: [DONE]\n\n",
            ": \"usage\"\n\n",
        ] {
            assert_eq!(Usage::of_event(none.as_bytes()), None, "{none}");
        }
    }
}
