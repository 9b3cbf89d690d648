//! Which named column is what, for CSV and JSON lines.

use std::str::FromStr;

use cutout::Outcome;
use jiff::tz::TimeZone;

use crate::Error;
use crate::input::row::{Row, Time, Why};
use crate::input::stamp::{Unit, decimal, local, rfc3339};
use crate::verdict::Status;

/// The columns of a log by their names: `time=ts,status=code,duration=latency_ms,key=host`.
///
/// `time` (or `start`) is when a call began, `end` when it ended. A duration's unit is said by the end of its
/// column's name (`latency_ms`) or behind a colon (`duration=latency:us`); an epoch time's by its size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map {
    pub(crate) start: Option<Column>,
    pub(crate) end: Option<Column>,
    pub(crate) duration: Option<Column>,
    pub(crate) status: Option<Column>,
    pub(crate) key: Option<Column>,
}

/// A column and the unit of its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) unit: Option<Unit>,
}

impl Column {
    fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            unit: Unit::of_column(name),
        }
    }
}

impl FromStr for Map {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut map = Self::default();
        for part in text.split(',') {
            let wrong = |why: &str| Error::Usage(format!("--map: `{part}` {why}"));
            let (what, column) = part.split_once('=').ok_or_else(|| {
                wrong("has no `=`: write such as time=ts,status=code,duration=latency_ms,key=host")
            })?;
            let mut named = Column::named(column.trim());
            if let Some((name, unit)) = column.rsplit_once(':')
                && let Some(unit) = Unit::named(unit.trim())
            {
                named = Column {
                    name: name.trim().to_owned(),
                    unit: Some(unit),
                };
            }
            let place = match what.trim() {
                "time" | "start" => &mut map.start,
                "end" => &mut map.end,
                "duration" => &mut map.duration,
                "status" => &mut map.status,
                "key" => &mut map.key,
                _ => {
                    return Err(wrong(
                        "names none of time, start, end, duration, status, key",
                    ));
                }
            };
            *place = Some(named);
        }
        map.check()?;
        Ok(map)
    }
}

impl Map {
    /// Finds the columns by the names that they commonly have.
    pub(crate) fn found<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Option<Self> {
        let find = |known: &[&str]| {
            let same = |name: &&str| known.iter().any(|known| name.eq_ignore_ascii_case(known));
            names.clone().find(same).map(Column::named)
        };
        let map = Self {
            start: find(&[
                "start_unix_s",
                "start_unix_ns",
                "start_ms",
                "start_us",
                "start_ns",
                "start",
                "start_time",
                "started_at",
                "time",
                "timestamp",
                "ts",
            ]),
            end: find(&["end_unix_s", "end_ms", "end", "end_time", "ended_at"]),
            duration: find(&[
                "duration_ms",
                "latency_ms",
                "took_ms",
                "duration_s",
                "duration_us",
                "duration_ns",
                "latency_us",
                "latency_ns",
                "latency_s",
            ]),
            status: find(&["status", "code", "status_code", "outcome"]),
            key: find(&["key", "host", "service", "upstream", "target"]),
        };
        (map.status.is_some() && map.check().is_ok()).then_some(map)
    }

    fn check(&self) -> Result<(), Error> {
        if self.start.is_none() && self.end.is_none() {
            return Err(Error::Usage(
                "--map: say which column has the time: time=… or end=…".into(),
            ));
        }
        if let Some(duration) = &self.duration
            && duration.unit.is_none()
        {
            return Err(Error::Usage(format!(
                "--map: the unit of `{name}` is not known: write duration={name}:ms, or s, us, ns",
                name = duration.name
            )));
        }
        Ok(())
    }

    /// Reads a call; `cell` gives what a column holds.
    pub(crate) fn row<'a>(
        &self,
        zone: &TimeZone,
        cell: impl Fn(&Column) -> Option<&'a str>,
    ) -> Result<Row<'a>, Why> {
        let of = |column: &Option<Column>| column.as_ref().and_then(&cell);
        let time = |column: &Option<Column>| {
            of(column)
                .filter(|text| !text.is_empty())
                .map(|text| {
                    let unit = column.as_ref().and_then(|column| column.unit);
                    moment(text, unit, zone).ok_or("the time is none")
                })
                .transpose()
        };
        let (start, end) = (time(&self.start)?, time(&self.end)?);
        let mut took = None;
        if let Some(text) = of(&self.duration)
            && !matches!(text, "" | "-")
        {
            let unit = self.duration.as_ref().and_then(|column| column.unit);
            let unit = unit.unwrap_or(Unit::Millis);
            took = Some(decimal(text, unit).ok_or("the duration is no number")?);
        }
        let time = match (start, end) {
            (Some(start), Some(end)) => {
                took = took.or(Some(end - start));
                Time::Start(start)
            }
            (Some(start), None) => Time::Start(start),
            (None, Some(end)) => Time::End(end),
            (None, None) => return Err("no time"),
        };
        let status = match of(&self.status) {
            Some("") => return Err("no status"),
            Some(text) => Status::Word(text),
            // Durations alone, say.
            None => Status::Known(Outcome::Success),
        };
        let key = of(&self.key).unwrap_or("");
        Ok(Row::new(time, took, status).upstream(key))
    }
}

fn moment(text: &str, unit: Option<Unit>, zone: &TimeZone) -> Option<i64> {
    let number = text.starts_with(|first: char| first.is_ascii_digit() || first == '-')
        && !text[1..].contains(['-', ':', 'T']);
    if number {
        return decimal(text, unit.or_else(|| Unit::of_epoch(text))?);
    }
    rfc3339(text).or_else(|| local(text, zone))
}
