//! Server-sent events of the OpenAI protocol: taken apart, and each looked at.
//!
//! Events are passed on byte for byte, and only whole: a provider that breaks off in the middle of one
//! leaves nothing half-said to the client.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Cuts a byte stream into events, at blank lines.
#[derive(Debug)]
pub struct Splitter {
    /// What has come and is not yet an event.
    rest: BytesMut,
    /// How much of it has been searched.
    searched: usize,
    /// The longest event.
    limit: usize,
}

/// An event is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl Splitter {
    /// A splitter that refuses events above `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            rest: BytesMut::new(),
            searched: 0,
            limit,
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
            events.push_back(self.rest.split_to(end).freeze());
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

/// What an event says of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Nothing: a comment, as providers send to keep a connection alive.
    Nothing,
    /// A piece of the answer; `finished` if it has a finish reason.
    Piece {
        /// Whether it has a finish reason.
        finished: bool,
    },
    /// `[DONE]`: the proper end.
    Done,
    /// An error, in the provider's words.
    Error(String),
    /// What no client could read, and why.
    Broken(&'static str),
}

/// Looks at one event.
pub fn read(event: &[u8]) -> Said {
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
    if data.trim() == "[DONE]" {
        return Said::Done;
    }
    let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(data) else {
        return Said::Broken("an event that is not JSON");
    };
    if name == "error" || chunk.error.is_some() {
        return Said::Error(words(chunk.error.map_or(data, |error| error.get())));
    }
    let finished = chunk.choices.unwrap_or_default();
    Said::Piece {
        finished: finished.iter().any(|choice| choice.finish_reason.is_some()),
    }
}

/// The message of an error object, or the object itself, in at most 300 characters.
pub fn words(error: &str) -> String {
    #[derive(Deserialize)]
    struct Shape {
        message: String,
    }
    let message = serde_json::from_str::<Shape>(error).map(|shape| shape.message);
    message
        .unwrap_or_else(|_| error.to_owned())
        .chars()
        .take(300)
        .collect()
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    error: Option<&'a serde_json::value::RawValue>,
    #[serde(default)]
    choices: Option<Vec<Choice>>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    finish_reason: Option<IgnoredAny>,
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
    fn an_event_above_the_limit_is_refused_before_it_ends() {
        assert_eq!(split(&["data: 12", "34567890"], 15), Err(TooLong));
        assert!(split(&["data: 12\n\n", "34567890"], 15).is_ok());
    }

    #[test]
    fn what_an_event_says() {
        let piece = |finished| Said::Piece { finished };
        for (event, said) in [
            (": keep-alive\n\n", Said::Nothing),
            ("\n\n", Said::Nothing),
            ("data: [DONE]\n\n", Said::Done),
            ("data:[DONE]\r\n\r\n", Said::Done),
            (
                "data: {\"choices\":[{\"finish_reason\":null}]}\n\n",
                piece(false),
            ),
            (
                "data: {\"choices\":[{\"finish_reason\":\"stop\"}],\"new\":1}\n\n",
                piece(true),
            ),
            ("data: {\"choices\":[],\"usage\":{}}\n\n", piece(false)),
            ("data: {\"choices\":\ndata: []}\n\n", piece(false)),
            (
                "data: {\"error\":{\"message\":\"no\",\"code\":1}}\n\n",
                Said::Error("no".into()),
            ),
            ("data: {\"error\":\"no\"}\n\n", Said::Error("\"no\"".into())),
            (
                "event: error\ndata: {\"message\":\"no\"}\n\n",
                Said::Error("no".into()),
            ),
            (
                "data: {\"cho\n\n",
                Said::Broken("an event that is not JSON"),
            ),
        ] {
            assert_eq!(read(event.as_bytes()), said, "{event:?}");
        }
        assert_eq!(
            read(b"data: \xff\n\n"),
            Said::Broken("an event that is not UTF-8")
        );
    }
}
