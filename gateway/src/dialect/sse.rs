//! Server-sent events: taken apart, and each looked at as its endpoint reads it.
//!
//! Events are passed on byte for byte, and only whole: a provider that breaks off in the middle of one
//! leaves nothing half-said to the client.

use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};

use super::endpoint::tells_usage;
use super::speech::Event;
pub use super::speech::Said;
use super::{Endpoint, Usage};

/// Cuts a byte stream into events, at blank lines.
#[derive(Debug)]
pub struct Splitter {
    /// What has come and is not yet an event.
    rest: BytesMut,
    /// How much of it has been searched.
    searched: usize,
    /// The longest event.
    limit: usize,
    /// Whether no event has come yet.
    at_start: bool,
}

/// An event is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// The byte order mark that a stream may begin with. Clients would take it for a part of the first line.
const MARK: &[u8] = "\u{feff}".as_bytes();

impl Splitter {
    /// A splitter that refuses events above `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            rest: BytesMut::new(),
            searched: 0,
            limit,
            at_start: true,
        }
    }

    /// Takes what has come; whole events, their blank lines included, go to `events`.
    ///
    /// # Errors
    ///
    /// [`TooLong`], and then the stream makes no sense any more.
    pub fn push(&mut self, data: &[u8], events: &mut VecDeque<Bytes>) -> Result<(), TooLong> {
        self.rest.extend_from_slice(data);
        while let Some(end) = self.blank_line() {
            self.searched = 0;
            let mut event = self.rest.split_to(end);
            if std::mem::take(&mut self.at_start) && event.starts_with(MARK) {
                event.advance(MARK.len());
            }
            events.push_back(event.freeze());
        }
        // The end of a blank line may still be to come.
        self.searched = self.rest.len().saturating_sub(3);
        if self.rest.len() > self.limit {
            Err(TooLong)
        } else {
            Ok(())
        }
    }

    /// What is left when the stream has ended: an event without its blank line, or nothing.
    pub fn rest(&self) -> &[u8] {
        &self.rest
    }

    /// The end of the first blank line; lines end with LF, CR LF or CR.
    fn blank_line(&self) -> Option<usize> {
        let bytes = &self.rest[..];
        let mut at = self.searched;
        while at < bytes.len() {
            let Some(first) = line_end(bytes, at) else {
                at += 1;
                continue;
            };
            if let Some(second) = line_end(bytes, first) {
                return Some(second);
            }
            at = first;
        }
        None
    }
}

/// The place after the line end at `at`, if there is one and it is whole.
fn line_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'\n' => Some(at + 1),
        // A lone CR at the end may be half of a CR LF.
        b'\r' => match bytes.get(at + 1)? {
            b'\n' => Some(at + 2),
            _ => Some(at + 1),
        },
        _ => None,
    }
}

/// Looks at one event of an endpoint's stream.
pub fn read(endpoint: Endpoint, event: &[u8]) -> Said {
    let Ok(text) = std::str::from_utf8(event) else {
        return Said::Broken("an event that is not UTF-8");
    };
    let mut name = "";
    let mut lines = Vec::new();
    for line in text.split(['\n', '\r']) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => lines.push(value),
            "event" => name = value,
            _ => {}
        }
    }
    let joined;
    let data = match lines.as_slice() {
        [] => return Said::Nothing,
        [one] => *one,
        several => {
            joined = several.join("\n");
            &joined
        }
    };
    // Browsers pass over it.
    if data.trim().is_empty() {
        return Said::Nothing;
    }
    endpoint.speech().event(Event { name, data })
}

/// What an event says of the tokens that its answer cost: most say nothing, or `null`.
pub(crate) fn usage(endpoint: Endpoint, event: &[u8]) -> Option<Usage> {
    let at = tells_usage(event)?;
    // An event of several lines is legal; a provider that cuts its JSON into such has not been seen.
    let start = memchr::memrchr(b'\n', &event[..at]).map_or(0, |end| end + 1);
    let line = event[start..].split(|&byte| byte == b'\n').next()?;
    endpoint.speech().usage(line.strip_prefix(b"data:")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&str], limit: usize) -> Result<Vec<String>, TooLong> {
        let mut splitter = Splitter::new(limit);
        let mut events = VecDeque::new();
        for piece in pieces {
            splitter.push(piece.as_bytes(), &mut events)?;
        }
        events.push_back(Bytes::copy_from_slice(splitter.rest()));
        let text = |event: Bytes| String::from_utf8_lossy(&event).into_owned();
        Ok(events.into_iter().map(text).collect())
    }

    #[test]
    fn events_end_at_blank_lines_wherever_the_pieces_are_cut() {
        for ending in ["\n\n", "\r\n\r\n", "\r\r", "\n\r\n"] {
            let text = format!("data: one{ending}data: two{ending}da");
            let whole = [
                format!("data: one{ending}"),
                format!("data: two{ending}"),
                "da".into(),
            ];
            assert_eq!(split(&[&text], 100).unwrap(), whole);
            let single: Vec<_> = text.chars().map(|c| c.to_string()).collect();
            let single: Vec<_> = single.iter().map(String::as_str).collect();
            assert_eq!(split(&single, 100).unwrap(), whole, "{ending:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_at_the_start_is_left_out() {
        let text = "\u{feff}data: one\n\n\u{feff}data: two\n\n";
        let events = ["data: one\n\n", "\u{feff}data: two\n\n", ""];
        assert_eq!(split(&[text], 100).unwrap(), events);
    }

    #[test]
    fn an_event_above_the_limit_is_refused_before_it_ends() {
        assert_eq!(split(&["data: 12", "34567890"], 15), Err(TooLong));
        assert!(split(&["data: 12\n\n", "34567890"], 15).is_ok());
    }

    #[test]
    fn an_event_without_data_says_nothing() {
        for event in [
            ": keep-alive\n\n",
            "\n\n",
            "data\n\n",
            "event: ping\ndata: \n\n",
        ] {
            let said = read(Endpoint::Chat, event.as_bytes());
            assert_eq!(said, Said::Nothing, "{event:?}");
        }
        let said = read(Endpoint::Chat, b"data: \xff\n\n");
        assert_eq!(said, Said::Broken("an event that is not UTF-8"));
    }

    #[test]
    fn tokens_are_read_from_answers_and_from_events_that_have_them() {
        let tokens = |input, output| Some(Usage { input, output });
        let both = tokens(Some(7), Some(11));
        for (endpoint, body, told) in [
            (
                Endpoint::Chat,
                r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":11,"total_tokens":18}}"#,
                both,
            ),
            (
                Endpoint::Embeddings,
                r#"{"usage":{"prompt_tokens":7,"total_tokens":7}}"#,
                tokens(Some(7), None),
            ),
            (
                Endpoint::Responses,
                r#"{"object":"response","usage":{"input_tokens":7,"output_tokens":11}}"#,
                both,
            ),
            (
                Endpoint::Responses,
                r#"{"type":"response.completed","response":{"usage":{"input_tokens":7,"output_tokens":11}}}"#,
                both,
            ),
            (
                Endpoint::Messages,
                r#"{"usage":{"input_tokens":2,"cache_creation_input_tokens":4,"cache_read_input_tokens":1,"output_tokens":11}}"#,
                both,
            ),
            (
                Endpoint::Messages,
                r#"{"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}"#,
                tokens(Some(7), Some(1)),
            ),
            (
                Endpoint::Messages,
                r#"{"type":"message_delta","delta":{},"usage":{"output_tokens":11}}"#,
                tokens(None, Some(11)),
            ),
            (
                Endpoint::Generate,
                r#"{"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":8,"thoughtsTokenCount":3}}"#,
                both,
            ),
            (
                Endpoint::CountTokens,
                r#"{"input_tokens":7,"usage":{"input_tokens":7}}"#,
                None,
            ),
        ] {
            assert_eq!(endpoint.usage(body.as_bytes()), told, "{body}");
            let event = format!("id: 1\ndata: {body}\n\n");
            assert_eq!(usage(endpoint, event.as_bytes()), told, "{body}");
        }
        let start = Usage {
            input: Some(7),
            output: Some(1),
        };
        let end = Usage {
            input: None,
            output: Some(11),
        };
        assert_eq!(Some(start.then(end)), both);
    }

    #[test]
    fn nonsense_is_no_usage() {
        for none in [
            "data: {\"usage\":null}\n\n",
            "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\"\"}}]}\n\n",
            "data: {\"usage\":\"none\"}\n\n",
            "data: {\"usage\":{}}\n\n",
            "data: {\"usage\":{\"prompt_tokens\":-1}}\n\n",
            "data: {\"usage\":{\"prompt_tokens\":1.5}}\n\n",
            "data: {\"usage\":{\"prompt_tokens\":18446744073709551615}}\n\n",
            "data: {\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":\"2\"}}\n\n",
            "data: [DONE]\n\n",
            ": \"usage\"\n\n",
        ] {
            assert_eq!(usage(Endpoint::Chat, none.as_bytes()), None, "{none}");
        }
    }
}
