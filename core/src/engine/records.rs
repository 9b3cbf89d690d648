//! Records beside the word of what opened the breaker, kept until it closes.
//!
//! A record has several cells, so it cannot be there before the word moves without a race for them. The thread that wins a
//! trip moves the word first and writes the record after, in cells that are tagged with
//! the trip's generation. A reader sees the word, finds by its *lineage* which generation tripped, and takes
//! cells of that generation alone. If one of them is missing it takes none.
//!
//! For example, generation 5 is open by a trip, 6 half-open, 7 open again by a failed probe. The lineage of 7 says: the trip
//! was 5. A reader in generation 7 takes the cells that are tagged 5. A thread that still writes
//! the record of an earlier outage, generation 2, finds that 2 is in no lineage any more and stops. Between the move to 5 and the
//! last cell, some hundred nanoseconds, a reader finds no record.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use once_cell::race::OnceBox;

use crate::contract::evidence::{Evidence, Moment, OperatorAction, Threshold, Trip};
use crate::contract::label::{Label, cut};
use crate::contract::outcome::Counts;
use crate::contract::state::Cause;
use crate::engine::field::Field;
use crate::engine::tagged_cell::TaggedCell;
use crate::engine::word::Word;

/// The generations whose records explain why a word is not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lineage {
    /// The one that began with the trip.
    pub(super) trip: Option<u32>,
    /// The one that an operator ordered.
    pub(super) operator: Option<u32>,
}

/// A lineage is packed as distances, back from the generation whose lineage it is. A distance is written plus one, so that
/// zero means none. A generation two million back or more is none too.
const TRIP: Field = Field::lowest(21);
const OPERATOR: Field = TRIP.above(21);

impl Lineage {
    pub(super) const NONE: Self = Self {
        trip: None,
        operator: None,
    };

    pub(super) fn pack(self, generation: u32) -> u64 {
        let distance = |of: Option<u32>| {
            let of = of.map(|of| u64::from(Word::distance(of, generation)) + 1);
            of.filter(|&distance| distance <= TRIP.max()).unwrap_or(0)
        };
        TRIP.put(distance(self.trip)) | OPERATOR.put(distance(self.operator))
    }

    pub(super) fn unpack(value: u64, generation: u32) -> Self {
        let of = |distance: u64| {
            let back = distance.checked_sub(1)? as u32;
            Some(generation.wrapping_sub(back) % Word::GENERATIONS)
        };
        Self {
            trip: of(TRIP.get(value)),
            operator: of(OPERATOR.get(value)),
        }
    }
}

/// What is recorded of a trip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TripRecord {
    pub(crate) cause: Cause,
    pub(crate) at: Moment,
    pub(crate) counts: Counts,
    pub(crate) threshold: Option<Threshold>,
}

const CAUSE: Field = Field::lowest(6);
const KIND: Field = CAUSE.above(2);
const AMOUNT: Field = KIND.above(32);

const NO_RULE: u64 = 0;
const FAILURES: u64 = 1;
const RATIO: u64 = 2;
const SCORE: u64 = 3;

impl TripRecord {
    pub(super) fn pack(self) -> [u64; 6] {
        let (kind, amount) = match self.threshold {
            None => (NO_RULE, 0),
            Some(Threshold::Score(score)) => (SCORE, u64::from(score)),
            Some(Threshold::Failures(failures)) => (FAILURES, u64::from(failures)),
            Some(Threshold::Ratio(ratio)) => (RATIO, (ratio * Threshold::BILLIONTHS + 0.5) as u64),
        };
        let counts = self.counts;
        [
            self.at.0,
            CAUSE.put(self.cause as u64) | KIND.put(kind) | AMOUNT.put(amount),
            counts.samples.into(),
            counts.failures.into(),
            counts.timeouts.into(),
            counts.slow.into(),
        ]
    }

    pub(super) fn unpack(words: [u64; 6]) -> Option<Self> {
        let [at, cause, counts @ ..] = words;
        let [samples, failures, timeouts, slow] = counts.map(|count| count as u32);
        let amount = AMOUNT.get(cause);
        Some(Self {
            cause: *Cause::ALL.get(CAUSE.get(cause) as usize)?,
            at: Moment(at),
            counts: Counts {
                samples,
                failures,
                timeouts,
                slow,
            },
            threshold: match KIND.get(cause) {
                SCORE => Some(Threshold::Score(amount as u32)),
                FAILURES => Some(Threshold::Failures(amount as u32)),
                RATIO => Some(Threshold::Ratio(amount as f64 / Threshold::BILLIONTHS)),
                _ => None,
            },
        })
    }
}

/// A text in cells of five bytes, the length in the first byte.
#[derive(Debug)]
pub(super) struct Text<const CELLS: usize>([TaggedCell; CELLS]);

const BYTES: usize = 5;
const LABEL: usize = (1 + Label::MAX_LEN).div_ceil(BYTES);
const REASON: usize = (1 + OperatorAction::MAX_REASON).div_ceil(BYTES);
const _: () = assert!(OperatorAction::MAX_REASON <= u8::MAX as usize);

impl<const CELLS: usize> Text<CELLS> {
    /// Cells without a text: they are tagged with a generation that is half the number range away, so that no
    /// reader of a generation near this one takes them.
    fn before(generation: u32) -> Self {
        let other = generation.wrapping_sub(Word::GENERATIONS / 2) % Word::GENERATIONS;
        Self([(); CELLS].map(|()| TaggedCell::new(other, 0)))
    }

    fn put(&self, generation: u32, text: &str, current: impl Fn() -> bool) {
        let text = cut(text, CELLS * BYTES - 1);
        let mut bytes = core::iter::once(text.len() as u8).chain(text.bytes());
        for cell in &self.0[..(1 + text.len()).div_ceil(BYTES)] {
            let mut value = [0; 8];
            for (byte, next) in value.iter_mut().zip(bytes.by_ref().take(BYTES)) {
                *byte = next;
            }
            if !cell.put(generation, &current, |_| u64::from_le_bytes(value)) {
                return;
            }
        }
    }

    pub(super) fn get(&self, generation: u32) -> Option<Arc<str>> {
        let mut bytes = Vec::with_capacity(CELLS * BYTES);
        let mut len = 0;
        for (index, cell) in self.0.iter().enumerate() {
            if index > 0 && bytes.len() > len {
                break;
            }
            let value = cell.get(generation)?;
            bytes.extend_from_slice(&value.to_le_bytes()[..BYTES]);
            len = usize::from(bytes[0]);
        }
        let text = bytes.get(1..=len)?.to_vec();
        String::from_utf8(text).ok().map(Arc::from)
    }
}

/// What an operator has ordered.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) at: TaggedCell,
    pub(super) reason: Text<REASON>,
}

#[derive(Debug)]
pub(crate) struct Records {
    /// The lineage of an even generation and of an odd one; there before the word leaves it.
    lineage: [TaggedCell; 2],
    pub(super) trip: [TaggedCell; 6],
}

/// The texts of the records. Room is made for them when the first one is written.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    label: OnceBox<Text<LABEL>>,
    pub(super) order: OnceBox<Order>,
}

impl Records {
    /// The records of a breaker whose first generation follows `before`. A snapshot's trip, if there is one,
    /// is recorded as the trip of generation `before`.
    pub(crate) fn new(before: u32, trip: Option<&Trip>) -> Self {
        let record = trip.map(|trip| TripRecord {
            cause: trip.cause,
            at: Moment::before(trip.age),
            counts: trip.counts,
            threshold: trip.threshold,
        });
        let record = record.map_or([0; 6], TripRecord::pack);
        let lineage = Lineage {
            trip: trip.map(|_| before),
            operator: None,
        };
        Self {
            lineage: [0, 1].map(|parity| {
                let back = (before ^ parity) % 2;
                let generation = before.wrapping_sub(back) % Word::GENERATIONS;
                let value = if generation == before {
                    lineage.pack(before)
                } else {
                    0
                };
                TaggedCell::new(generation, value)
            }),
            trip: record.map(|value| TaggedCell::new(before, value)),
        }
    }

    pub(super) fn lineage(&self, generation: u32) -> &TaggedCell {
        &self.lineage[generation as usize % 2]
    }
}

impl Texts {
    /// The texts of a snapshot's evidence: the label as that of the generation `before`, and the
    /// operator's order as that of the first one.
    pub(crate) fn restore(&self, before: u32, first: u32, evidence: &Evidence) {
        let trip = evidence.trip.as_ref();
        if let Some(label) = trip.and_then(|trip| trip.label.as_ref()) {
            self.put_label(before, label, || true);
        }
        if let Some(operator) = &evidence.operator {
            self.put_order(
                first,
                Moment::before(operator.age),
                &operator.reason,
                || true,
            );
        }
    }

    pub(super) fn put_label(&self, generation: u32, label: &str, current: impl Fn() -> bool) {
        let new = || Box::new(Text::before(generation));
        self.label.get_or_init(new).put(generation, label, current);
    }

    pub(super) fn put_order(
        &self,
        generation: u32,
        at: Moment,
        reason: &str,
        current: impl Fn() -> bool,
    ) {
        let order = self.order.get_or_init(|| {
            let reason = Text::before(generation);
            let other = generation.wrapping_sub(Word::GENERATIONS / 2) % Word::GENERATIONS;
            Box::new(Order {
                at: TaggedCell::new(other, 0),
                reason,
            })
        });
        if order.at.put(generation, &current, |_| at.0) {
            order.reason.put(generation, reason, &current);
        }
    }

    /// The label that was given in one of these generations.
    pub(super) fn label_since(&self, first: u32, last: u32) -> Option<Arc<str>> {
        let label = self.label.get()?;
        let generation = label.0[0].generation();
        let is_one = Word::distance(generation, last) <= Word::distance(first, last);
        is_one.then(|| label.get(generation)).flatten()
    }
}
