//! Where the lines of the log end up: standard output, or a file that may be moved away.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::config::RequestLog;

/// How often it is looked whether the file is still the one at its path.
const LOOK: Duration = Duration::from_secs(1);

/// What the sink is told, from other threads.
#[derive(Debug)]
pub(super) struct Wanted {
    place: Mutex<RequestLog>,
    /// Whether the place is one, for those who would make a line for nobody.
    pub(super) is_on: AtomicBool,
    /// Grows with each order to open the place again.
    orders: AtomicU64,
    /// Lines that could not be written.
    pub(super) failed: AtomicU64,
}

impl Wanted {
    pub(super) fn new(place: RequestLog) -> Self {
        Self {
            is_on: AtomicBool::new(place != RequestLog::Off),
            place: Mutex::new(place),
            orders: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    }

    pub(super) fn set(&self, place: RequestLog) {
        self.is_on.store(place != RequestLog::Off, Relaxed);
        let mut now = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if *now != place {
            *now = place;
            self.reopen();
        }
    }

    pub(super) fn reopen(&self) {
        self.orders.fetch_add(1, Relaxed);
    }

    fn place(&self) -> RequestLog {
        let place = self.place.lock();
        place.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Writes whole lines to the wanted place. It reports no errors to its caller, which could do nothing about them: a line that
/// cannot be written is counted, and the next tries again.
pub(super) struct Sink {
    wanted: Arc<Wanted>,
    /// The orders that have been followed.
    followed: u64,
    open: Option<Open>,
    /// Lines that are not known to be written yet.
    pending: u64,
    /// Whether the last line could not be written: said once, not for each line.
    is_failing: bool,
}

enum Open {
    Stdout(BufWriter<Stdout>),
    File {
        path: PathBuf,
        file: BufWriter<File>,
        looked: Instant,
    },
}

impl Sink {
    pub(super) fn new(wanted: Arc<Wanted>) -> Self {
        Self {
            wanted,
            followed: 0,
            open: None,
            pending: 0,
            is_failing: false,
        }
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.follow()?;
        match &mut self.open {
            Some(Open::Stdout(stdout)) => stdout.write_all(line),
            Some(Open::File { file, .. }) => file.write_all(line),
            None => Ok(()),
        }
    }

    /// Opens what is wanted, unless it is open.
    fn follow(&mut self) -> io::Result<()> {
        let orders = self.wanted.orders.load(Relaxed);
        if orders == self.followed && self.open.as_mut().is_some_and(Open::is_in_place) {
            return Ok(());
        }
        if let Some(open) = &mut self.open {
            // What it has not written belongs to the old place.
            let _ = open.flush();
        }
        self.open = None;
        self.open = match self.wanted.place() {
            RequestLog::Off => None,
            RequestLog::Stdout => Some(Open::Stdout(BufWriter::new(io::stdout()))),
            RequestLog::File(path) => Some(Open::File {
                file: BufWriter::new(open(&path)?),
                path,
                looked: Instant::now(),
            }),
        };
        self.followed = orders;
        Ok(())
    }

    fn note(&mut self, result: io::Result<()>) {
        match result {
            Ok(()) => self.is_failing = false,
            Err(error) => {
                self.wanted.failed.fetch_add(self.pending, Relaxed);
                self.pending = 0;
                // What is half written would run into the next line.
                self.open = None;
                if !self.is_failing {
                    tracing::error!(%error, "lines of requests cannot be written and are lost");
                }
                self.is_failing = true;
            }
        }
    }
}

impl Write for Sink {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.pending += 1;
        let result = self.line(line);
        self.note(result);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.open.as_mut().map_or(Ok(()), Open::flush);
        self.note(result);
        self.pending = 0;
        Ok(())
    }
}

impl Open {
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::File { file, .. } => file.flush(),
        }
    }

    /// Whether lines still go where they are looked for: not so once a file was renamed or deleted.
    fn is_in_place(&mut self) -> bool {
        let Self::File { path, file, looked } = self else {
            return true;
        };
        if looked.elapsed() < LOOK {
            return true;
        }
        *looked = Instant::now();
        is_same(path, file.get_ref())
    }
}

/// Opens a file to write at its end. A pipe is refused: until somebody reads it, opening it does not end, and whoever reads
/// slowly holds up the rest.
pub(super) fn open(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    if is_pipe(path) {
        let message = "it is a pipe; give a file, or \"stdout\" and pipe that";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    OpenOptions::new().create(true).append(true).open(path)
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|there| there.file_type().is_fifo())
}

#[cfg(unix)]
fn is_same(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(there), Ok(here)) = (std::fs::metadata(path), file.metadata()) else {
        return false;
    };
    (there.dev(), there.ino()) == (here.dev(), here.ino())
}

#[cfg(not(unix))]
fn is_same(path: &Path, _: &File) -> bool {
    path.exists()
}
