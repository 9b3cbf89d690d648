//! How the word holds the end of a wait.

use crate::contract::deadline::Deadline;
use crate::engine::field::Field;

/// The deadline of a wait, as it is written down. The word holds its lowest digits. A cell beside the word holds
/// roughly when the wait began, from which the digits above follow: no wait is longer than half of what the digits can count, so
/// only one time near enough to the begin ends in these digits.
///
/// In decimal, with four digits, no wait is longer than 5,000. A wait begins at 73,950 and ends at 74,120: the word holds 4120, the
/// cell 73,950. Between 68,950 and 78,950 one number ends in 4120: 74,120. Another thread that tried to begin the same
/// wait at 73,990 may have put that in the cell; the result is the same.
///
/// The word has room for a grain and 29 binary digits. A wait of up to 268 s is counted
/// in microseconds, one of up to 74 h in milliseconds, then in seconds, and from 8 years on in
/// thousands of them: the end of a wait is rounded up by less than a 250,000th of it.
///
/// The digits repeat after twice the longest wait of their grain: after 537 s, if they count microseconds. So the deadline is
/// wrong if the begin in the cell is off by 268 s or more. For that a thread must read the clock, sleep for 268 s, and then
/// win the change of the word, while another thread tried to open the same generation and put its later begin in the cell.
/// The breaker then stays open for 537 s too long at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    /// What goes into the word.
    pub(crate) digits: u64,
    /// What goes into the cell.
    pub(crate) began: u64,
}

const LOW: Field = Field::lowest(29);
const GRAIN: Field = LOW.above(2);

/// How many grains a wait may take at most: half of what the digits can count, less what rounding adds.
const MOST: u64 = (1 << 28) - 2;

/// Microseconds in each grain.
const GRAINS: [u64; 4] = [1, 1_000, 1_000_000, 1_000_000_000];

/// The begin of a wait is counted in units of 2^13 microseconds, so that 42 bits last for longer than a clock.
const UNIT: u32 = 13;

impl Wait {
    /// Bits of the digits, which the breaker's word has room for.
    pub(crate) const BITS: u32 = 31;

    /// A wait that never ends: more of the largest grain than a clock can reach.
    pub(crate) const ENDLESS: Self = Self {
        digits: GRAIN.max() << 29 | LOW.max(),
        began: 0,
    };

    /// A wait of so many nanoseconds from `now`.
    pub(crate) fn of(now: u64, wait: u64) -> Self {
        let micros = Deadline::after(now, wait).micros();
        let micros_long = wait.div_ceil(1000);
        let grain = GRAINS
            .iter()
            .position(|grain| micros_long.div_ceil(*grain) <= MOST);
        let grain = grain.expect("the largest grain is large enough for 64 bits");
        let grains = micros.div_ceil(GRAINS[grain]);
        if Self::deadline_of(grain as u64, grains) == Deadline::NEVER {
            return Self::ENDLESS;
        }
        Self {
            digits: GRAIN.put(grain as u64) | LOW.put(grains & LOW.max()),
            began: (now / 1000) >> UNIT,
        }
    }

    /// The deadline of a wait whose digits the word holds, and which began in the unit of time `began` or a little
    /// before.
    #[inline]
    pub(crate) fn deadline(digits: u64, began: u64) -> Deadline {
        let begun_by = (began + 1) << UNIT;
        // Most waits by themselves, and each grain, so that the divisions are by constants.
        match GRAIN.get(digits) {
            0 => Deadline::from_micros(Self::last_in(digits, begun_by)),
            grain => Self::long_deadline(digits, begun_by, grain),
        }
    }

    /// The same of a wait that is not counted in microseconds.
    #[cold]
    fn long_deadline(digits: u64, begun_by: u64, grain: u64) -> Deadline {
        if digits == Self::ENDLESS.digits {
            return Deadline::NEVER;
        }
        let begun_by = match grain {
            1 => begun_by / GRAINS[1],
            2 => begun_by / GRAINS[2],
            _ => begun_by / GRAINS[3],
        };
        Self::deadline_of(grain, Self::last_in(digits, begun_by))
    }

    /// The deadline is at most so far ahead of the begin: it is the last number up to there that ends in the digits.
    #[inline]
    const fn last_in(digits: u64, begun_by: u64) -> u64 {
        let last = begun_by + (1 << 28);
        let back = last.wrapping_sub(digits) & LOW.max();
        // Within the clock's first minutes there may be no such number: then it is zero.
        last.saturating_sub(back)
    }

    #[inline]
    fn deadline_of(grain: u64, grains: u64) -> Deadline {
        let micros = match grain {
            0 => grains,
            1 => grains.saturating_mul(GRAINS[1]),
            2 => grains.saturating_mul(GRAINS[2]),
            _ => grains.saturating_mul(GRAINS[3]),
        };
        Deadline::from_micros(micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits and readings of every order of magnitude, and the bounds of each grain.
    fn lengths() -> impl Iterator<Item = u64> {
        let powers = (0..64).map(|power| 1_u64 << power);
        let bounds = GRAINS
            .into_iter()
            .map(|grain| grain.saturating_mul(MOST * 1000));
        powers
            .chain(bounds)
            .flat_map(|length| [length.saturating_sub(1), length, length.saturating_add(1)])
            .chain([0, u64::MAX])
    }

    #[test]
    fn a_deadline_is_what_was_written_down_and_never_early() {
        for now in lengths() {
            for wait in lengths() {
                let written = Wait::of(now, wait);
                let deadline = Wait::deadline(written.digits, written.began);
                let exact = Deadline::after(now, wait);
                assert!(deadline >= exact, "{now} + {wait}: {deadline:?}");
                if deadline == Deadline::NEVER {
                    let end = u128::from(now) + u128::from(wait);
                    assert!(
                        end + end / 250_000 >= u128::from(u64::MAX) - 1000,
                        "{now} + {wait}"
                    );
                    continue;
                }
                let late = deadline.micros() - exact.micros();
                assert!(
                    late <= wait / 1000 / 250_000 + 1,
                    "{now} + {wait}: late by {late}"
                );
            }
        }
    }

    #[test]
    fn a_deadline_stays_what_it_was_when_others_begin_later() {
        let second = 1_000_000_000;
        for now in lengths().filter(|now| *now < u64::MAX / 2) {
            for wait in [0, 1, 5_000_000, second, 268 * second, 300 * second] {
                let written = Wait::of(now, wait);
                let later = Wait::of(now + 260 * second, wait);
                assert_eq!(
                    Wait::deadline(written.digits, later.began),
                    Wait::deadline(written.digits, written.began),
                    "{now} + {wait}"
                );
            }
        }
    }

    #[test]
    fn waits_of_seconds_end_to_the_microsecond() {
        let deadline = |now, wait| {
            let Wait { digits, began } = Wait::of(now, wait);
            Wait::deadline(digits, began)
        };
        assert_eq!(deadline(1, 5_000_000), Deadline::from_micros(5_001));
        assert_eq!(
            deadline(7_000, 268_000_000_000),
            Deadline::from_micros(268_000_007)
        );
        assert_eq!(
            deadline(7_000_000, 300_000_000_000),
            Deadline::from_micros(300_007_000)
        );
    }
}
