//! The log of requests. Requests hand their lines to a bounded queue and never wait; a thread of its own writes them.

use std::fmt;
use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};

use super::sink::{Sink, Wanted, open};
use crate::config::RequestLog;

/// How many lines may wait to be written; more are dropped and counted.
const WAITING: usize = 8192;

/// Takes a line for each request.
pub(crate) struct Log {
    queue: NonBlocking,
    wanted: Arc<Wanted>,
    /// Until the log is closed.
    writer: Mutex<Option<WorkerGuard>>,
}

impl Log {
    /// A log that writes to `place`.
    pub(crate) fn new(place: RequestLog) -> Self {
        let wanted = Arc::new(Wanted::new(place));
        let sink = Sink::new(Arc::clone(&wanted));
        Self::over(sink, wanted)
    }

    fn over(sink: impl Write + Send + 'static, wanted: Arc<Wanted>) -> Self {
        let (queue, writer) = NonBlockingBuilder::default()
            .lossy(true)
            .buffered_lines_limit(WAITING)
            .thread_name("request-log")
            .finish(sink);
        Self {
            queue,
            wanted,
            writer: Mutex::new(Some(writer)),
        }
    }

    /// Whether lines are wanted.
    pub(crate) fn is_on(&self) -> bool {
        self.wanted.is_on.load(Relaxed)
    }

    /// Hands over a line. When the queue is full it is dropped, and counted.
    pub(super) fn line(&self, line: &[u8]) {
        let _ = self.queue.clone().write_all(line);
    }

    /// Lines go to `place` from now on.
    pub(crate) fn set(&self, place: RequestLog) {
        self.wanted.set(place);
    }

    /// Opens the file again, which someone may have moved away.
    pub(crate) fn reopen(&self) {
        self.wanted.reopen();
    }

    /// Lines that were dropped because too many waited.
    pub(crate) fn dropped(&self) -> u64 {
        self.queue.error_counter().dropped_lines() as u64
    }

    /// Lines that could not be written.
    pub(crate) fn failed(&self) -> u64 {
        self.wanted.failed.load(Relaxed)
    }

    /// Writes what waits, for a second at most, and ends.
    pub(crate) fn close(&self) {
        let writer = self.writer.lock();
        drop(writer.unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log")
            .field("wanted", &self.wanted)
            .finish_non_exhaustive()
    }
}

/// Whether lines can go to `place`.
///
/// # Errors
///
/// Its file cannot be written to, and why.
pub(crate) fn check(place: &RequestLog) -> Result<(), String> {
    let RequestLog::File(path) = place else {
        return Ok(());
    };
    let opened = open(path).map(drop);
    opened.map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::mpsc;

    use super::*;

    /// Takes a line, says so, and waits until it may go on.
    struct Slow {
        taken: mpsc::Sender<Vec<u8>>,
        go_on: mpsc::Receiver<()>,
    }

    impl Write for Slow {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            let _ = self.taken.send(line.to_vec());
            // The end of the test sets it free.
            let _ = self.go_on.recv();
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_writer_that_does_not_keep_up_loses_the_last_lines_counted_and_holds_nobody() {
        let (taken, lines) = mpsc::channel();
        let (release, go_on) = mpsc::channel::<()>();
        let wanted = Arc::new(Wanted::new(RequestLog::Stdout));
        let log = Log::over(Slow { taken, go_on }, wanted);
        log.line(b"0");
        assert_eq!(lines.recv().unwrap(), b"0", "the writer is busy with it");
        for number in 1..=WAITING + 100 {
            log.line(number.to_string().as_bytes());
        }
        assert_eq!((log.dropped(), log.failed()), (100, 0));
        drop(release);
        for number in 1..=WAITING {
            assert_eq!(lines.recv().unwrap(), number.to_string().as_bytes());
        }
        log.line(b"the next");
        assert_eq!(lines.recv().unwrap(), b"the next");
        log.close();
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_though_nobody_reads_it() {
        let path = std::env::temp_dir().join(format!("cutout-pipe-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let refused = check(&RequestLog::File(path.clone())).unwrap_err();
        let _ = std::fs::remove_file(path);
        assert!(refused.contains("it is a pipe"), "{refused}");
    }
}
