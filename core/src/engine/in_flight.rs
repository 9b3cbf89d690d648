//! Calls in flight, by when they started: so that a call that hangs is counted before it returns.
//!
//! Time is divided into *epochs*, an eighth of the limit each and at least a microsecond. Each epoch has
//! a cell, which says how many of the calls that started in it are in flight. A call that starts adds one. A call
//! that returns takes its one away.
//!
//! Once eight whole epochs have passed since an epoch, the calls that are left in its cell are overdue. The
//! first thread that sees the ninth epoch *takes* them: its CAS marks the cell as taken, and what the
//! cell said is how many they are. Nobody counts them again: another thread that looks finds
//! the mark, and each of these calls finds it when it returns.
//!
//! For example, the limit is 800 ms, so an epoch is 100 ms. Two calls start at 50 ms, in epoch 0: its cell says 2.
//! One returns at 300 ms: the cell says 1. At 900 ms epoch 9 begins, and threads A and B each
//! admit a call. Both read 1 in the cell. A's CAS marks the cell, so A puts one timeout in the window. B's CAS fails;
//! B reads again, finds the mark, and counts nothing. The call returns at 2 s, finds the mark, and is settled as overdue.
//!
//! So a call is counted when it has been in flight for the limit at least (here 800 ms) and nine eighths of it at most
//! (900 ms), as soon after that as any call is admitted or settled. Within an epoch there is nothing to look for.
//!
//! Another limit begins a new *era*, whose epochs come after those of all others. A permit says in which era
//! its call is followed. A call of an earlier era is not followed any more: it counts when it returns.

use alloc::boxed::Box;

use crate::engine::field::Field;
use crate::engine::lines::{self, Line};
use crate::engine::sync::{AcqRel, Acquire, AtomicU64, Relaxed, Release};
use crate::engine::window::cell::Tag;
use crate::engine::window::ruler::{FIRST_TICK, Ruler};

/// How many epochs a limit has.
const PER_LIMIT: u64 = 8;

/// The calls of an epoch are overdue in the epoch that comes so many later.
const OVERDUE: u64 = PER_LIMIT + 1;

/// How many cells there are; they share a line with the latest epoch. Ten are needed: calls that are not overdue started
/// in the present epoch or one of the nine before it.
const CELLS: usize = lines::CELLS - 1;

/// How many calls are in flight; the largest value is the mark that they have been taken.
const COUNT: Field = Field::lowest(26);
const TAG: Field = COUNT.above(38);

const TAKEN: u64 = COUNT.max();

/// A cell that has not been taken is of an epoch at most so far back. What seems to be further back is of another generation.
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

/// The calls in flight. The first line has the cells and the latest epoch, the second the words of both config sides.
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
    /// It is followed. It counts as started at this reading: that of the clock, or the begin of the latest
    /// epoch if the clock has stepped back since.
    ///
    /// For example, epochs are 100 ms and one thread has seen epoch 7. Another call's reading is 690 ms: it
    /// counts as started at 700 ms.
    At(u64),
    /// It is not followed. The caller has to read the clock and the breaker's word again.
    Late,
    /// It is not followed. It has taken so many calls that are overdue, which the caller has to put in the window;
    /// then as for [`Late`](Self::Late).
    Overdue(u64),
}

/// The epochs of one generation, by one config side.
#[derive(Clone, Copy)]
pub(crate) struct Epochs<'a> {
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
        // Relaxed: nobody else has it before the pointer to it is published.
        in_flight.latest().store(FIRST_TICK, Relaxed);
        for side in 0..2 {
            in_flight.write(side, limit, [FIRST_TICK, FIRST_TICK, 1]);
        }
        in_flight
    }

    /// The latest epoch that a thread has seen. A thread raises it only after it has looked over all cells
    /// for calls that are overdue in the new one.
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
            // The latest epoch may be of an earlier era still, if no call has come since the last change.
            let of_both = |word| self.read(side, word).max(self.read(other, word));
            // Acquire: pairs with the raise; the new era comes after what that thread saw.
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
            // The era is written last and read first: see `Epochs::is_whole`.
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
    pub(crate) fn of(&self, side: usize, generation: u32) -> Epochs<'_> {
        // The era is read first and written last: see `Epochs::is_whole`.
        let era = self.read(side, ERA);
        Epochs {
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
    limit.div_ceil(PER_LIMIT).max(1000)
}

impl<'a> Epochs<'a> {
    pub(crate) const fn era(self) -> u64 {
        self.era
    }

    /// Whether all words that were read of the side are of one limit. To be asked after the breaker's word was
    /// seen to go with the side.
    ///
    /// For example, this thread reads era 1, then a reconfiguration fills the side for a limit of 2 s, as era 3, and this
    /// thread reads the width of that. The word goes with the side again, so the side is filled as a whole, and its era is 3 and not 1.
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
        // Acquire: pairs with the raise; a thread that sees an epoch also sees that the calls
        // which are overdue in it have been taken.
        let mut latest = self.in_flight.latest().load(Acquire);
        if self.later(latest, now).is_none() {
            return Some(0);
        }
        // By a ruler that does not go with the word, `later` may be any epoch, and it must not be raised to that.
        if !(is_current() && self.is_whole()) {
            return None;
        }
        let mut taken = 0;
        // Another thread may raise the latest epoch first, by an earlier reading of the clock: then it is not there yet.
        while let Some(later) = self.later(latest, now) {
            taken += self.take(latest, later);
            let raised = self.raise(latest, later);
            // A call may have started in an old epoch between the first look and the raise: this second look finds it.
            // A call that starts after the raise sees the new epoch, in `start`.
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

    /// Takes the calls that are overdue in the epoch `present`, and says how many. `latest` is the latest epoch seen so far.
    fn take(self, latest: u64, present: u64) -> u64 {
        let mut taken = 0;
        for cell in self.in_flight.cells() {
            // Acquire: pairs with the exchanges in `start` and `end`.
            let mut seen = cell.load(Acquire);
            loop {
                let count = COUNT.get(seen);
                let back = TAG.get(self.empty(latest)).wrapping_sub(TAG.get(seen)) & TAG.max();
                if back >= RECENT || count == TAKEN {
                    break;
                }
                let epoch = latest.wrapping_sub(back);
                // The epoch is of an earlier era, whose calls are not followed any more: they are taken and not counted.
                let is_foreign = epoch.wrapping_sub(self.first).cast_signed() < 0;
                if !is_foreign && present.wrapping_sub(epoch) < OVERDUE {
                    break;
                }
                // Release: pairs with the loads here, in `start` and in `end`. Acquire: as of the load before.
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
        // Release: pairs with the loads of `latest`; the cells were looked over before. Acquire: pairs with the release here by
        // another thread, and with that of the `fetch_add` in `start`: its call's cell is seen in the second look.
        let raised = self
            .in_flight
            .latest()
            .compare_exchange(from, to, AcqRel, Acquire);
        raised.map_or_else(|latest| latest, |_| to)
    }

    /// Follows a call that starts at `now`. The calls that are overdue at `now` have been taken before.
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
                // The cell is of a later epoch by now; or it is so old that the tag, which wraps, seems later.
                // Acquire: pairs with the raise; what a later epoch put in the cell comes after it.
                let latest = self.in_flight.latest().load(Acquire);
                if latest != epoch {
                    epoch = latest;
                    continue;
                }
            }
            if let Some(count) = self.left_behind(seen, epoch) {
                // Release: pairs with the loads of the cell. Relaxed: a failure loads it again.
                let taken = cell.compare_exchange(seen, seen | TAKEN, AcqRel, Relaxed);
                if taken.is_ok() {
                    return Start::Overdue(count);
                }
                continue;
            }
            let is_same = seen & !COUNT.mask() == new;
            let next = match COUNT.get(seen) {
                // Another thread, with a later reading of the clock, has taken this epoch's cell: the call starts in the next.
                TAKEN if is_same => {
                    epoch = self.raise(epoch, epoch.wrapping_add(1));
                    continue;
                }
                // More calls than the cell can count: it stays at the most.
                count if is_same && count == TAKEN - 1 => seen,
                _ if is_same => seen + 1,
                // What is there has been taken, or is of another generation: this call begins the cell anew.
                _ => new + 1,
            };
            // Release: pairs with the loads in `take` and `end`. Relaxed: a failure loads it again.
            if cell.compare_exchange(seen, next, AcqRel, Relaxed).is_ok() {
                break;
            }
        }
        // AcqRel, in a read-modify-write: it pairs with the raise, whichever comes first. If the raise does, this sees the new
        // epoch. If this does, the raise is by a thread that sees the call in its cell at its second look.
        let latest = self.in_flight.latest().fetch_add(0, AcqRel);
        let started = now.max(self.ruler.start(epoch));
        // The thread that raised `latest` so far may have looked at the cell before the call was in it; then nobody would take
        // it. So the call leaves the cell and starts again. If it cannot leave, another thread has counted it as overdue
        // already: it keeps its start, and returns as overdue.
        if latest.wrapping_sub(epoch) >= PER_LIMIT && self.end(started) {
            return Start::Late;
        }
        Start::At(started)
    }

    /// How many calls a cell has of an earlier epoch that have not been taken: they came to the cell so late that the
    /// threads which looked for them had looked before.
    ///
    /// For example, with 15 cells epoch 3 and epoch 18 have the same one. A call that starts in epoch 18 and finds two
    /// calls of epoch 3 there has to take them, since they are overdue and it needs the cell.
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

    /// What becomes of a call of this era that started at `started` and returns. `None` if the breaker's word is not
    /// `is_current` any more: then a thread of another era may have taken the call without counting it.
    pub(crate) fn end_following(
        self,
        started: u64,
        is_current: impl Fn() -> bool,
    ) -> Option<Return> {
        let lasts = || is_current() && self.is_whole();
        if lasts() && self.end(started) {
            return Some(Return::InTime);
        }
        lasts().then_some(Return::Overdue)
    }

    /// Takes the call that started at `started` out of its cell; false if it has been taken already.
    fn end(self, started: u64) -> bool {
        let epoch = self.ruler.tick(started);
        let cell = self.cell(epoch);
        loop {
            // Acquire: pairs with the exchanges in `start` and `take`.
            let seen = cell.load(Acquire);
            let count = COUNT.get(seen);
            // A cell goes to another epoch only after its calls have been taken.
            if seen & !COUNT.mask() != self.empty(epoch) || count == TAKEN || count == 0 {
                return false;
            }
            let next = if count == TAKEN - 1 { seen } else { seen - 1 };
            // Release: pairs with the loads in `take` and `start`. Relaxed: a failure loads it again.
            if cell.compare_exchange(seen, next, AcqRel, Relaxed).is_ok() {
                return true;
            }
        }
    }
}
