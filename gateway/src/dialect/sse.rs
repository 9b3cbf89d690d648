//! Server-sent events of the OpenAI protocol: taken apart, and each looked at.
//!
//! Events are passed on byte for byte, and only whole: a provider that breaks off in the middle of one
//! leaves nothing half-said to the client.

use std::borrow::Cow;
use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::Refusal;
use super::choice::{Choice, Choices, failure};

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

/// What of an event that says nothing is passed on: its comments, or one that only keeps the connection alive. Without a
/// blank line: some clients take one for the end of an empty event, if an event before it had an id or a field without data came.
pub fn comments(event: &[u8]) -> Bytes {
    let lines = event.split(|byte| matches!(byte, b'\n' | b'\r'));
    let mut kept = BytesMut::new();
    for line in lines.filter(|line| line.starts_with(b":")) {
        kept.extend_from_slice(line);
        kept.extend_from_slice(b"\n");
    }
    if kept.is_empty() {
        return KEEP_ALIVE;
    }
    kept.freeze()
}

/// What keeps a client's connection alive while there is nothing to say.
pub const KEEP_ALIVE: Bytes = Bytes::from_static(b": keep-alive\n");

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
    match data.trim() {
        "[DONE]" => return Said::Done,
        // Browsers pass over it.
        "" => return Said::Nothing,
        _ => {}
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

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(default)]
    error: Option<IgnoredAny>,
    #[serde(borrow, default)]
    object: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    choices: Choices<'a>,
}

impl Chunk<'_> {
    /// Whether it is no error.
    fn is_plain(&self) -> bool {
        self.error.is_none() && self.object.as_deref() != Some("error")
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
    fn a_byte_order_mark_at_the_start_is_left_out() {
        let text = "\u{feff}data: one\n\n\u{feff}data: two\n\n";
        let events = ["data: one\n\n", "\u{feff}data: two\n\n", ""];
        assert_eq!(split(&[text], 100).unwrap(), events);
    }

    #[test]
    fn of_an_event_that_says_nothing_its_comments_are_left_without_a_blank_line() {
        for (event, left) in [
            (": PROCESSING\n\n", ": PROCESSING\n"),
            (": one\r\n: two\r\n\r\n", ": one\n: two\n"),
            ("id: 7\n: one\n\n", ": one\n"),
            ("event: ping\ndata:\n\n", ": keep-alive\n"),
            ("\n", ": keep-alive\n"),
        ] {
            assert_eq!(comments(event.as_bytes()), left, "{event:?}");
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
            ("data\n\n", Said::Nothing),
            ("event: ping\ndata: \n\n", Said::Nothing),
            (
                "data: {\"choices\":[{\"finish_reason\":\"\",\"delta\":{\"content\":\"x\"}}]}\n\n",
                piece(false),
            ),
            ("data: {\"choices\":[null]}\n\n", Said::Head),
            ("data: {\"error\":{},\"choices\":[]}\n\n", Said::Head),
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
