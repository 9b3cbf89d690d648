//! Spans as OpenTelemetry's file exporters write them: OTLP in JSON, a batch a line.

use cutout::Outcome;

use super::json::objects;
use super::object::Object;
use crate::input::row::{Emit, Format, Row, Side, Time, Why};
use crate::input::stamp::{Unit, decimal};
use crate::verdict::Status;

/// Client spans are calls, and server spans whose client span is not there. Both of one call count once: a
/// server span's parent is its client span.
#[derive(Debug)]
pub(crate) struct Otlp;

impl Format for Otlp {
    fn line(&mut self, line: &str, emit: Emit<'_>) -> Result<(), Why> {
        objects(line, |batch| {
            if !batch.has("resourceSpans") {
                return Err("no resourceSpans");
            }
            let mut result = Ok(());
            for resource in batch.objects("resourceSpans") {
                let service = attribute(&resource.object("resource"), &["service.name"]);
                for scope in resource.objects("scopeSpans") {
                    for span in scope.objects("spans") {
                        // One that is not as it should be takes none of the others along.
                        result = result.and(read(&span, service.as_deref().unwrap_or(""), emit));
                    }
                }
            }
            result
        })
    }
}

fn read(span: &Object<'_>, service: &str, emit: Emit<'_>) -> Result<(), Why> {
    let side = match span.text("kind").as_deref() {
        Some("3" | "SPAN_KIND_CLIENT") => Side::Caller,
        Some("2" | "SPAN_KIND_SERVER") => Side::Callee,
        _ => return Ok(()),
    };
    let time = |name| span.text(name).and_then(|text| decimal(&text, Unit::Nanos));
    let start = time("startTimeUnixNano").ok_or("a span without a start")?;
    let end = time("endTimeUnixNano").ok_or("a span without an end")?;
    let code = attribute(span, &["http.response.status_code", "http.status_code"]);
    let code = code.and_then(|code| code.parse().ok());
    let status = match code {
        Some(code) => Status::Code(code),
        None => match span.object("status").text("code").as_deref() {
            Some("2" | "STATUS_CODE_ERROR") => Status::Known(Outcome::Failure),
            _ => Status::Known(Outcome::Success),
        },
    };
    let peer = match side {
        Side::Caller => attribute(
            span,
            &[
                "peer.service",
                "server.address",
                "rpc.service",
                "net.peer.name",
            ],
        ),
        Side::Callee => None,
    };
    let (trace, own) = (span.text("traceId"), span.text("spanId"));
    let parent = span
        .text("parentSpanId")
        .filter(|parent| !parent.is_empty());
    let shared = match side {
        Side::Caller => own,
        Side::Callee => parent.or(own),
    };
    let name = span.text("name").unwrap_or_default();
    let said = if code.is_none() { "error" } else { "" };
    let mut row = Row::new(Time::Start(start), Some(end - start), status)
        .said(said)
        .upstream(peer.as_deref().unwrap_or(service))
        .host(service)
        .path(super::text::path_of(&name));
    row.side = trace
        .zip(shared)
        .map(|(trace, span)| (side, super::text::hash(&[&trace, &span])));
    emit(row);
    Ok(())
}

/// The value of the first of these attributes that is there.
fn attribute(of: &Object<'_>, names: &[&str]) -> Option<String> {
    let attributes = of.objects("attributes");
    names.iter().find_map(|name| {
        let found = attributes
            .iter()
            .find(|one| one.text("key").as_deref() == Some(*name))?;
        let value = found.object("value");
        value
            .first(&["stringValue", "intValue"])
            .map(|text| text.into_owned())
    })
}
