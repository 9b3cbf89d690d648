//! Calls on record, so that it can be told later what a breaker would have done with them (feature `record`).
//!
//! Record a day of calls without a breaker, and replay them with the program `cutout-replay`: its numbers say which config
//! would have spared what, and at which cost.
//!
//! A [`Recorder`] is a bounded queue. Those who call push into it; somebody else, a thread that sleeps in between, say,
//! takes out what is in it and writes it to a file, or sends it where it likes.
//!
//! # Examples
//!
//! ```
//! use std::io::Write as _;
//! use cutout::Outcome;
//! use cutout::record::Recorder;
//!
//! static CALLS: std::sync::LazyLock<Recorder> = std::sync::LazyLock::new(|| Recorder::new(65_536));
//!
//! // Where calls are made:
//! let start = CALLS.start();
//! // … the call …
//! CALLS.end(start, "search", Outcome::Success);
//!
//! // In a thread of its own, once in a while:
//! let mut file = Vec::new(); // a file in truth
//! CALLS.write_to(&mut file)?;
//! let text = String::from_utf8(file).unwrap();
//! assert!(text.starts_with("start_unix_ns,duration_ns,outcome,key\n"));
//! assert!(text.ends_with(",success,search\n"));
//! assert_eq!(CALLS.dropped(), 0);
//! # Ok::<(), std::io::Error>(())
//! ```

use core::fmt;
use core::time::Duration;
use std::io;

use crossbeam_queue::ArrayQueue;

use crate::contract::clock::{Clock, SystemClock, saturating_nanos};
use crate::contract::outcome::Outcome;
use crate::engine::sync::{AtomicU64, Relaxed};

/// One call that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// When it began, since the Unix epoch; since the recorder was made if its clock does not know the time of day.
    pub start: Duration,
    /// How long it took.
    pub took: Duration,
    /// What it came to.
    pub outcome: Outcome,
    /// Whom it went to.
    pub key: &'static str,
}

/// When a call began, as its recorder's clock has it.
#[derive(Clone, Copy, Debug)]
#[must_use = "a call is recorded when it ends"]
pub struct Start(u64);

/// Records calls in a bounded queue.
///
/// To record a call is lock-free and does not allocate: two clock reads and one push. When the queue is full the call is dropped and
/// counted ([`dropped`](Self::dropped)): the caller never waits. A queue takes 64 bytes a call.
///
/// # Memory ordering
///
/// Who takes a call out of the queue sees all that its caller wrote before [`end`](Self::end). The count of dropped calls is relaxed.
pub struct Recorder<C = SystemClock> {
    queue: ArrayQueue<Entry>,
    dropped: AtomicU64,
    /// Whether the header was written.
    headed: AtomicU64,
    clock: C,
    /// The clock's reading and the time of day when the recorder was made.
    made: (u64, Duration),
}

#[derive(Clone, Copy)]
struct Entry {
    start: u64,
    took: u64,
    outcome: Outcome,
    key: &'static str,
}

impl Recorder {
    /// A recorder on the system's clock with room for so many calls, at least one.
    pub fn new(room: usize) -> Self {
        Self::with_clock(room, SystemClock::new())
    }
}

impl<C: Clock> Recorder<C> {
    /// The first line of what [`write_to`](Self::write_to) writes.
    pub const HEADER: &'static str = "start_unix_ns,duration_ns,outcome,key\n";

    /// A recorder on this clock.
    pub fn with_clock(room: usize, clock: C) -> Self {
        Self {
            queue: ArrayQueue::new(room.max(1)),
            dropped: AtomicU64::new(0),
            headed: AtomicU64::new(0),
            made: (clock.now(), clock.unix_time()),
            clock,
        }
    }

    /// A call begins.
    #[inline]
    pub fn start(&self) -> Start {
        Start(self.clock.now())
    }

    /// The call has ended; `false` if there is no room for it.
    #[inline]
    pub fn end(&self, start: Start, key: &'static str, outcome: Outcome) -> bool {
        let entry = Entry {
            start: start.0,
            // A clock that stepped back makes a call that took no time.
            took: self.clock.now().saturating_sub(start.0),
            outcome,
            key,
        };
        let room = self.queue.push(entry).is_ok();
        if !room {
            self.dropped.fetch_add(1, Relaxed);
        }
        room
    }

    /// How many calls were dropped for want of room.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    /// Takes out what is in the queue, in the order in which the calls ended: to send it somewhere.
    ///
    /// It ends when the queue is empty, or after as many calls as it has room for, so that it ends also while calls go on.
    pub fn drain(&self) -> impl Iterator<Item = Recorded> + '_ {
        let (origin, unix) = self.made;
        let entries = core::iter::from_fn(|| self.queue.pop()).take(self.queue.capacity());
        entries.map(move |entry| Recorded {
            start: unix.saturating_add(Duration::from_nanos(entry.start.saturating_sub(origin))),
            took: Duration::from_nanos(entry.took),
            outcome: entry.outcome,
            key: entry.key,
        })
    }

    /// Writes what is in the queue, a line a call, after [`HEADER`](Self::HEADER) the first time; how many calls that were.
    ///
    /// # Errors
    ///
    /// Those of the writer. The calls that were being written are lost then.
    pub fn write_to(&self, to: &mut impl io::Write) -> io::Result<usize> {
        if self.headed.swap(1, Relaxed) == 0 {
            to.write_all(Self::HEADER.as_bytes())?;
        }
        let mut count = 0;
        for call in self.drain() {
            writeln!(to, "{call}")?;
            count += 1;
        }
        Ok(count)
    }
}

/// As a line of CSV, without its end.
impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.outcome {
            Outcome::Success => "success",
            Outcome::Answered => "answered",
            Outcome::Failure => "failure",
            Outcome::Timeout => "timeout",
            Outcome::Ignored => "ignored",
        };
        let (start, took) = (saturating_nanos(self.start), saturating_nanos(self.took));
        write!(f, "{start},{took},{outcome},")?;
        if !self.key.contains([',', '"', '\n', '\r']) {
            return f.write_str(self.key);
        }
        // A line is one call, whatever its key.
        let key = self.key.replace('"', "\"\"").replace(['\n', '\r'], " ");
        write!(f, "\"{key}\"")
    }
}

impl<C> fmt::Debug for Recorder<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("room", &self.queue.capacity())
            .field("waiting", &self.queue.len())
            .field("dropped", &self.dropped.load(Relaxed))
            .finish_non_exhaustive()
    }
}
