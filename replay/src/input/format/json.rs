//! Logs of one JSON object a line.

use std::borrow::Cow;

use cutout::Outcome;

use super::envoy;
use super::object::Object;
use super::text::{bare_path, host_of};
use crate::input::row::{Emit, Format, Row, Time, Why};
use crate::input::stamp::{Unit, decimal, rfc3339};
use crate::verdict::Status;

/// Whose object it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Gateway,
    Envoy,
    Caddy,
    Traefik,
    Gcp,
    Kong,
    Vegeta,
    LiteLlm,
}

const NO_TIME: Why = "no time, or one that is none";
const NO_DURATION: Why = "no duration, or one that is none";
const NO_STATUS: Why = "no status, or one that is none";

impl Format for Json {
    fn line(&mut self, line: &str, emit: Emit<'_>) -> Result<(), Why> {
        objects(line, |object| self.object(object, emit))
    }
}

/// Gives on the objects of a line: one, behind whatever a collector wrote before it, or an array's.
pub(super) fn objects(
    line: &str,
    mut read: impl FnMut(&Object<'_>) -> Result<(), Why>,
) -> Result<(), Why> {
    const WHY: Why = "not a JSON object";
    if line.starts_with('[') && line.ends_with(']') {
        let objects: Vec<Object<'_>> = serde_json::from_str(line).map_err(|_| WHY)?;
        return objects.iter().try_for_each(read);
    }
    let begin = line.find('{').filter(|&begin| begin <= 200).ok_or(WHY)?;
    read(&Object::parse(&line[begin..]).ok_or(WHY)?)
}

impl Json {
    fn object(self, object: &Object<'_>, emit: Emit<'_>) -> Result<(), Why> {
        match self {
            Self::Gateway => gateway(object, emit),
            Self::Envoy => envoy_json(object, emit),
            Self::Caddy => caddy(object, emit),
            Self::Traefik => traefik(object, emit),
            Self::Gcp => gcp(object, emit),
            Self::Kong => kong(object, emit),
            Self::Vegeta => vegeta(object, emit),
            Self::LiteLlm => litellm(object, emit),
        }
    }
}

fn time(text: Option<Cow<'_, str>>) -> Result<i64, Why> {
    text.and_then(|text| rfc3339(&text)).ok_or(NO_TIME)
}

fn number(text: Option<Cow<'_, str>>, unit: Unit, why: Why) -> Result<i64, Why> {
    text.and_then(|text| decimal(&text, unit)).ok_or(why)
}

fn code(text: Option<Cow<'_, str>>) -> Result<Status<'static>, Why> {
    text.and_then(|code| code.parse().ok())
        .map(Status::Code)
        .ok_or(NO_STATUS)
}

/// One object per request. Attempts in a row at one target are made under one permit: they are one call, with
/// the outcome of the last.
fn gateway(object: &Object<'_>, emit: Emit<'_>) -> Result<(), Why> {
    let start = time(object.text("ts"))?;
    let whole = number(object.text("duration_ms"), Unit::Millis, NO_DURATION)?;
    let route = object.text("route").unwrap_or_default();
    let attempts = object.objects("attempts");
    if attempts.is_empty() && object.has("attempts") {
        // Refused by the gateway itself: no target was asked.
        return Ok(());
    }
    if attempts.is_empty() {
        let target = object.text("target").unwrap_or_default();
        let row = Row::new(
            Time::Start(start),
            Some(whole),
            code(object.text("status"))?,
        );
        emit(row.upstream(&target).host(provider(&target)).path(&route));
        return Ok(());
    }
    let mut begin = 0;
    let mut end = 0;
    for (index, attempt) in attempts.iter().enumerate() {
        let target = attempt
            .text("target")
            .ok_or("an attempt without a target")?;
        end += number(attempt.text("duration_ms"), Unit::Millis, NO_DURATION)?;
        let next = attempts.get(index + 1).and_then(|next| next.text("target"));
        if next.as_ref() == Some(&target) {
            continue;
        }
        let outcome = attempt.text("outcome");
        if outcome.as_deref() == Some("rejected") {
            // The breaker, or a limit, let no call be made.
            begin = end;
            continue;
        }
        let status = match &outcome {
            Some(outcome) => Status::Word(outcome),
            None => code(attempt.text("status"))?,
        };
        let said = attempt.first(&["status", "error"]).unwrap_or_default();
        let row = Row::new(Time::Start(start + begin), Some(end - begin), status).said(&said);
        emit(row.upstream(&target).host(provider(&target)).path(&route));
        begin = end;
    }
    Ok(())
}

/// Of `provider/model` the provider, which has one breaker unless each of its models has.
fn provider(target: &str) -> &str {
    target
        .split_once('/')
        .map_or(target, |(provider, _)| provider)
}

/// The names of the fields are whoever's who configured it; these are the common ones.
fn envoy_json(object: &Object<'_>, emit: Emit<'_>) -> Result<(), Why> {
    let start = time(object.first(&["start_time", "timestamp"]))?;
    let took = number(
        object.first(&["duration", "duration_ms"]),
        Unit::Millis,
        NO_DURATION,
    )?;
    let code = object
        .first(&["response_code", "status"])
        .unwrap_or_default();
    let flags = object.text("response_flags").unwrap_or_default();
    let cluster = object
        .first(&["upstream_cluster", "upstream_cluster_raw"])
        .unwrap_or_default();
    let authority = object.first(&["authority", "host"]).unwrap_or_default();
    let path = object
        .first(&["path", "x-envoy-original-path"])
        .unwrap_or_default();
    let id = object
        .first(&["request_id", "x_request_id"])
        .unwrap_or_default();
    let upstream = match cluster.as_ref() {
        "" => object.text("route_name").unwrap_or_default(),
        cluster => Cow::Owned(envoy::service(cluster).to_owned()),
    };
    let status = envoy::status(&code, &flags)?;
    let mut row = Row::new(Time::Start(start), Some(took), status)
        .said(flags.trim_matches('-'))
        .upstream(&upstream)
        .host(&authority)
        .path(bare_path(&path));
    row.side = envoy::side(&cluster, &id, &authority, &path);
    emit(row);
    Ok(())
}

fn caddy(object: &Object<'_>, emit: Emit<'_>) -> Result<(), Why> {
    if object
        .text("msg")
        .is_some_and(|msg| msg != "handled request")
    {
        return Ok(());
    }
    let ts = object.text("ts").ok_or(NO_TIME)?;
    let end = decimal(&ts, Unit::Seconds)
        .or_else(|| rfc3339(&ts))
        .ok_or(NO_TIME)?;
    let took = number(object.text("duration"), Unit::Seconds, NO_DURATION)?;
    let request = object.object("request");
    let host = request.text("host").unwrap_or_default();
    let uri = request.text("uri").unwrap_or_default();
    let row = Row::new(Time::End(end), Some(took), code(object.text("status"))?);
    emit(row.upstream(&host).host(&host).path(bare_path(&uri)));
    Ok(())
}

fn traefik(object: &Object<'_>, emit: Emit<'_>) -> Result<(), Why> {
    let start = time(object.first(&["StartUTC", "StartLocal"]))?;
    let took = number(object.text("Duration"), Unit::Nanos, NO_DURATION)?;
    let service = object
        .first(&["ServiceName", "RouterName"])
        .unwrap_or_default();
    let host = object.text("RequestHost").unwrap_or_default();
    let path = object.text("RequestPath").unwrap_or_default();
    let row = Row::new(
        Time::Start(start),
        Some(took),
        code(object.text("DownstreamStatus"))?,
    );
    emit(row.upstream(&service).host(&host).path(bare_path(&path)));
    Ok(())
}

fn gcp(object: &Object<'_>, emit: Emit<'_>) -> Result<(), Why> {
    let either = |camel, snake| object.object(if object.has(camel) { camel } else { snake });
    let request = either("httpRequest", "http_request");
    let payload = either("jsonPayload", "json_payload");
    let details = payload
        .first(&["statusDetails", "status_details"])
        .unwrap_or_default();
    let start = time(object.text("timestamp"))?;
    let latency = request.text("latency").ok_or(NO_DURATION)?;
    let took = decimal(latency.trim_end_matches('s'), Unit::Seconds).ok_or(NO_DURATION)?;
    let status = match request.text("status") {
        // The client's certificate was refused: nobody was asked.
        None if details.starts_with("client_") => Status::Known(Outcome::Ignored),
        text => code(text)?,
    };
    let labels = object.object("resource").object("labels");
    let backend = labels.text("backend_service_name").unwrap_or_default();
    let url = request
        .first(&["requestUrl", "request_url"])
        .unwrap_or_default();
    let row = Row::new(Time::Start(start), Some(took), status);
    emit(
        row.upstream(&backend)
            .host(host_of(&url))
            .path(bare_path(&url)),
    );
    Ok(())
}

fn kong(object: &Object<'_>, emit: Emit<'_>) -> Result<(), Why> {
    let start = number(object.text("started_at"), Unit::Millis, NO_TIME)?;
    let took = number(
        object.object("latencies").text("request"),
        Unit::Millis,
        NO_DURATION,
    )?;
    let status = code(object.object("response").text("status"))?;
    let service = object.object("service").text("name").unwrap_or_default();
    let request = object.object("request");
    let uri = request.text("uri").unwrap_or_default();
    let row = Row::new(Time::Start(start), Some(took), status);
    emit(row.upstream(&service).path(bare_path(&uri)));
    Ok(())
}

fn vegeta(object: &Object<'_>, emit: Emit<'_>) -> Result<(), Why> {
    let start = time(object.text("timestamp"))?;
    let took = number(object.text("latency"), Unit::Nanos, NO_DURATION)?;
    let error = object.text("error").unwrap_or_default();
    let status = match code(object.text("code"))? {
        Status::Code(0)
            if ["imeout", "deadline exceeded"]
                .iter()
                .any(|part| error.contains(part)) =>
        {
            Status::Known(Outcome::Timeout)
        }
        Status::Code(0) => Status::Known(Outcome::Failure),
        status => status,
    };
    let url = object.text("url").unwrap_or_default();
    let attack = object.text("attack").unwrap_or_default();
    let upstream = if url.is_empty() {
        &attack
    } else {
        host_of(&url)
    };
    let said = match status {
        Status::Known(_) => "no response",
        _ => "",
    };
    let row = Row::new(Time::Start(start), Some(took), status).said(said);
    emit(
        row.upstream(upstream)
            .host(host_of(&url))
            .path(bare_path(&url)),
    );
    Ok(())
}

/// Retries are records of their own: each is a call.
fn litellm(object: &Object<'_>, emit: Emit<'_>) -> Result<(), Why> {
    let start = number(object.text("startTime"), Unit::Seconds, NO_TIME)?;
    let end = number(object.text("endTime"), Unit::Seconds, NO_TIME)?;
    let status = match object.text("status").as_deref() {
        Some("success") => Status::Known(Outcome::Success),
        Some("failure") => {
            let information = object.object("error_information");
            let class = information.text("error_class").unwrap_or_default();
            match information
                .text("error_code")
                .and_then(|code| code.parse().ok())
            {
                _ if class.contains("Timeout") => Status::Known(Outcome::Timeout),
                Some(code) => Status::Code(code),
                None => Status::Known(Outcome::Failure),
            }
        }
        _ => return Err(NO_STATUS),
    };
    let upstream = object.first(&["model_id", "api_base"]).unwrap_or_default();
    let base = object.text("api_base").unwrap_or_default();
    let group = object.first(&["model_group", "model"]).unwrap_or_default();
    let class = object.object("error_information").text("error_class");
    let row = Row::new(Time::Start(start), Some(end - start), status)
        .said(class.as_deref().unwrap_or(""));
    emit(row.upstream(&upstream).host(host_of(&base)).path(&group));
    Ok(())
}
