//! One file: from lines to calls in order.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::format::{How, Name, detect};
use super::options::{By, DAY, Options};
use super::reading::{Reading, shown};
use super::row::{Format, Row, Time};
use super::sort::{Item, Sorter};
use super::source::{Line, Lines, Progress, Source};
use cutout::Outcome;

use crate::Error;
use crate::call::{Call, Keys};
use crate::verdict::Status;

/// What all files count into.
pub(super) struct Counts<'c> {
    pub(super) options: &'c Options,
    pub(super) keys: &'c mut Keys,
    pub(super) reading: &'c mut Reading,
}

pub(super) struct File {
    name: String,
    pub(super) format: Name,
    reader: Box<dyn Format>,
    lines: Lines,
    /// The first lines, which were read to find the format.
    sample: VecDeque<(Line, Vec<u8>)>,
    number: u64,
    /// The middle of the sample's starts: a first stamp far beyond is not taken for the log's time.
    pub(super) first: i64,
    /// Seconds, milliseconds, microseconds or nanoseconds: what all stamps of the sample are multiples of.
    pub(super) resolution: u64,
    intake: Intake,
    ended: bool,
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File")
            .field("name", &self.name)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

impl File {
    /// How many lines are read to find the format, and how many bytes at most.
    const SAMPLE: (usize, usize) = (200, 4 << 20);

    pub(super) fn open(
        source: &Source,
        options: &Options,
        progress: &Progress,
        most_waiting: usize,
    ) -> Result<Self, Error> {
        let name = source.name();
        let wrong = |message: String| Error::Input {
            name: name.clone(),
            message,
        };
        let mut lines = source.open(progress)?;
        let mut sample = VecDeque::new();
        let mut bytes = 0;
        while sample.len() < Self::SAMPLE.0 && bytes < Self::SAMPLE.1 {
            let line = match lines.next() {
                Ok(Line::End) => break,
                Ok(line) => line,
                // What was read before may still be a log; the error comes again, and is told then.
                Err(_) if !sample.is_empty() => break,
                Err(error) => return Err(wrong(format!("cannot be read: {error}"))),
            };
            bytes += lines.text().len();
            sample.push_back((line, lines.text().to_vec()));
        }
        if sample.iter().any(|(_, text)| text.contains(&0)) {
            return Err(wrong("is binary, not a log of lines".to_owned()));
        }
        let texts: Vec<String> = sample
            .iter()
            .map(|(_, text)| String::from_utf8_lossy(text).trim().to_owned())
            .filter(|text| !text.is_empty())
            .collect();
        if texts.is_empty() {
            return Err(wrong("has no lines".to_owned()));
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let how = How {
            map: options.map.clone(),
            zone: options.zone.clone(),
            attempts: options.attempts,
        };
        let format = match options.format {
            Some(format) => format,
            None => {
                detect(&texts, &how)
                    .ok_or_else(|| wrong(unknown(&texts)))?
                    .0
            }
        };
        let columns = || {
            let columns = "has no first line that names the columns that are asked for: see --map";
            wrong(columns.to_owned())
        };
        let mut trial = format.reader(texts[0], &how).ok_or_else(columns)?;
        let (mut starts, mut resolution, mut keyed) = (Vec::new(), 0, false);
        let mut note = |row: Row<'_>| {
            let (Time::Start(stamp) | Time::End(stamp)) = row.time;
            resolution = gcd(resolution, stamp.unsigned_abs());
            starts.push(start(&row));
            keyed |= !key(&row, options.by).is_empty();
        };
        for text in &texts {
            let _ = trial.line(text, &mut note);
        }
        if !keyed && options.by != By::Nothing && !starts.is_empty() {
            return Err(wrong(format!(
                "is in the format {format}, which has nothing to tell calls apart by as `--by` asks: leave it out, or map a key"
            )));
        }
        // The coarsest unit that a stamp is written in; a sample of one stamp is a multiple of anything.
        const UNITS: [u64; 4] = [1_000_000_000, 1_000_000, 1_000, 1];
        let unit = UNITS.into_iter().find(|unit| resolution % unit == 0);
        let resolution = unit.unwrap_or(1);
        starts.sort_unstable();
        let first = starts.get(starts.len() / 2).copied().unwrap_or(i64::MIN);
        let within = i64::try_from(options.within.as_nanos()).unwrap_or(i64::MAX);
        Ok(Self {
            reader: format.reader(texts[0], &how).ok_or_else(columns)?,
            format,
            lines,
            sample,
            number: 0,
            first: starts.first().copied().unwrap_or(i64::MIN).min(first),
            resolution,
            intake: Intake {
                sorter: Sorter::new(within, most_waiting),
                within,
                newest: first,
                far: None,
                places: 0,
            },
            ended: false,
            name,
        })
    }

    /// The next call, which [`peek`](Self::peek) has seen.
    pub(super) fn take(&mut self) -> Option<Item> {
        self.intake.sorter.pop()
    }

    /// When the next call begins.
    pub(super) fn peek(
        &mut self,
        index: usize,
        counts: &mut Counts<'_>,
    ) -> Result<Option<i64>, Error> {
        loop {
            if let Some(start) = self.intake.sorter.peek(self.ended) {
                return Ok(Some(start));
            }
            if self.ended {
                return Ok(None);
            }
            self.line(index, counts)?;
        }
    }

    /// No further line is read.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.intake.settle_far();
    }

    /// Reads one line.
    fn line(&mut self, index: usize, counts: &mut Counts<'_>) -> Result<(), Error> {
        let sampled = self.sample.pop_front();
        let line = match &sampled {
            Some((line, _)) => *line,
            None => match self.lines.next() {
                Ok(line) => line,
                Err(error) => {
                    counts.reading.inputs[index].cut_short = Some(error.to_string());
                    Line::End
                }
            },
        };
        let bytes = match &sampled {
            Some((_, text)) => text,
            None => self.lines.text(),
        };
        self.number += 1;
        let (name, number) = (&self.name, self.number);
        if line == Line::End {
            self.end();
            return Ok(());
        }
        if line == Line::Whole && bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        counts.reading.lines += 1;
        if line == Line::Cut {
            let place = || format!("{name}:{number}: longer than {} bytes", Lines::MAX);
            counts.reading.skip("a line that is too long", place);
            return Ok(());
        }
        let text = String::from_utf8_lossy(bytes);
        let intake = &mut self.intake;
        let (mut calls, mut refused, mut failed) = (0_u64, None, None);
        let read = self.reader.line(text.trim(), &mut |row| {
            calls += 1;
            match intake.admit(&row, counts) {
                Ok(()) => {}
                Err(Refused::Why(why)) => refused = Some(why),
                Err(Refused::Error(error)) => failed = Some(error),
            }
        });
        if let Some(message) = failed {
            let name = name.clone();
            return Err(Error::Input { name, message });
        }
        match read.err().or(refused) {
            Some(why) => counts
                .reading
                .skip(why, || format!("{name}:{number}: {why}: {}", shown(bytes))),
            None => counts.reading.not_calls += u64::from(calls == 0),
        }
        Ok(())
    }
}

/// What takes the calls of lines, and knows which times to believe.
struct Intake {
    sorter: Sorter,
    within: i64,
    newest: i64,
    /// A call that begins a day and more after all before it: believed unless the next goes on as before.
    far: Option<Item>,
    places: u64,
}

enum Refused {
    Why(&'static str),
    Error(String),
}

impl Intake {
    fn admit(&mut self, row: &Row<'_>, counts: &mut Counts<'_>) -> Result<(), Refused> {
        let options = counts.options;
        let took = row.took.unwrap_or(0);
        let took = u64::try_from(took).map_err(|_| Refused::Why("a negative duration"))?;
        let outcome = options.verdicts.outcome(row.status);
        let mut outcome =
            outcome.ok_or(Refused::Why("a status that is not known: see --verdict"))?;
        let start = start(row);
        if start > options.now.saturating_add(DAY) {
            return Err(Refused::Why("a time in the future"));
        }
        if start <= 0 {
            return Err(Refused::Why("a time before 1970"));
        }
        let key = counts.keys.number(key(row, options.by));
        if counts.keys.len() > options.max_keys {
            return Err(Refused::Error(format!(
                "has more than {} keys: is `--by` what you want? If it is, raise --max-keys",
                options.max_keys
            )));
        }
        let slow = options.slow.is_slow(counts.keys.name(key), took);
        if slow && options.slow_is_timeout {
            outcome = Outcome::Timeout;
        }
        let failed = matches!(outcome, Outcome::Failure | Outcome::Timeout);
        let label = if failed {
            counts.reading.label(&said(row))
        } else {
            0
        };
        self.places += 1;
        let item = Item {
            call: Call {
                start,
                took,
                key,
                outcome,
                label,
                bad: failed || slow,
            },
            without_duration: row.took.is_none(),
            side: row.side,
            place: self.places,
        };
        if let Some(far) = &self.far {
            if start.saturating_add(self.within) < far.call.start {
                self.far = None;
                counts.reading.skip("a stamp far from its neighbours", || {
                    "one stamp lay a day and more after those around it".to_owned()
                });
            } else {
                self.settle_far();
            }
        }
        if start > self.newest.saturating_add(DAY) {
            self.far = Some(item);
        } else {
            self.push(item);
        }
        Ok(())
    }

    fn push(&mut self, item: Item) {
        self.newest = self.newest.max(item.call.start);
        self.sorter.push(item);
    }

    fn settle_far(&mut self) {
        if let Some(far) = self.far.take() {
            self.push(far);
        }
    }
}

fn start(row: &Row<'_>) -> i64 {
    match row.time {
        Time::Start(start) => start,
        Time::End(end) => end.saturating_sub(row.took.unwrap_or(0).max(0)),
    }
}

/// What the line says of a failure, in a word.
fn said<'a>(row: &Row<'a>) -> Cow<'a, str> {
    match row.status {
        _ if !row.said.is_empty() => row.said.into(),
        Status::Code(code) => code.to_string().into(),
        Status::Word(word) => word.into(),
        Status::Known(_) => "".into(),
    }
}

/// What the call is told apart by, without what may be secret.
fn key<'a>(row: &Row<'a>, by: By) -> &'a str {
    let key = match by {
        By::Nothing => return "",
        By::Upstream => row.upstream,
        By::Host => row.host,
        By::Path => row.path,
    };
    let key = &key[..key.find(['?', '#']).unwrap_or(key.len())];
    match key.split_once("://") {
        Some((_, rest)) if rest.contains('@') => {
            rest.rsplit_once('@').map_or(rest, |(_, rest)| rest)
        }
        _ => key,
    }
}

fn unknown(lines: &[&str]) -> String {
    let first = lines
        .first()
        .map_or(String::new(), |line| shown(line.as_bytes()));
    let pretty = first.starts_with('{') || first.starts_with('[');
    let hint = if pretty {
        "JSON must have one object a line (`jq -c .` writes it so), and fields of one's own need --map"
    } else {
        "name it with --format, or its columns with --map"
    };
    format!("is in no format that is known; {hint}. It begins with: {first}")
}

/// What both are multiples of.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
