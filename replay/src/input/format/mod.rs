//! The formats that can be read, and how one is told from another.

mod aws;
mod clf;
mod envoy;
mod haproxy;
mod json;
mod lines;
mod mapped;
mod object;
mod otlp;
mod table;
mod text;

use std::fmt;

use jiff::tz::TimeZone;

pub use mapped::Map;

use self::clf::Tail;
use self::json::Json;
use self::object::Object;
use self::table::{Csv, Kind};
use super::row::Format;

/// A format by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// nginx's or Apache's combined format, without durations.
    Combined,
    /// The same with nginx's times by name.
    NginxTimes,
    /// ingress-nginx's default.
    IngressNginx,
    /// The combined format with Apache's `%D %T`.
    ApacheTimes,
    /// Traefik's common format.
    TraefikText,
    /// Envoy's default.
    EnvoyText,
    /// Istio's default.
    IstioText,
    /// HAProxy's `httplog`.
    Haproxy,
    /// AWS Application Load Balancer.
    Alb,
    /// AWS CloudFront.
    CloudFront,
    /// The request log of this project's gateway.
    Gateway,
    /// Envoy's or Istio's JSON.
    EnvoyJson,
    /// Caddy 2.
    Caddy,
    /// Traefik's JSON.
    TraefikJson,
    /// Google Cloud's load balancer.
    Gcp,
    /// Kong's file-log and http-log.
    Kong,
    /// `vegeta encode`.
    Vegeta,
    /// LiteLLM's standard logging payload.
    LiteLlm,
    /// OpenTelemetry's spans, in JSON.
    Otlp,
    /// k6's CSV.
    K6,
    /// JMeter's CSV.
    Jmeter,
    /// CSV with named columns.
    Csv,
    /// JSON lines with named fields.
    JsonLines,
}

impl Name {
    /// All of them. Of two that read a line, the first is meant.
    pub const ALL: [Self; 23] = [
        Self::IngressNginx,
        Self::NginxTimes,
        Self::TraefikText,
        Self::ApacheTimes,
        Self::Combined,
        Self::IstioText,
        Self::EnvoyText,
        Self::Haproxy,
        Self::Alb,
        Self::CloudFront,
        Self::Gateway,
        Self::Otlp,
        Self::LiteLlm,
        Self::TraefikJson,
        Self::Kong,
        Self::Gcp,
        Self::Vegeta,
        Self::Caddy,
        Self::EnvoyJson,
        Self::K6,
        Self::Jmeter,
        Self::Csv,
        Self::JsonLines,
    ];

    /// The name for `--format`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Combined => "combined",
            Self::NginxTimes => "nginx-times",
            Self::IngressNginx => "ingress-nginx",
            Self::ApacheTimes => "apache-times",
            Self::TraefikText => "traefik",
            Self::EnvoyText => "envoy",
            Self::IstioText => "istio",
            Self::Haproxy => "haproxy",
            Self::Alb => "alb",
            Self::CloudFront => "cloudfront",
            Self::Gateway => "gateway",
            Self::EnvoyJson => "envoy-json",
            Self::Caddy => "caddy",
            Self::TraefikJson => "traefik-json",
            Self::Gcp => "gcp",
            Self::Kong => "kong",
            Self::Vegeta => "vegeta",
            Self::LiteLlm => "litellm",
            Self::Otlp => "otlp",
            Self::K6 => "k6",
            Self::Jmeter => "jmeter",
            Self::Csv => "csv",
            Self::JsonLines => "json-lines",
        }
    }

    /// The format of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.label() == name)
    }

    /// What reads it; `None` where the first line does not say what its columns are.
    pub(super) fn reader(self, first: &str, how: &How) -> Option<Box<dyn Format>> {
        let clf = |tail| Box::new(clf::Clf::new(tail, how.attempts)) as Box<dyn Format>;
        let zone = how.zone.clone();
        Some(match self {
            Self::Combined => clf(Tail::Unread),
            Self::NginxTimes => clf(Tail::Named),
            Self::IngressNginx => clf(Tail::Ingress),
            Self::ApacheTimes => clf(Tail::MicrosAndSeconds),
            Self::TraefikText => clf(Tail::Traefik),
            Self::EnvoyText => Box::new(envoy::Envoy::Default),
            Self::IstioText => Box::new(envoy::Envoy::Istio),
            Self::Haproxy => Box::new(haproxy::Haproxy { zone }),
            Self::Alb => Box::new(aws::Alb),
            Self::CloudFront => Box::new(aws::CloudFront),
            Self::Gateway => Box::new(Json::Gateway),
            Self::EnvoyJson => Box::new(Json::Envoy),
            Self::Caddy => Box::new(Json::Caddy),
            Self::TraefikJson => Box::new(Json::Traefik),
            Self::Gcp => Box::new(Json::Gcp),
            Self::Kong => Box::new(Json::Kong),
            Self::Vegeta => Box::new(Json::Vegeta),
            Self::LiteLlm => Box::new(Json::LiteLlm),
            Self::Otlp => Box::new(otlp::Otlp),
            Self::K6 => match Csv::kind(first)? {
                Kind::K6 => Box::new(Csv::new(Kind::K6, first, zone)),
                _ => return None,
            },
            Self::Jmeter => match Csv::kind(first) {
                Some(Kind::Jmeter) => Box::new(Csv::new(Kind::Jmeter, first, zone)),
                _ => Box::new(Csv::jtl(zone)),
            },
            Self::Csv => {
                let map = match (&how.map, Csv::kind(first)) {
                    (Some(map), _) => map.clone(),
                    (None, Some(Kind::Mapped(map))) => map,
                    _ => return None,
                };
                let csv = Csv::new(Kind::Mapped(map.clone()), first, zone);
                if csv.missing(&map).is_some() {
                    return None;
                }
                Box::new(csv)
            }
            Self::JsonLines => {
                let found = || {
                    let fields = Object::parse(first)?;
                    Map::found(fields.names())
                };
                let map = how.map.clone().or_else(found)?;
                Box::new(lines::JsonLines { map, zone })
            }
        })
    }

    /// Whether it can be told from the lines alone. The fields of JSON objects are looked at first.
    fn may_be(self, line: &str) -> bool {
        let json = |names: &[&str]| {
            let Some(begin) = line.find('{') else {
                return false;
            };
            let first = || {
                serde_json::from_str::<Vec<Object<'_>>>(line)
                    .ok()?
                    .into_iter()
                    .next()
            };
            let object = if line.starts_with('[') {
                first()
            } else {
                Object::parse(&line[begin..])
            };
            object.is_some_and(|object| names.iter().all(|name| object.has(name)))
        };
        match self {
            Self::Gateway => {
                json(&["ts", "duration_ms", "route"]) || json(&["ts", "duration_ms", "attempts"])
            }
            Self::Otlp => json(&["resourceSpans"]),
            Self::LiteLlm => json(&["startTime", "endTime", "status"]),
            Self::TraefikJson => json(&["DownstreamStatus", "Duration"]),
            Self::Kong => json(&["latencies", "started_at"]),
            Self::Gcp => {
                json(&["httpRequest", "timestamp"]) || json(&["http_request", "timestamp"])
            }
            Self::Vegeta => {
                json(&["attack", "latency", "timestamp"]) || json(&["seq", "latency", "timestamp"])
            }
            Self::Caddy => json(&["ts", "request", "duration"]),
            Self::EnvoyJson => {
                json(&["start_time", "response_code"]) || json(&["start_time", "response_flags"])
            }
            _ => true,
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// What a format must be told to read its lines.
#[derive(Clone, Debug)]
pub(super) struct How {
    pub(super) map: Option<Map>,
    pub(super) zone: TimeZone,
    pub(super) attempts: bool,
}

/// The format that reads the most of these lines, and how many it reads; with a map, it is a format of columns.
pub(super) fn detect(lines: &[&str], how: &How) -> Option<(Name, usize)> {
    let first = lines.first()?;
    let mut best = None;
    for name in Name::ALL {
        let columns = matches!(name, Name::Csv | Name::JsonLines);
        if how.map.is_some() && !columns {
            continue;
        }
        let Some(mut reader) = name.reader(first, how) else {
            continue;
        };
        let mut calls = 0;
        let mut read = 0;
        for line in lines {
            let known = name.may_be(line) && reader.line(line, &mut |_| calls += 1).is_ok();
            read += usize::from(known);
        }
        if calls > 0 && best.is_none_or(|(_, most)| read > most) {
            best = Some((name, read));
        }
    }
    best
}
