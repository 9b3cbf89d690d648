//! Envoy's and Istio's access logs, as text.

use cutout::Outcome;

use super::text::{Words, host_of, path_of, quoted};
use crate::input::row::{Emit, Format, Row, Side, Time, Why};
use crate::input::stamp::{Unit, decimal, rfc3339};
use crate::verdict::Status;

/// Istio writes its details and the upstream's cluster besides.
#[derive(Debug)]
pub(crate) enum Envoy {
    Default,
    Istio,
}

impl Format for Envoy {
    fn line(&mut self, line: &str, emit: Emit<'_>) -> Result<(), Why> {
        const WHY: Why = "not Envoy's fields";
        let begin = line.find('[').ok_or("no time in brackets")?;
        let (time, rest) = line[begin + 1..]
            .split_once("] ")
            .ok_or("no time in brackets")?;
        let start = rfc3339(time).ok_or("the time is none")?;
        let (request, rest) = quoted(rest).ok_or("no request in quotes")?;
        let mut words = Words::new(rest);
        let code = words.next().ok_or(WHY)?;
        let flags = words.next().ok_or(WHY)?;
        if matches!(self, Self::Istio) {
            words.next().ok_or(WHY)?;
            words.next().ok_or(WHY)?;
            let (_, rest) = quoted(words.rest().trim_start()).ok_or(WHY)?;
            words = Words::new(rest);
        }
        for _ in ["received", "sent"] {
            words
                .next()
                .and_then(|bytes| bytes.parse::<u64>().ok())
                .ok_or(WHY)?;
        }
        let took = words
            .next()
            .and_then(|took| decimal(took, Unit::Millis))
            .ok_or(WHY)?;
        words.next().ok_or(WHY)?;
        let mut rest = words.rest();
        let mut fields = [""; 5];
        for field in &mut fields {
            (*field, rest) = quoted(rest.trim_start()).ok_or(WHY)?;
        }
        let [_, _, id, authority, address] = fields;
        let mut row = Row::new(Time::Start(start), Some(took), status(code, flags)?)
            .said(flags.trim_matches('-'))
            .host(authority)
            .path(path_of(request))
            .upstream(host_of(address));
        if matches!(self, Self::Istio) {
            let cluster = Words::new(rest).next().ok_or(WHY)?;
            row = row.upstream(service(cluster));
            row.side = side(cluster, id, authority, request);
        }
        emit(row);
        Ok(())
    }
}

/// What a code and Envoy's flags mean together.
pub(super) fn status(code: &str, flags: &str) -> Result<Status<'static>, Why> {
    let by_flag = flags.split(',').find_map(|flag| match flag.trim() {
        // The upstream's time ran out, for the request or the stream.
        "UT" | "SI" | "UMSDR" => Some(Outcome::Timeout),
        // The caller left or spoke nonsense; Envoy itself refused: overload, rate, rights, no route.
        "DC" | "DPE" | "UO" | "RL" | "RLSE" | "UAEX" | "NR" | "OM" => Some(Outcome::Ignored),
        // No host, no connection, a reset, retries used up, no cluster.
        "UH" | "UF" | "UC" | "UR" | "LR" | "URX" | "NC" | "UPE" => Some(Outcome::Failure),
        _ => None,
    });
    if let Some(outcome) = by_flag {
        return Ok(Status::Known(outcome));
    }
    match code {
        "-" | "" => Err("no status"),
        code => code
            .parse()
            .map(Status::Code)
            .map_err(|_| "the status is no number"),
    }
}

/// `outbound|9080|v2|svc.ns.svc.cluster.local` is a service; `inbound|9080||` is the one that the line was written beside.
pub(super) fn service(cluster: &str) -> &str {
    cluster
        .rsplit('|')
        .next()
        .filter(|name| !name.is_empty())
        .unwrap_or(cluster)
}

/// Both sidecars of a call write a line: with the same id, for the same authority.
pub(super) fn side(cluster: &str, id: &str, authority: &str, request: &str) -> Option<(Side, u64)> {
    let side = if cluster.starts_with("outbound|") {
        Side::Caller
    } else if cluster.starts_with("inbound|") {
        Side::Callee
    } else {
        return None;
    };
    (id.len() > 1).then(|| (side, super::text::hash(&[id, authority, request])))
}
