//! Server-sent events of the OpenAI protocol: taken apart, and each looked at.
//!
//! Events are passed on byte for byte, and only whole: a provider that breaks off in the middle of one
//! leaves nothing half-said to the client.

use std::borrow::Cow;
use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Refusal;

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
    /// That an answer begins, and nothing of it yet.
    Head,
    /// A piece of the answer; `finished` if it has a finish reason.
    Piece {
        /// Whether it has a finish reason.
        finished: bool,
    },
    /// `[DONE]`: the proper end.
    Done,
    /// An error.
    Error(Box<Refusal>),
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
    let chunk = serde_json::from_str::<Chunk<'_>>(data);
    let is_named = name == "error";
    if is_named || !chunk.as_ref().is_ok_and(Chunk::is_plain) {
        let value = serde_json::from_str(data).unwrap_or(Value::Null);
        if let Some(refusal) = Refusal::inside(value, is_named) {
            return Said::Error(Box::new(refusal));
        }
    }
    let Ok(chunk) = chunk else {
        return Said::Broken("an event that is not JSON");
    };
    let choices = chunk.choices.unwrap_or_default();
    let finished = choices.iter().any(|choice| choice.finish_reason.is_some());
    if finished || choices.iter().any(Choice::has_content) {
        Said::Piece { finished }
    } else {
        Said::Head
    }
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(default)]
    error: Option<IgnoredAny>,
    #[serde(borrow, default)]
    object: Option<Cow<'a, str>>,
    #[serde(default)]
    choices: Option<Vec<Choice>>,
}

impl Chunk<'_> {
    /// Whether it is no error.
    fn is_plain(&self) -> bool {
        self.error.is_none() && self.object.as_deref() != Some("error")
    }
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    finish_reason: Option<IgnoredAny>,
    #[serde(default)]
    delta: Option<Delta>,
    /// Some providers send whole messages, or texts.
    #[serde(default)]
    message: Option<Delta>,
    #[serde(default)]
    text: Option<String>,
}

impl Choice {
    fn has_content(&self) -> bool {
        let parts = [&self.delta, &self.message];
        let said = |delta: &Delta| delta.has_content;
        parts.into_iter().flatten().any(said)
            || self.text.as_ref().is_some_and(|text| !text.is_empty())
    }
}

/// What a piece adds. Its content has many names (`content`, `tool_calls`, `reasoning_content`, …), and new ones come: all
/// but the role is content, if there is something in it.
struct Delta {
    has_content: bool,
}

impl<'de> Deserialize<'de> for Delta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Delta;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Delta, A::Error> {
        let mut has_content = false;
        while let Some((name, value)) = map.next_entry::<Cow<'de, str>, &RawValue>()? {
            let is_empty = matches!(value.get(), "null" | "\"\"" | "[]" | "{}");
            has_content |= name != "role" && !is_empty;
        }
        Ok(Delta { has_content })
    }
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
            assert_eq!(read(event.as_bytes()), said, "{event:?}");
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
                "data: {\"object\":\"error\",\"message\":\"no\"}\n\n",
                "no",
                500,
            ),
        ] {
            let Said::Error(refusal) = read(event.as_bytes()) else {
                panic!("{event}");
            };
            assert_eq!(
                (refusal.message().as_str(), refusal.status.as_u16()),
                (message, status)
            );
        }
        assert_eq!(
            read(b"data: \xff\n\n"),
            Said::Broken("an event that is not UTF-8")
        );
    }
}
