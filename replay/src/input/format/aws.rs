//! AWS: Application Load Balancer and CloudFront.

use jiff::tz::TimeZone;

use super::text::{Words, bare_path, host_of, path_of, quoted};
use crate::input::row::{Emit, Format, Row, Time, Why};
use crate::input::stamp::{Unit, decimal, local, rfc3339};
use crate::verdict::Status;

#[derive(Debug)]
pub(crate) struct Alb;

impl Format for Alb {
    fn line(&mut self, line: &str, emit: Emit<'_>) -> Result<(), Why> {
        const WHY: Why = "not the fields of a load balancer";
        let mut words = Words::new(line);
        let kind = words.next().ok_or(WHY)?;
        if !["http", "https", "h2", "grpcs", "ws", "wss"].contains(&kind) {
            return Err("not one of a load balancer's kinds of request");
        }
        let end = words.next().and_then(rfc3339).ok_or("the time is none")?;
        for _ in ["balancer", "client", "target"] {
            words.next().ok_or(WHY)?;
        }
        let mut sum = 0;
        for _ in ["request", "target", "response"] {
            let time = words
                .next()
                .and_then(|time| decimal(time, Unit::Seconds))
                .ok_or(WHY)?;
            // -1: that phase was not reached.
            sum += time.max(0);
        }
        let code = words
            .next()
            .and_then(|code| code.parse().ok())
            .ok_or("the status is no number")?;
        for _ in ["target's status", "received", "sent"] {
            words.next().ok_or(WHY)?;
        }
        let (request, rest) = quoted(words.rest().trim_start()).ok_or("no request in quotes")?;
        let (_, rest) = quoted(rest.trim_start()).ok_or(WHY)?;
        let mut words = Words::new(rest);
        for _ in ["cipher", "protocol"] {
            words.next().ok_or(WHY)?;
        }
        let group = words.next().ok_or(WHY)?;
        let mut rest = words.rest();
        for _ in ["trace", "domain", "certificate"] {
            rest = quoted(rest.trim_start()).ok_or(WHY)?.1;
        }
        let words = Words::new(rest);
        let start = words.nth_word(1).and_then(rfc3339);
        let (time, took) = match start {
            Some(start) => (Time::Start(start), end - start),
            None => (Time::End(end), sum),
        };
        let url = Words::new(request).nth_word(1).unwrap_or("");
        emit(
            Row::new(time, Some(took), Status::Code(code))
                .upstream(group)
                .host(host_of(url))
                .path(path_of(request)),
        );
        Ok(())
    }
}

/// Tabs between the fields; a day and a time of day in two of them, when the answer was through.
#[derive(Debug)]
pub(crate) struct CloudFront;

impl Format for CloudFront {
    fn line(&mut self, line: &str, emit: Emit<'_>) -> Result<(), Why> {
        const WHY: Why = "not CloudFront's fields";
        if line.starts_with('#') {
            return Ok(());
        }
        let mut fields = line.split('\t');
        let mut next = || fields.next().ok_or(WHY);
        let (day, time) = (next()?, next()?);
        let end = local(&format!("{day} {time}"), &TimeZone::UTC).ok_or("the time is none")?;
        for _ in ["place", "bytes", "client", "method"] {
            next()?;
        }
        let (distribution, path) = (next()?, next()?);
        let code = next()?.parse().map_err(|_| "the status is no number")?;
        for _ in ["referrer", "agent", "query", "cookie"] {
            next()?;
        }
        let kind = next()?;
        // The request's id.
        next()?;
        let host = next()?;
        for _ in ["protocol", "bytes"] {
            next()?;
        }
        let took = decimal(next()?, Unit::Seconds).ok_or("the time taken is no number")?;
        if matches!(kind, "Hit" | "OriginShieldHit" | "Redirect") {
            // The origin was not asked.
            return Ok(());
        }
        emit(
            Row::new(Time::End(end), Some(took), Status::Code(code))
                .upstream(distribution)
                .host(host)
                .path(bare_path(path)),
        );
        Ok(())
    }
}
