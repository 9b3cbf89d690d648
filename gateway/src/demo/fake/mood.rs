//! How a fake provider can be.

use std::time::Duration;

/// How a fake provider is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It answers as it should.
    Well,
    /// It answers with this status, and asks to wait so many seconds.
    Refusing(u16, Option<u64>),
    /// It accepts the request and says nothing.
    Hanging,
    /// It begins its answer and says nothing more.
    Stalling,
    /// It breaks its answer off in the middle.
    Cutting,
    /// It ends its stream cleanly, but without the proper end.
    Unfinished,
    /// Its stream begins with an error.
    ErrorFirst,
    /// Its stream ends with an error.
    ErrorLast,
    /// Its stream has an event that is no JSON.
    BrokenEvents,
    /// Its stream has an event that is no UTF-8.
    BadText,
    /// Its answer is empty: a head at most.
    Empty,
    /// It answers with a page.
    Html,
    /// It answers with JSON of another kind, and 200.
    ErrorAs200,
    /// It sends its client elsewhere.
    Redirecting(String),
    /// It answers without end.
    Endless,
    /// It answers after a time.
    Slow(Duration),
    /// It streams an event each so often, without end.
    Dripping(Duration),
}
