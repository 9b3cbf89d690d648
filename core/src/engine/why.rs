//! Why a word is not closed: the records of its lineage, written and read.

use crate::contract::evidence::{Evidence, Moment, OperatorAction, Trip};
use crate::contract::label::Label;
use crate::contract::state::{Cause, State};
use crate::engine::Engine;
use crate::engine::records::{Lineage, TripRecord};
use crate::engine::sync::keeps_records;
use crate::engine::word::Word;

impl Engine {
    /// The lineage of a word. If the word has moved meanwhile the result means nothing, and the caller must look again.
    fn lineage_of(&self, word: Word) -> Lineage {
        let generation = word.generation();
        let before = || {
            let before = word.previous_generation();
            let value = self.records.lineage(before).get(before);
            value.map_or(Lineage::NONE, |value| Lineage::unpack(value, before))
        };
        match word.state() {
            State::Closed => Lineage::NONE,
            // Observe-only shows no evidence. It hands the trip on all the same: `resume` may go back to open.
            State::ObserveOnly => Lineage {
                trip: before().trip,
                operator: None,
            },
            State::Open => Lineage {
                trip: before().trip.or(Some(generation)),
                operator: None,
            },
            State::ForcedOpen | State::Disabled => Lineage {
                trip: before().trip,
                operator: Some(generation),
            },
            State::HalfOpen => {
                let Lineage { trip, operator } = before();
                let is_ordered = word.cause() == Cause::Operator;
                Lineage {
                    trip,
                    operator: operator.or(Some(generation)).filter(|_| is_ordered),
                }
            }
        }
    }

    /// The lineage of the word as it is.
    fn lineage_now(&self) -> (Word, Lineage) {
        loop {
            let word = self.word.load();
            let lineage = self.lineage_of(word);
            if self.generation() == word.generation() {
                return (word, lineage);
            }
        }
    }

    /// Publishes the lineage of the generation of `from`, which is about to be left: its successor's lineage
    /// is read from it. False if the word has moved meanwhile.
    #[must_use = "a generation may not be left whose lineage is not known"]
    pub(crate) fn hand_on_lineage(&self, from: Word) -> bool {
        if !keeps_records() || from.state() == State::Closed {
            return true;
        }
        let generation = from.generation();
        let lineage = self.lineage_of(from).pack(generation);
        let is_current = || self.generation() == generation;
        self.records
            .lineage(generation)
            .put(generation, is_current, |_| lineage)
    }

    /// Records what opened the breaker. To be called by the thread that moved the word to `word`, which is open.
    ///
    /// If the outage goes on (a probe failed, and the trip was generations ago), the trip's record stays as it is, and only the label
    /// is new.
    pub(crate) fn record_trip(&self, word: Word, record: TripRecord, label: Option<Label>) {
        if !keeps_records() {
            return;
        }
        let generation = word.generation();
        let (_, lineage) = self.lineage_now();
        if lineage.trip == Some(generation) {
            // As long as the word is the same, its lineage is.
            let lasts = || self.is_current(word) || self.lineage_now().1.trip == Some(generation);
            for (cell, value) in self.records.trip.iter().zip(record.pack()) {
                if !cell.put(generation, lasts, |_| value) {
                    return;
                }
            }
        }
        if let Some(label) = label {
            let lasts = || self.generation() == generation;
            let texts = self.on_demand.texts_for_more();
            texts.put_label(generation, label.as_str(), lasts);
        }
    }

    /// Records what an operator has ordered. To be called by the thread that moved the word to `word`.
    pub(crate) fn record_order(&self, word: Word, at: Moment, reason: &str) {
        if !keeps_records() {
            return;
        }
        let generation = word.generation();
        let lasts = || self.lineage_now().1.operator == Some(generation);
        if lasts() {
            let texts = self.on_demand.texts_for_more();
            texts.put_order(generation, at, reason, lasts);
        }
    }

    /// The evidence that goes with `word`, its ages as of `now`. If the generation of `word` is over meanwhile
    /// the result means nothing, and the caller must look again.
    pub(crate) fn evidence_of(&self, word: Word, now: u64) -> Evidence {
        if !keeps_records() || word.state() == State::ObserveOnly {
            return Evidence::default();
        }
        let Lineage { trip, operator } = self.lineage_of(word);
        Evidence {
            trip: trip.and_then(|generation| {
                let mut words = [0; 6];
                for (cell, word) in self.records.trip.iter().zip(&mut words) {
                    *word = cell.get(generation)?;
                }
                let record = TripRecord::unpack(words)?;
                Some(Trip {
                    cause: record.cause,
                    age: record.at.age(now),
                    counts: record.counts,
                    threshold: record.threshold,
                    label: self
                        .on_demand
                        .texts()
                        .and_then(|texts| texts.label_since(generation, word.generation())),
                })
            }),
            operator: operator.and_then(|generation| {
                let order = self.on_demand.texts()?.order.get()?;
                Some(OperatorAction {
                    age: Moment(order.at.get(generation)?).age(now),
                    reason: order.reason.get(generation)?,
                })
            }),
        }
    }
}

impl Engine {
    /// The generation in which what explains `word` began; `None` if nothing does.
    pub(crate) fn outage_of(&self, word: Word) -> Option<u32> {
        let (now, lineage) = self.lineage_now();
        if now.state() == State::ObserveOnly {
            return None;
        }
        let first = lineage.trip.or(lineage.operator)?;
        (now.generation() == word.generation()).then_some(first)
    }
}
