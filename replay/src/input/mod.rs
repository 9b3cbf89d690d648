//! Logs in, calls out: sorted by their starts, each once.

mod file;
mod format;
mod options;
mod pairs;
mod reading;
mod row;
mod sort;
mod source;
mod stamp;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Error;
use crate::call::{Call, Keys};

use self::file::{Counts, File, gcd};
use self::pairs::Pairs;
use self::sort::{Item, Sorter};

pub use format::{Map, Name as FormatName};
pub use options::{By, Options};
pub use reading::{InputRead, Reading};
pub use source::{Progress, Source};
pub use stamp::Unit;

/// Reads logs call by call, in the order of their starts, in bounded memory.
#[derive(Debug)]
pub struct Input {
    options: Options,
    files: Vec<File>,
    /// Files whose next call, or earliest possible call, is known.
    heads: BinaryHeap<Reverse<(i64, usize)>>,
    pairs: Pairs,
    keys: Keys,
    reading: Reading,
    last: i64,
}

impl Input {
    /// Opens the sources and finds their formats.
    ///
    /// # Errors
    ///
    /// [`Error::File`] for what cannot be read, [`Error::Input`] for what is empty, binary, or in no format that is known.
    pub fn open(sources: &[Source], options: Options, progress: &Progress) -> Result<Self, Error> {
        let mut input = Self {
            files: Vec::new(),
            heads: BinaryHeap::new(),
            pairs: Pairs::default(),
            keys: Keys::default(),
            reading: Reading::default(),
            last: i64::MIN,
            options,
        };
        let mut resolution = 0;
        let most_waiting = (Sorter::MOST / sources.len().max(1)).max(1);
        for source in sources {
            let file = File::open(source, &input.options, progress, most_waiting)?;
            resolution = gcd(resolution, file.resolution);
            input.reading.inputs.push(InputRead {
                name: source.name(),
                format: file.format,
                cut_short: None,
            });
            input.heads.push(Reverse((
                file.first.saturating_sub(input.within()),
                input.files.len(),
            )));
            input.files.push(file);
        }
        input.reading.resolution_ns = resolution;
        Ok(input)
    }

    fn within(&self) -> i64 {
        i64::try_from(self.options.within.as_nanos()).unwrap_or(i64::MAX)
    }

    /// Adds the next calls, about as many as asked for; `false` when there are none any more.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] when there are more keys than may be.
    pub fn read(&mut self, calls: &mut Vec<Call>, about: usize) -> Result<bool, Error> {
        let enough = calls.len() + about;
        while calls.len() < enough {
            let Some(Reverse((_, index))) = self.heads.pop() else {
                return Ok(false);
            };
            let mut counts = Counts {
                options: &self.options,
                keys: &mut self.keys,
                reading: &mut self.reading,
            };
            // As long as it is the next of all, its calls are taken without asking again.
            let file = &mut self.files[index];
            while let Some(start) = file.peek(index, &mut counts)? {
                let other = self
                    .heads
                    .peek()
                    .map_or(i64::MAX, |Reverse((start, _))| *start);
                if start > other || calls.len() >= enough {
                    self.heads.push(Reverse((start, index)));
                    break;
                }
                if let Some(item) = file.take() {
                    note(item, &mut self.last, &mut self.pairs, &mut counts, calls);
                }
            }
        }
        Ok(true)
    }

    /// Sets the most keys that there may be.
    pub const fn limit_keys(&mut self, most: usize) {
        self.options.max_keys = most;
    }

    /// What was read so far.
    pub const fn reading(&self) -> &Reading {
        &self.reading
    }

    /// The keys that were seen so far.
    pub const fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Reads no further line: what is left to [`read`](Self::read) are the calls of lines that were read.
    pub fn stop(&mut self) {
        self.reading.stopped = true;
        for file in &mut self.files {
            file.end();
        }
    }

    /// Ends the reading: what was read, and the keys.
    pub fn finish(self) -> (Reading, Keys) {
        (self.reading, self.keys)
    }
}

/// Counts one call of the merged order, and gives it on if it is to be replayed.
fn note(
    item: Item,
    last: &mut i64,
    pairs: &mut Pairs,
    counts: &mut Counts<'_>,
    calls: &mut Vec<Call>,
) {
    let (reading, call) = (&mut *counts.reading, item.call);
    if call.start < *last {
        reading.skip(
            "earlier than the calls before by more than the bound of the sort",
            || "a call came too late to be sorted: see --sort-within".to_owned(),
        );
        return;
    }
    let within = i64::try_from(counts.options.within.as_nanos()).unwrap_or(i64::MAX);
    if let Some((side, id)) = item.side
        && pairs.is_second(call.start, within, side, id)
    {
        reading.duplicates += 1;
        return;
    }
    if reading.first_ns.is_some() {
        reading.gap(*last, call.start);
    }
    *last = call.start;
    reading.calls += 1;
    reading.without_duration += u64::from(item.without_duration);
    reading.first_ns.get_or_insert(call.start);
    reading.last_ns = reading.last_ns.max(Some(call.end()));
    calls.push(call);
}

/// A time as people write it: seconds since the epoch, or RFC 3339.
pub(crate) fn moment(text: &str) -> Option<i64> {
    stamp::decimal(text, Unit::Seconds).or_else(|| stamp::rfc3339(text))
}
