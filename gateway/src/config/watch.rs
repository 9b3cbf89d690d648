//! Notices that the file has changed.
//!
//! It looks each half second, which also works where a change makes no noise (network file systems, mounted secrets that
//! are swapped as a link), and waits for a second look at the same file, so that one that is being written is not read
//! half.

use std::path::Path;
use std::time::{Duration, SystemTime};

use tokio::time::{MissedTickBehavior, interval};

/// The time between two looks.
const EACH: Duration = Duration::from_millis(500);

/// Calls `changed` for each change of the file with false, and on SIGHUP with true, for ever.
pub async fn watch(path: &Path, mut changed: impl FnMut(bool)) {
    let mut hangups = Hangups::new();
    let mut ticks = interval(EACH);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    // The first look is a change too: the file may have changed since it was read.
    let mut known = None;
    let mut seen = None;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = hangups.next() => {
                changed(true);
                continue;
            }
        }
        let now = Some(look(path).await);
        if now == seen && now != known {
            known.clone_from(&now);
            changed(false);
        }
        seen = now;
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
