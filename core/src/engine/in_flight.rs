//! Calls in flight, by when they started: so that a call that hangs can be counted before
//! it returns.
//!
//! Time is divided into epochs, an eighth of the limit each and at least a microsecond.
//! An epoch has a cell: how many of its calls are in flight. Eight whole epochs after it has ended, all
//! of them are overdue, and whoever first sees the ninth takes them: by one change of the
//! cell, after which nobody counts its calls again, neither by taking them nor as they return.
//!
//! Another limit begins a new era, whose epochs come after those of all others. A permit says in which era
//! its call is followed; one of another era is not followed any more, and counts when it returns.
//!
//! A call is so counted as overdue once it has been in flight for between the limit and nine
//! eighths of it, as soon after that as any call is admitted or settled; never before the limit.
//! Within an epoch there is nothing to look for.

use alloc::boxed::Box;

use crate::engine::field::Field;
use crate::engine::lines::{self, Line};
use crate::engine::sync::{AcqRel, Acquire, AtomicU64, Relaxed, Release};
use crate::engine::window::cell::Tag;
use crate::engine::window::ruler::{FIRST_TICK, Ruler};

/// Epochs to a limit.
const EPOCHS: u64 = 8;

/// The calls of an epoch are overdue in the one that comes so many later.
const OVERDUE: u64 = EPOCHS + 1;

/// Cells, in one line with the latest epoch. Epochs with calls in flight that are not
/// overdue are ten at most: those of the limit, and those that begin and end with it.
const CELLS: usize = lines::CELLS - 1;

/// Calls in flight; the largest value means that they have been taken.
const COUNT: Field = Field::lowest(26);
const TAG: Field = COUNT.above(38);

const TAKEN: u64 = COUNT.max();

/// How far back the epoch of a cell can be that has not been taken; further is another generation.
const RECENT: u64 = 1 << 14;

/// How far the epochs jump when their length changes.
const JUMP: u64 = 1 << 14;

/// The words of a config side.
const WIDTH: usize = 0;
const ORIGIN: usize = 1;
const LIMIT: usize = 2;
/// The first epoch of the era.
const FIRST: usize = 3;
/// The number of the era, from one on.
const ERA: usize = 4;
const SIDE_WORDS: usize = 5;

/// Who is in flight: a line of cells and the latest epoch, and one of the config sides' words.
#[derive(Debug)]
pub(crate) struct InFlight(Box<[Line]>);

/// What becomes of a call that returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Return {
    /// Its outcome is to be recorded.
    InTime,
    /// It has been counted as overdue.
    Overdue,
}

/// What becomes of a call that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// It is followed, and counts as started then: later than it did if the clock has stepped back.
    At(u64),
    /// It has to look at the clock and the breaker's word again.
    Late,
    /// The same, once so many calls are counted that it found to be overdue and has taken.
    Overdue(u64),
}

/// The calls of one generation, by one config side.
#[derive(Clone, Copy)]
pub(crate) struct Flight<'a> {
    in_flight: &'a InFlight,
    generation: u32,
    ruler: Ruler,
    first: u64,
    era: u64,
    /// The config side that this was read from.
    side: usize,
}

impl InFlight {
    /// Both sides are by this limit.
    #[cold]
    #[inline(never)]
    pub(crate) fn new(limit: u64) -> Self {
        let in_flight = Self(lines::lines(2 * lines::CELLS));
        in_flight.latest().store(FIRST_TICK, Relaxed);
        for side in 0..2 {
            in_flight.write(side, limit, [FIRST_TICK, FIRST_TICK, 1]);
        }
        in_flight
    }

    /// The latest epoch that anyone has seen. Raised only after all cells have been looked over
    /// for calls that are overdue by then.
    fn latest(&self) -> &AtomicU64 {
        &self.0[0][CELLS]
    }

    fn cells(&self) -> &[AtomicU64] {
        &self.0[0][..CELLS]
    }

    /// Fills a side that the breaker's word does not go with. Unless the other side has
    /// this very limit (`keeps`) it is a new era: calls in flight are not followed any more.
    pub(crate) fn fill(&self, side: usize, limit: u64, keeps: bool, now: u64) {
        let other = 1 - side;
        let timing = if keeps {
            [ORIGIN, FIRST, ERA].map(|word| self.read(other, word))
        } else {
            // Nobody may have come to an epoch of the last limit yet.
            let of_both = |word| self.read(side, word).max(self.read(other, word));
            let first = self.latest().load(Acquire).max(of_both(FIRST)) + JUMP;
            [
                first.wrapping_sub(now / width(limit)),
                first,
                of_both(ERA) + 1,
            ]
        };
        self.write(side, limit, timing);
    }

    fn write(&self, side: usize, limit: u64, [origin, first, era]: [u64; 3]) {
        for (word, value) in [
            (WIDTH, width(limit)),
            (ORIGIN, origin),
            (LIMIT, limit),
            (FIRST, first),
            // Last: see `Flight::is_whole`.
            (ERA, era),
        ] {
            // Release: pairs with `read`; whoever sees this value also sees that the
            // breaker's word has left the side.
            self.0[1][side * SIDE_WORDS + word].store(value, Release);
        }
    }

    fn read(&self, side: usize, word: usize) -> u64 {
        // Acquire: pairs with `write`.
        self.0[1][side * SIDE_WORDS + word].load(Acquire)
    }

    /// After how many nanoseconds a call is overdue.
    pub(crate) fn limit(&self, side: usize) -> u64 {
        self.read(side, LIMIT)
    }

    /// The calls of a generation, by the limit of a side.
    pub(crate) fn of(&self, side: usize, generation: u32) -> Flight<'_> {
        // First: see `Flight::is_whole`.
        let era = self.read(side, ERA);
        Flight {
            in_flight: self,
            generation,
            ruler: Ruler {
                width: self.read(side, WIDTH).max(1),
                origin: self.read(side, ORIGIN),
            },
            first: self.read(side, FIRST),
            era,
            side,
        }
    }
}

/// The nanoseconds of an epoch, at least a microsecond.
pub(crate) fn width(limit: u64) -> u64 {
    limit.div_ceil(EPOCHS).max(1000)
}

impl<'a> Flight<'a> {
    pub(crate) const fn era(self) -> u64 {
        self.era
    }

    /// Whether all that was read of the side is of one limit, given that the breaker's word
    /// goes with the side: who has read any of another one finds another era now.
    fn is_whole(self) -> bool {
        self.in_flight.read(self.side, ERA) == self.era
    }

    /// A cell without calls.
    fn empty(self, epoch: u64) -> u64 {
        TAG.put(Tag::of(self.generation, epoch).bits())
    }

    fn cell(self, epoch: u64) -> &'a AtomicU64 {
        &self.in_flight.cells()[(epoch % CELLS as u64) as usize]
    }

    /// Takes the calls that are overdue at `now` and says how many they are: nobody
    /// counts them again. `None` if the breaker's word is not `is_current` any more.
    pub(crate) fn take_overdue(self, now: u64, is_current: impl Fn() -> bool) -> Option<u64> {
        // Acquire: pairs with the raise; whoever sees an epoch also sees that those
        // which are overdue by then have been taken.
        let mut latest = self.in_flight.latest().load(Acquire);
        if self.later(latest, now).is_none() {
            return Some(0);
        }
        // A ruler that is not the word's might tell any epoch.
        if !(is_current() && self.is_whole()) {
            return None;
        }
        let mut taken = 0;
        // Somebody else may be faster, by an earlier reading of the clock.
        while let Some(later) = self.later(latest, now) {
            taken += self.take(latest, later);
            let raised = self.raise(latest, later);
            // A call that has started meanwhile, in an epoch of before, is seen now; one that
            // starts after this sees the new epoch.
            taken += self.take(latest, later);
            latest = raised;
        }
        Some(taken)
    }

    /// The epoch at `now`, or the first of the era, if it is later than this one.
    fn later(self, epoch: u64, now: u64) -> Option<u64> {
        let later = self.ruler.later(epoch, now).unwrap_or(epoch);
        Some(later.max(self.first)).filter(|&later| later > epoch)
    }

    /// Takes the calls of epochs that are overdue in this one; `latest` is the latest seen so far.
    fn take(self, latest: u64, present: u64) -> u64 {
        let mut taken = 0;
        for cell in self.in_flight.cells() {
            // Acquire: pairs with the exchanges of calls that start and land.
            let mut seen = cell.load(Acquire);
            loop {
                let count = COUNT.get(seen);
                let back = TAG.get(self.empty(latest)).wrapping_sub(TAG.get(seen)) & TAG.max();
                if back >= RECENT || count == TAKEN {
                    break;
                }
                let epoch = latest.wrapping_sub(back);
                // An epoch of an earlier era: its calls are not followed any more.
                let is_foreign = epoch.wrapping_sub(self.first).cast_signed() < 0;
                if !is_foreign && present.wrapping_sub(epoch) < OVERDUE {
                    break;
                }
                match cell.compare_exchange(seen, seen | TAKEN, AcqRel, Acquire) {
                    Ok(_) => {
                        taken += if is_foreign { 0 } else { count };
                        break;
                    }
                    Err(other) => seen = other,
                }
            }
        }
        taken
    }

    /// Moves the latest epoch on, unless somebody else has. Gives the latest.
    fn raise(self, from: u64, to: u64) -> u64 {
        // Release and Acquire: pairs with the loads, and with the look of a call that starts.
        let raised = self
            .in_flight
            .latest()
            .compare_exchange(from, to, AcqRel, Acquire);
        raised.map_or_else(|latest| latest, |_| to)
    }

    /// Follows a call that starts at `now`; those that are overdue by then have been
    /// taken.
    pub(crate) fn start(self, now: u64, is_current: impl Fn() -> bool) -> Start {
        // Acquire: pairs with the raise in `take_overdue`.
        let mut epoch = self.in_flight.latest().load(Acquire);
        loop {
            let new = self.empty(epoch);
            let cell = self.cell(epoch);
            // Acquire: pairs with the exchanges here.
            let seen = cell.load(Acquire);
            if !(is_current() && self.is_whole()) {
                return Start::Late;
            }
            if Tag::from_bits(TAG.get(seen)).is_after(Tag::of(self.generation, epoch)) {
                // It is a later epoch's by now. Or so old that it seems to be.
                let latest = self.in_flight.latest().load(Acquire);
                if latest != epoch {
                    epoch = latest;
                    continue;
                }
            }
            if let Some(count) = self.left_behind(seen, epoch) {
                let taken = cell.compare_exchange(seen, seen | TAKEN, AcqRel, Relaxed);
                if taken.is_ok() {
                    return Start::Overdue(count);
                }
                continue;
            }
            let is_same = seen & !COUNT.mask() == new;
            let next = match COUNT.get(seen) {
                // It is over for others.
                TAKEN if is_same => {
                    epoch = self.raise(epoch, epoch.wrapping_add(1));
                    continue;
                }
                // Too many to tell: as many as there can be stay.
                count if is_same && count == TAKEN - 1 => seen,
                _ if is_same => seen + 1,
                // Whatever else is there has been taken, or is of another generation.
                _ => new + 1,
            };
            if cell.compare_exchange(seen, next, AcqRel, Relaxed).is_ok() {
                break;
            }
        }
        // A read-modify-write, since it has to see the latest there is: pairs with the raise.
        let latest = self.in_flight.latest().fetch_add(0, AcqRel);
        let started = now.max(self.ruler.start(epoch));
        // In an epoch that is long over nobody might look for it.
        if latest.wrapping_sub(epoch) >= EPOCHS && self.leave(started) {
            return Start::Late;
        }
        Start::At(started)
    }

    /// How many calls a cell has of an epoch that was before it in its place, if they have not
    /// been taken: they were so late to start that nobody looked for them any more.
    fn left_behind(self, cell: u64, epoch: u64) -> Option<u64> {
        let back = TAG.get(self.empty(epoch)).wrapping_sub(TAG.get(cell)) & TAG.max();
        let count = COUNT.get(cell);
        let is_of_this_era = epoch
            .wrapping_sub(back)
            .wrapping_sub(self.first)
            .cast_signed()
            >= 0;
        let is_left = (1..RECENT).contains(&back) && (1..TAKEN).contains(&count);
        (is_left && is_of_this_era).then_some(count)
    }

    /// A call of this era that started then returns. `None` if the breaker's word is not
    /// `is_current` any more: then others may have given up the epoch, and not counted its calls.
    pub(crate) fn end_following(
        self,
        started: u64,
        is_current: impl Fn() -> bool,
    ) -> Option<Return> {
        let lasts = || is_current() && self.is_whole();
        if lasts() && self.leave(started) {
            return Some(Return::InTime);
        }
        lasts().then_some(Return::Overdue)
    }

    /// Ends the flight of a call that started then; false if it has been taken.
    fn leave(self, started: u64) -> bool {
        let epoch = self.ruler.tick(started);
        let cell = self.cell(epoch);
        loop {
            // Acquire: pairs with the exchanges.
            let seen = cell.load(Acquire);
            let count = COUNT.get(seen);
            // A cell is another epoch's only after its calls have been taken.
            if seen & !COUNT.mask() != self.empty(epoch) || count == TAKEN || count == 0 {
                return false;
            }
            let next = if count == TAKEN - 1 { seen } else { seen - 1 };
            if cell.compare_exchange(seen, next, AcqRel, Relaxed).is_ok() {
                return true;
            }
        }
    }
}
