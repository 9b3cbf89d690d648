//! When a target last showed life, and how long it usually takes to.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Signs of life, counted; and the usual time to the first one, for streams and for whole answers.
#[derive(Debug, Default)]
pub struct Life {
    signs: AtomicU64,
    usual_micros: [AtomicU64; 2],
}

impl Life {
    /// A piece of a good answer has come.
    pub(crate) fn show(&self) {
        self.signs.fetch_add(1, Relaxed);
    }

    /// How many have come. Whoever sees the same number again knows that nothing has come in between.
    pub(crate) fn signs(&self) -> u64 {
        self.signs.load(Relaxed)
    }

    /// The first piece of a good answer took so long. The mean goes an eighth of the way; of two that come at once one may
    /// be lost, which changes little.
    pub(crate) fn took(&self, is_stream: bool, time: Duration) {
        let usual = &self.usual_micros[usize::from(is_stream)];
        let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1);
        let before = match usual.load(Relaxed) {
            0 => time,
            before => before,
        };
        usual.store(before - before / 8 + time / 8, Relaxed);
    }

    /// How long the first piece of a good answer usually takes; nothing if none has come yet.
    pub(crate) fn usual(&self, is_stream: bool) -> Duration {
        Duration::from_micros(self.usual_micros[usize::from(is_stream)].load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_time_follows_the_last_answers_of_its_kind() {
        let life = Life::default();
        assert_eq!(life.usual(true), Duration::ZERO);
        life.took(true, Duration::from_millis(80));
        assert_eq!(life.usual(true), Duration::from_millis(80));
        life.took(true, Duration::from_millis(160));
        assert_eq!(life.usual(true), Duration::from_millis(90));
        assert_eq!(life.usual(false), Duration::ZERO);
    }
}
