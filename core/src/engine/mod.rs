//! The shared memory of a breaker, and the steps on it that need no clock.
//!
//! All of them follow one pattern. A thread loads the word, reads what else it needs, and decides. Then it moves the word by a
//! CAS from what it loaded. If the CAS succeeds, nothing that the decision was by had changed. If it fails, the thread
//! starts over.

pub(crate) mod beside;
mod by_count;
pub(crate) mod by_score;
pub(crate) mod by_time;
pub(crate) mod chance;
pub(crate) mod counters;
pub(crate) mod field;
mod generations;
pub(crate) mod in_flight;
pub(crate) mod lines;
pub(crate) mod on_demand;
pub(crate) mod on_ramp;
pub(crate) mod past;
pub(crate) mod pulse;
pub(crate) mod ramp;
pub(crate) mod records;
pub(crate) mod restore;
pub(crate) mod settings;
pub(crate) mod shape;
pub(crate) mod sync;
pub(crate) mod tagged_cell;
pub(crate) mod wait;
mod why;
pub(crate) mod window;
pub(crate) mod word;

use crate::contract::config::{Config, Window};
use crate::contract::outcome::Counts;
use crate::contract::rules::Rules;
use crate::contract::stages::Recovery;
use crate::contract::state::Cause;
use crate::engine::beside::Beside;
use crate::engine::on_demand::OnDemand;
use crate::engine::records::Records;
use crate::engine::settings::{Settings, Terms};
use crate::engine::sync::AtomicU64;
use crate::engine::window::count::NEAR_WORDS;
use crate::engine::window::tally::Tally;
use crate::engine::word::{AtomicWord, HalfOpen, Word};

/// The word, the tally and the near ring words come first, and the breaker is aligned to 128 bytes. So all but the last of the
/// ring words, which a window of more than 112 has, lie in one block of 128 bytes that shares its cache lines with nothing
/// else, and a contended call moves that block between processors and no other.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Engine {
    pub(crate) word: AtomicWord,
    pub(crate) tally: Tally,
    pub(crate) near: [AtomicU64; NEAR_WORDS],
    pub(crate) settings: Settings,
    pub(crate) beside: [Beside; 2],
    /// What opened the breaker.
    pub(crate) records: Records,
    pub(crate) on_demand: OnDemand,
}

/// What came of an attempt to record an outcome.
pub(crate) enum Recording {
    /// The outcome is in the window.
    Done,
    /// The word has moved meanwhile.
    Moved,
    /// With the outcome in the window this rule matches, and this is what the window then holds. The word
    /// has not been moved: the caller has to open the breaker instead.
    Matches(Cause, Counts),
}

impl Engine {
    pub(crate) fn generation(&self) -> u32 {
        self.word.load().generation()
    }

    /// Whether the word has not moved from `word`.
    #[inline]
    pub(crate) fn is_current(&self, word: Word) -> bool {
        self.word.load() == word
    }

    /// The config that goes with `word`.
    #[inline]
    pub(crate) fn terms(&self, word: Word) -> Terms<'_> {
        self.settings.terms(word.side())
    }

    /// The whole config that goes with `word`.
    pub(crate) fn config(&self, word: Word) -> Config {
        let overdue_after = self
            .on_demand
            .in_flight()
            .map(|in_flight| in_flight.limit(word.side()));
        self.terms(word).config(
            self.window(word),
            overdue_after.unwrap_or(0),
            self.on_demand.rare(word.side()),
        )
    }

    /// The rules that go with `word`.
    pub(crate) fn rules(&self, word: Word) -> Rules {
        Rules {
            failures: self.on_demand.rare(word.side()).failures,
            ..self.terms(word).rules()
        }
    }

    /// How half-open is decided by the config that goes with `word`.
    #[inline]
    pub(crate) fn recovery(&self, word: Word) -> Recovery {
        let at_once = self.terms(word).at_once();
        at_once.unwrap_or_else(|| self.stages(word))
    }

    #[cold]
    fn stages(&self, word: Word) -> Recovery {
        let stages = self.on_demand.rare(word.side()).stages;
        // Without them the side is being filled anew, and the word has moved: whatever is decided will not hold.
        Recovery::Staged(stages.unwrap_or_default())
    }

    /// Of a half-open word: whether there is a slot for one more probe.
    #[inline]
    pub(crate) fn has_slot(&self, word: Word) -> bool {
        match self.terms(word).at_once() {
            // It needs no more of the word than how many are out.
            Some(at_once) => at_once.free_slots(word.probes_out(), 0, 0) > 0,
            None => self.has_slot_in_stage(word),
        }
    }

    #[cold]
    fn has_slot_in_stage(&self, word: Word) -> bool {
        let HalfOpen {
            out, passed, bad, ..
        } = word.half_open();
        self.stages(word).free_slots(out, passed, bad) > 0
    }

    /// The window that goes with `word`.
    pub(crate) fn window(&self, word: Word) -> Window {
        let side = word.side();
        self.terms(word)
            .window()
            .unwrap_or_else(|| self.timeline().window(side))
    }

    /// Of a word that records: whether its window is one of scores.
    #[inline]
    pub(crate) fn is_by_score(&self, word: Word) -> bool {
        self.terms(word).thresholds().is_by_score()
    }

    /// Makes `word` ready to be left for another generation: writes its pending outcome to the ring. Says what the window
    /// holds; `None` if the word has moved meanwhile.
    ///
    /// Were it left out: thread A has loaded the old word and is about to write its pending failure; thread B begins a new
    /// generation with an empty window and puts a success in the same place; A's write would turn that into the old failure.
    pub(crate) fn leave(&self, word: Word, now: impl FnOnce() -> u64) -> Option<Counts> {
        if !word.is_recording() {
            return Some(Counts::default());
        }
        if word.is_by_time() {
            return Some(self.counts_by_time(word, now()));
        }
        if self.is_by_score(word) {
            return Some(Counts::default());
        }
        self.leave_by_count(word)
    }
}
