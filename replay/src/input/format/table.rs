//! CSV: with named columns, and as k6 and JMeter write it.

use std::borrow::Cow;

use cutout::Outcome;
use jiff::tz::TimeZone;

use super::mapped::{Column, Map};
use super::text::{bare_path, host_of};
use crate::input::row::{Emit, Format, Row, Time, Why};
use crate::input::stamp::{Unit, decimal};
use crate::verdict::Status;

/// The cells of one line.
#[derive(Debug)]
pub(crate) struct Cells {
    /// Its tables take longer to make than a line to read.
    reader: csv_core::Reader,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Cells {
    /// Cells that are parted by this byte.
    fn parted_by(by: u8) -> Self {
        Self {
            reader: csv_core::ReaderBuilder::new().delimiter(by).build(),
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn part(&mut self, line: &str) -> Result<(), Why> {
        // No cell is longer than the line, and there are no more cells than bytes and one.
        self.bytes.resize(self.bytes.len().max(line.len()), 0);
        self.ends
            .resize(self.ends.capacity().max(line.len() + 1), 0);
        self.reader.reset();
        let (mut result, _, written, mut cells) =
            self.reader
                .read_record(line.as_bytes(), &mut self.bytes, &mut self.ends);
        if matches!(result, csv_core::ReadRecordResult::InputEmpty) {
            // The end of the line is the end of the record.
            let (bytes, ends) = (&mut self.bytes[written..], &mut self.ends[cells..]);
            let (last, _, _, more) = self.reader.read_record(b"", bytes, ends);
            (result, cells) = (last, cells + more);
        }
        self.ends.truncate(cells);
        match result {
            csv_core::ReadRecordResult::Record => Ok(()),
            _ => Err("not one record a line"),
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let begin = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        std::str::from_utf8(self.bytes.get(begin..end)?)
            .ok()
            .map(str::trim)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        (0..self.ends.len()).map_while(|index| self.get(index))
    }
}

/// What parts the cells of a header: the one of `,`, tab and `;` that it has most of.
pub(crate) fn delimiter(header: &str) -> u8 {
    let count = |by: &u8| memchr::memchr_iter(*by, header.as_bytes()).count();
    // Of equals the last is taken.
    [b';', b'\t', b',']
        .into_iter()
        .max_by_key(count)
        .unwrap_or(b',')
}

/// A header, then a call a line.
#[derive(Debug)]
pub(crate) struct Csv {
    kind: Kind,
    header: Vec<String>,
    cells: Cells,
    zone: TimeZone,
}

/// Whose columns they are.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Mapped(Map),
    K6,
    Jmeter,
}

/// JMeter's columns where a file has no header.
const JTL: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,\
                   bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

impl Csv {
    /// With the header that the file begins with.
    pub(crate) fn new(kind: Kind, header: &str, zone: TimeZone) -> Self {
        let by = delimiter(header);
        let mut cells = Cells::parted_by(by);
        let known = cells.part(header.trim_start_matches('\u{feff}')).is_ok();
        let header = if known {
            cells.iter().map(str::to_owned).collect()
        } else {
            Vec::new()
        };
        Self {
            kind,
            header,
            cells,
            zone,
        }
    }

    /// JMeter without a header.
    pub(crate) fn jtl(zone: TimeZone) -> Self {
        Self::new(Kind::Jmeter, JTL, zone)
    }

    /// Whose columns a header has.
    pub(crate) fn kind(header: &str) -> Option<Kind> {
        let csv = Self::new(Kind::K6, header, TimeZone::UTC);
        let has = |name: &str| csv.column(name).is_some();
        if has("metric_name") && has("timestamp") && has("metric_value") {
            return Some(Kind::K6);
        }
        if has("timeStamp") && has("elapsed") {
            return Some(Kind::Jmeter);
        }
        let names = csv.header.iter().map(String::as_str);
        Map::found(names).map(Kind::Mapped)
    }

    /// The first of a map's columns that the header does not have.
    pub(crate) fn missing<'m>(&self, map: &'m Map) -> Option<&'m str> {
        let columns = [&map.start, &map.end, &map.duration, &map.status, &map.key];
        let names = columns
            .into_iter()
            .flatten()
            .map(|column| column.name.as_str());
        names.into_iter().find(|name| self.column(name).is_none())
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name)
    }

    fn cell(&self, name: &str) -> &str {
        self.column(name)
            .and_then(|index| self.cells.get(index))
            .unwrap_or("")
    }
}

impl Format for Csv {
    fn line(&mut self, line: &str, emit: Emit<'_>) -> Result<(), Why> {
        self.cells.part(line)?;
        if self.cells.iter().eq(self.header.iter().map(String::as_str)) {
            return Ok(());
        }
        if self.cells.ends.len() != self.header.len() {
            return Err("not as many cells as the header has");
        }
        match &self.kind {
            Kind::Mapped(map) => {
                let cell = |column: &Column| {
                    self.column(&column.name)
                        .and_then(|index| self.cells.get(index))
                };
                emit(map.row(&self.zone, cell)?);
                Ok(())
            }
            Kind::K6 => self.k6(emit),
            Kind::Jmeter => self.jmeter(emit),
        }
    }
}

impl Csv {
    /// Of the eight rows and more of a request one has its duration.
    fn k6(&self, emit: Emit<'_>) -> Result<(), Why> {
        if self.cell("metric_name") != "http_req_duration" {
            return Ok(());
        }
        let stamp = self.cell("timestamp");
        let unit = Unit::of_epoch(stamp).ok_or("the time is none")?;
        let end = decimal(stamp, unit).ok_or("the time is none")?;
        let took =
            decimal(self.cell("metric_value"), Unit::Millis).ok_or("the duration is no number")?;
        let status = match (self.cell("status"), self.cell("error_code")) {
            // A request, a dial that timed out.
            ("0", "1050" | "1211") => Status::Known(Outcome::Timeout),
            ("0", _) => Status::Known(Outcome::Failure),
            (code, _) => Status::Code(code.parse().map_err(|_| "the status is no number")?),
        };
        let url = self.cell("url");
        let upstream = if url.is_empty() {
            self.cell("name")
        } else {
            url
        };
        emit(
            Row::new(Time::End(end), Some(took), status)
                .said(self.cell("error_code"))
                .upstream(host_of(upstream))
                .host(host_of(url))
                .path(bare_path(url)),
        );
        Ok(())
    }

    /// Rows of transactions are sums of others.
    fn jmeter(&self, emit: Emit<'_>) -> Result<(), Why> {
        let stamp = self.cell("timeStamp");
        let start = decimal(stamp, Unit::Millis).ok_or("the time is none")?;
        let took =
            decimal(self.cell("elapsed"), Unit::Millis).ok_or("the duration is no number")?;
        let code = self.cell("responseCode");
        if code.is_empty()
            || self
                .cell("responseMessage")
                .starts_with("Number of samples in transaction")
        {
            return Ok(());
        }
        let well = !self.cell("success").eq_ignore_ascii_case("false");
        let status = match code.parse::<u16>() {
            // An assertion failed although the status is fine.
            Ok(code) if code < 400 && !well => Status::Known(Outcome::Failure),
            Ok(code) => Status::Code(code),
            Err(_)
                if code.contains("Timeout")
                    || self.cell("responseMessage").contains("timed out") =>
            {
                Status::Known(Outcome::Timeout)
            }
            Err(_) => Status::Known(Outcome::Failure),
        };
        let url = self.cell("URL");
        let label = Cow::Borrowed(self.cell("label"));
        let upstream = if matches!(url, "" | "null") {
            bare_path(&label)
        } else {
            host_of(url)
        };
        emit(
            Row::new(Time::Start(start), Some(took), status)
                .said(code)
                .upstream(upstream)
                .host(host_of(url))
                .path(bare_path(url)),
        );
        Ok(())
    }
}
