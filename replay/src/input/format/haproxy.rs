//! HAProxy's `option httplog`.

use cutout::Outcome;
use jiff::tz::TimeZone;

use super::text::{Words, path_of, quoted};
use crate::input::row::{Emit, Format, Row, Time, Why};
use crate::input::stamp::{Unit, decimal, haproxy};
use crate::verdict::Status;

#[derive(Debug)]
pub(crate) struct Haproxy {
    /// The stamps have no zone of their own.
    pub(crate) zone: TimeZone,
}

impl Format for Haproxy {
    fn line(&mut self, line: &str, emit: Emit<'_>) -> Result<(), Why> {
        const WHY: Why = "not HAProxy's fields";
        // The stamp of syslog has no year; the one in brackets is when the connection was accepted.
        let (time, rest) = line
            .match_indices('[')
            .filter_map(|(at, _)| line[at + 1..].split_once("] "))
            .find(|(time, _)| time.as_bytes().get(2) == Some(&b'/'))
            .ok_or("no time in brackets")?;
        let start = haproxy(time, &self.zone).ok_or("the time is none")?;
        let mut words = Words::new(rest);
        words.next().ok_or(WHY)?;
        let server = words
            .next()
            .filter(|server| server.contains('/'))
            .ok_or(WHY)?;
        let mut timers = words.next().ok_or(WHY)?.split('/');
        let total = timers.nth(4).ok_or(WHY)?;
        // With a plus the line was written before the answer was through.
        let total = decimal(total.trim_start_matches('+'), Unit::Millis).ok_or(WHY)?;
        let code = words.next().ok_or(WHY)?;
        let mut ended = "";
        for _ in ["bytes", "request cookie", "response cookie", "termination"] {
            ended = words.next().ok_or(WHY)?;
        }
        let request = rest
            .find('"')
            .and_then(|at| quoted(&rest[at..]))
            .map_or("-", |(request, _)| request);
        let status = status(code, ended)?;
        emit(
            Row::new(Time::Start(start), Some(total), status)
                .said(ended.get(..2).unwrap_or("").trim_matches('-'))
                .upstream(server)
                .path(path_of(request)),
        );
        Ok(())
    }
}

/// The first letter of the termination says who ended it, and the second in which phase.
fn status(code: &str, ended: &str) -> Result<Status<'static>, Why> {
    let mut letters = ended.chars();
    let (who, phase) = (letters.next().unwrap_or('-'), letters.next().unwrap_or('-'));
    match (who, phase) {
        // The client left, or took too long; the proxy refused; an operator ended it.
        ('C' | 'c' | 'P' | 'K', _) => return Ok(Status::Known(Outcome::Ignored)),
        // The server's time ran out: to connect, for headers, for data.
        ('s', 'C' | 'H' | 'D' | 'Q') => return Ok(Status::Known(Outcome::Timeout)),
        ('S' | 'R' | 'I' | 'D' | 'U', _) => return Ok(Status::Known(Outcome::Failure)),
        _ => {}
    }
    match code {
        "-1" => Ok(Status::Known(Outcome::Failure)),
        code => code
            .parse()
            .map(Status::Code)
            .map_err(|_| "the status is no number"),
    }
}
