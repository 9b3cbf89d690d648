//! The common log format and what is written behind it: nginx, Apache, ingress-nginx, Traefik.

use cutout::Outcome;

use super::text::{Words, host_of, path_of, quoted};
use crate::input::row::{Emit, Format, Row, Time, Why};
use crate::input::stamp::{self, Unit, decimal};
use crate::verdict::Status;

/// What stands behind the user agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Anything, unread: no durations. The stamp is taken as the call's start and end.
    Unread,
    /// nginx's times by name: `rt=0.136 urt="0.120, 0.016" us="502, 200" ua="a:80, b:80"`. The stamp is the end.
    Named,
    /// ingress-nginx's fixed fields. The stamp is the end.
    Ingress,
    /// Apache's `%D %T`: microseconds and whole seconds. The stamp is the start.
    MicrosAndSeconds,
    /// Traefik's: a count, router, server, milliseconds. The stamp is the start.
    Traefik,
}

#[derive(Debug)]
pub(crate) struct Clf {
    tail: Tail,
    /// Whether each attempt is a call, or all of a line are one.
    attempts: bool,
    stamp: stamp::Clf,
}

impl Clf {
    pub(crate) fn new(tail: Tail, attempts: bool) -> Self {
        Self {
            tail,
            attempts,
            stamp: stamp::Clf::default(),
        }
    }
}

/// The fields that all have.
struct Common<'a> {
    time: i64,
    host: &'a str,
    path: &'a str,
    status: u16,
    tail: &'a str,
}

impl Clf {
    fn common<'a>(&mut self, line: &'a str) -> Result<Common<'a>, Why> {
        // What stands before is not looked at: a pod's name, a collector's own stamp.
        let (begin, time) = memchr::memchr_iter(b'[', line.as_bytes())
            .find_map(|at| {
                let text = line.as_bytes().get(at + 1..=at + stamp::Clf::LENGTH)?;
                let digits = text[0].is_ascii_digit() && text[2] == b'/';
                let time = digits.then(|| self.stamp.read(text))??;
                Some((at, time))
            })
            .ok_or("no time in brackets")?;
        let rest = line.get(begin + stamp::Clf::LENGTH + 1..).unwrap_or("");
        let rest = rest.strip_prefix("] ").ok_or("no time in brackets")?;
        let (request, rest) = quoted(rest).ok_or("no request in quotes")?;
        let mut words = Words::new(rest);
        let status = words.next().ok_or("no status")?;
        let status = status.parse().map_err(|_| "the status is no number")?;
        words.next().ok_or("no size")?;
        // The referrer and the agent.
        let tail = quoted(words.rest().trim_start())
            .and_then(|(_, rest)| quoted(rest.trim_start()))
            .map_or("", |(_, tail)| tail.trim());
        let head = &line[..begin];
        let host = (head.split_ascii_whitespace().count() == 4)
            .then(|| head.split_ascii_whitespace().next())
            .flatten();
        Ok(Common {
            time,
            host: host.unwrap_or(""),
            path: path_of(request),
            status,
            tail,
        })
    }
}

impl Format for Clf {
    fn line(&mut self, line: &str, emit: Emit<'_>) -> Result<(), Why> {
        let common = self.common(line)?;
        let code = Status::Code(common.status);
        let row = |time, took, status| {
            Row::new(time, took, status)
                .host(common.host)
                .path(common.path)
        };
        match self.tail {
            Tail::Unread => emit(row(Time::End(common.time), None, code)),
            Tail::MicrosAndSeconds => {
                let took = micros_and_seconds(common.tail)?;
                emit(row(Time::Start(common.time), Some(took), code));
            }
            Tail::Traefik => {
                let (took, router, server) = traefik(common.tail)?;
                // No server: the proxy itself answered.
                let upstream = if server == "-" {
                    router
                } else {
                    host_of(server)
                };
                emit(row(Time::Start(common.time), Some(took), code).upstream(upstream));
            }
            Tail::Named | Tail::Ingress => {
                let upstreams = match self.tail {
                    Tail::Named => Upstreams::named(common.tail)?,
                    _ => Upstreams::ingress(common.tail)?,
                };
                upstreams.emit(common.time, common.status, self.attempts, row, emit)?;
            }
        }
        Ok(())
    }
}

fn micros_and_seconds(tail: &str) -> Result<i64, Why> {
    const WHY: Why = "not microseconds and whole seconds (%D %T) at the end";
    let mut words = Words::new(tail);
    let mut number = || words.next().and_then(|word| word.parse::<i64>().ok());
    let (micros, seconds) = number().zip(number()).ok_or(WHY)?;
    if micros / 1_000_000 != seconds || words.next().is_some() {
        return Err(WHY);
    }
    micros.checked_mul(1_000).ok_or(WHY)
}

fn traefik(tail: &str) -> Result<(i64, &str, &str), Why> {
    const WHY: Why = "not Traefik's count, router, server and milliseconds at the end";
    let mut words = Words::new(tail);
    words.next().ok_or(WHY)?;
    let (router, rest) = quoted(words.rest().trim_start()).ok_or(WHY)?;
    let (server, rest) = quoted(rest.trim_start()).ok_or(WHY)?;
    let millis = rest.trim().strip_suffix("ms").ok_or(WHY)?;
    let took = decimal(millis, Unit::Millis).ok_or(WHY)?;
    Ok((took, router, server))
}

/// What nginx says of the upstreams that it asked, one value per attempt.
#[derive(Default)]
struct Upstreams<'a> {
    /// The whole request, a slow client included.
    request: Option<i64>,
    times: &'a str,
    statuses: &'a str,
    addresses: &'a str,
    service: &'a str,
}

impl<'a> Upstreams<'a> {
    fn named(tail: &'a str) -> Result<Self, Why> {
        let mut all = Self::default();
        let mut rest = tail;
        while let Some((name, value)) = rest.split_once('=') {
            let (value, after) = quoted(value)
                .unwrap_or_else(|| value.split_at(value.find(' ').unwrap_or(value.len())));
            rest = after.trim_start();
            match name.trim() {
                "rt" | "request_time" => all.request = decimal(value, Unit::Seconds),
                "urt" | "upstream_response_time" => all.times = value,
                "us" | "ustatus" | "upstream_status" => all.statuses = value,
                "ua" | "uaddr" | "upstream_addr" => all.addresses = value,
                _ => {}
            }
        }
        if all.request.is_none() && all.times.is_empty() {
            return Err("neither rt= nor urt= at the end");
        }
        Ok(all)
    }

    fn ingress(tail: &'a str) -> Result<Self, Why> {
        const WHY: Why = "not ingress-nginx's fields at the end";
        let mut words = Words::new(tail);
        words
            .next()
            .and_then(|length| length.parse::<u64>().ok())
            .ok_or(WHY)?;
        let request = words
            .next()
            .and_then(|time| decimal(time, Unit::Seconds))
            .ok_or(WHY)?;
        let service = words
            .next()
            .and_then(|name| name.strip_prefix('['))
            .ok_or(WHY)?;
        let service = service.strip_suffix(']').ok_or(WHY)?;
        words
            .next()
            .filter(|name| name.starts_with('['))
            .ok_or(WHY)?;
        let addresses = words.list().ok_or(WHY)?;
        words.list().ok_or(WHY)?;
        let times = words.list().ok_or(WHY)?;
        let statuses = words.list().ok_or(WHY)?;
        Ok(Self {
            request: Some(request),
            times,
            statuses,
            addresses,
            service,
        })
    }

    /// The calls of a line that was written at `end`.
    fn emit<'r>(
        self,
        end: i64,
        status: u16,
        attempts: bool,
        row: impl Fn(Time, Option<i64>, Status<'r>) -> Row<'r>,
        emit: Emit<'_>,
    ) -> Result<(), Why>
    where
        'a: 'r,
    {
        const WHY: Why = "an upstream's time is no number";
        let mut sum = 0;
        for time in list(self.times).filter(|time| *time != "-") {
            sum += decimal(time, Unit::Seconds).ok_or(WHY)?;
        }
        let start = end - self.request.unwrap_or(sum);
        let asked = list(self.times).any(|time| time != "-");
        if !asked && !self.times.is_empty() && status < 500 {
            // Answered without an upstream: from a cache, or a file.
            return Ok(());
        }
        if !asked || !attempts {
            let last = list(self.statuses)
                .last()
                .and_then(|code| code.parse().ok());
            let took = if asked { Some(sum) } else { self.request };
            let named = !self.service.is_empty();
            let upstream = if named {
                self.service
            } else {
                list(self.addresses).last().unwrap_or("")
            };
            emit(
                row(
                    Time::Start(start),
                    took,
                    Status::Code(last.unwrap_or(status)),
                )
                .upstream(upstream),
            );
            return Ok(());
        }
        let (mut addresses, mut statuses) = (list(self.addresses), list(self.statuses));
        let mut before = 0;
        for time in list(self.times) {
            let took = decimal(time, Unit::Seconds);
            let (status, said) = match statuses.next().map(str::parse) {
                Some(Ok(code)) => (Status::Code(code), ""),
                Some(Err(_)) => (Status::Known(Outcome::Failure), "no answer"),
                None => (Status::Code(status), ""),
            };
            emit(
                row(Time::Start(start + before), took, status)
                    .said(said)
                    .upstream(addresses.next().unwrap_or("")),
            );
            before += took.unwrap_or(0);
        }
        Ok(())
    }
}

/// nginx parts attempts by `, ` and those after an internal redirect by ` : `.
fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(", ")
        .flat_map(|part| part.split(" : "))
        .map(str::trim)
        .filter(|part| !part.is_empty())
}
