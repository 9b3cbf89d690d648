//! When a throttle refuses a share of the calls.

use cutout::ThrottleConfig;

/// A time in which a throttle refused a share of the calls: from one that it refused to the last before none was for as
/// long as its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Whose throttle.
    pub key: u32,
    /// The begin of the first call that it refused, in nanoseconds since the epoch.
    pub start: i64,
    /// The begin of the last.
    pub end: i64,
    /// Calls that it was asked for.
    pub asked: u64,
    /// Those of them that it refused.
    pub refused: u64,
}

/// What a throttle does at the moment.
pub(super) struct Refusing {
    key: u32,
    window: u64,
    now: Option<Refused>,
    /// Calls that were admitted since the last that was not.
    admitted: u64,
}

impl Refusing {
    pub(super) fn new(key: u32, config: &ThrottleConfig) -> Self {
        Self {
            key,
            window: u64::try_from(config.length.as_nanos()).unwrap_or(u64::MAX),
            now: None,
            admitted: 0,
        }
    }

    /// Notes a call; the time that is over, if it was found to be.
    pub(super) fn asked(&mut self, at: i64, is_refused: bool) -> Option<Refused> {
        let is_over = |now: &mut Refused| at.abs_diff(now.end) > self.window;
        let over = self.now.take_if(is_over);
        if !is_refused {
            self.admitted += 1;
            return over;
        }
        let now = self.now.get_or_insert(Refused {
            key: self.key,
            start: at,
            end: at,
            asked: 0,
            refused: 0,
        });
        // Those between two refusals are within; those before the first are not.
        now.asked += if now.refused > 0 {
            self.admitted + 1
        } else {
            1
        };
        now.refused += 1;
        now.end = at;
        self.admitted = 0;
        over
    }

    pub(super) fn finish(self) -> Option<Refused> {
        self.now
    }
}
