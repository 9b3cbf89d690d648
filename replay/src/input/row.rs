//! One call as a format reads it off a line.

use crate::verdict::Status;

/// When a line says a call was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    /// When it began, in nanoseconds since the epoch.
    Start(i64),
    /// When it ended.
    End(i64),
}

/// Which end of a call wrote the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The one that made the call.
    Caller,
    /// The one that answered it.
    Callee,
}

/// One call of a line. A line may hold several, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) time: Time,
    /// Nanoseconds; negative ones are refused further on.
    pub(crate) took: Option<i64>,
    pub(crate) status: Status<'a>,
    /// What the line says of a failure where the status does not: a flag, the class of an error.
    pub(crate) said: &'a str,
    pub(crate) upstream: &'a str,
    pub(crate) host: &'a str,
    pub(crate) path: &'a str,
    /// Where both ends of a call may write a line: which one this is, and what the two share.
    pub(crate) side: Option<(Side, u64)>,
}

impl<'a> Row<'a> {
    pub(crate) fn new(time: Time, took: Option<i64>, status: Status<'a>) -> Self {
        Self {
            time,
            took,
            status,
            said: "",
            upstream: "",
            host: "",
            path: "",
            side: None,
        }
    }

    pub(crate) fn said(mut self, said: &'a str) -> Self {
        self.said = said;
        self
    }

    pub(crate) fn upstream(mut self, upstream: &'a str) -> Self {
        self.upstream = upstream;
        self
    }

    pub(crate) fn host(mut self, host: &'a str) -> Self {
        self.host = host;
        self
    }

    pub(crate) fn path(mut self, path: &'a str) -> Self {
        self.path = path;
        self
    }
}

/// Why a line, or a call of it, was not read.
pub(crate) type Why = &'static str;

/// What takes the calls of a line.
pub(crate) type Emit<'e> = &'e mut dyn FnMut(Row<'_>);

/// Reads the lines of one file.
pub(crate) trait Format: Send {
    /// Reads one line, and gives on the calls that it holds: none if it is none of a call, such as a header.
    fn line(&mut self, line: &str, emit: Emit<'_>) -> Result<(), Why>;
}
