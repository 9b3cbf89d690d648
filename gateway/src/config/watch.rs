//! Notices that the file has changed.
//!
//! It looks each half second, which also works where a change makes no noise (network file systems, mounted secrets that
//! are swapped as a link). A file that has changed is left to settle: an editor may empty it and fill it again, or fill it
//! piece by piece.

use std::path::Path;
use std::time::{Duration, SystemTime};

use tokio::time::{Instant, MissedTickBehavior, interval};

/// The time between two looks.
const EACH: Duration = Duration::from_millis(500);

/// How long a file must have been as it is.
const SETTLED: Duration = Duration::from_secs(2);

/// Calls `changed` for each change of the file with false, and for each SIGHUP with true, for ever. A file that is being
/// written is waited for. Changes and signals that come while `changed` is at work are one call more.
pub async fn watch<F: Future<Output = ()>>(path: &Path, mut changed: impl FnMut(bool) -> F) {
    let mut hangups = Hangups::new();
    let mut ticks = interval(EACH);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut file = Settling::default();
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = hangups.next() => file.ask(),
        }
        if let Some(anew) = file.look(look(path).await, Instant::now()) {
            changed(anew).await;
        }
    }
}

/// A file that may be in the middle of a change.
#[derive(Debug, Default)]
struct Settling {
    /// As it was when it was last reported.
    known: Option<Look>,
    /// As it is, and since when.
    seen: Option<(Option<Look>, Instant)>,
    /// It is to be reported whether it has changed or not.
    asked: bool,
}

impl Settling {
    fn ask(&mut self) {
        self.asked = true;
    }

    /// Takes how the file is now; none if there is none. Says whether to report it, and whether that was asked for.
    ///
    /// What is there at first counts as changed: it may be other than what was read at the start.
    fn look(&mut self, file: Option<Look>, now: Instant) -> Option<bool> {
        let since = match &self.seen {
            Some((seen, since)) if *seen == file => *since,
            _ => now,
        };
        self.seen = Some((file.clone(), since));
        // So a change after this look has another time, however coarse the file system's clock is.
        let is_settled = now.duration_since(since) >= SETTLED;
        if !is_settled || (self.known == file && !self.asked) {
            return None;
        }
        self.known = file;
        Some(std::mem::take(&mut self.asked))
    }
}

/// What tells one state of a file from another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Look {
    modified: Option<SystemTime>,
    length: u64,
    #[cfg(unix)]
    inode: u64,
}

async fn look(path: &Path) -> Option<Look> {
    let metadata = tokio::fs::metadata(path).await.ok()?;
    Some(Look {
        modified: metadata.modified().ok(),
        length: metadata.len(),
        #[cfg(unix)]
        inode: std::os::unix::fs::MetadataExt::ino(&metadata),
    })
}

/// The signals that ask to read the file again.
struct Hangups {
    #[cfg(unix)]
    signals: Option<tokio::signal::unix::Signal>,
}

impl Hangups {
    #[cfg(unix)]
    fn new() -> Self {
        let kind = tokio::signal::unix::SignalKind::hangup();
        Self {
            signals: tokio::signal::unix::signal(kind).ok(),
        }
    }

    #[cfg(not(unix))]
    fn new() -> Self {
        Self {}
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signals) = &mut self.signals
            && signals.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(length: u64) -> Option<Look> {
        Some(Look {
            modified: None,
            length,
            #[cfg(unix)]
            inode: 1,
        })
    }

    #[test]
    fn a_file_that_is_being_written_is_left_to_settle() {
        let mut file = Settling::default();
        let start = Instant::now();
        let mut at = |seconds: f64, length| {
            let now = start + Duration::from_secs_f64(seconds);
            file.look(of(length), now)
        };
        assert_eq!(at(0.0, 100), None);
        assert_eq!(at(2.0, 100), Some(false), "as it is at the start");
        assert_eq!(at(3.0, 0), None, "emptied");
        assert_eq!(at(4.5, 0), None);
        assert_eq!(at(4.9, 50), None, "half of it");
        assert_eq!(at(6.0, 120), None, "all of it");
        assert_eq!(at(7.5, 120), None);
        assert_eq!(at(8.0, 120), Some(false));
        assert_eq!(at(11.0, 120), None, "once");
    }

    #[test]
    fn who_asks_waits_for_a_file_that_is_being_written_and_for_no_other() {
        let mut file = Settling::default();
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        file.look(of(100), start);
        file.look(of(100), after(5));
        file.ask();
        assert_eq!(file.look(of(100), after(5)), Some(true));
        file.look(of(0), after(6));
        file.ask();
        assert_eq!(file.look(of(0), after(7)), None);
        assert_eq!(file.look(of(110), after(7)), None);
        assert_eq!(file.look(of(110), after(9)), Some(true));
        assert_eq!(file.look(of(110), after(20)), None);
    }
}
