//! The same outcomes in nine formats give the same table.

use std::fmt::Write as _;

use cutout_replay::configs::presets;
use cutout_replay::input::{FormatName, Input, Options, Progress, Source};
use cutout_replay::report::{Kept, Run};
use jiff::Timestamp;

/// `(start in ms since the epoch, duration in ms, status)`.
type Made = (i64, u64, u16);

/// Ten minutes with an outage in them, in which calls overlap.
fn calls() -> Vec<Made> {
    let mut random = fastrand::Rng::with_seed(3);
    let mut at = 1_767_571_200_000;
    let mut calls = Vec::new();
    for index in 0..3_000 {
        at += random.i64(1..400);
        let ill = (1_000..1_600).contains(&index);
        let status = match random.u32(0..100) {
            0..70 if ill => 503,
            70..80 if ill => 504,
            90..95 => 404,
            99 => 500,
            _ => 200,
        };
        calls.push((at, random.u64(1..2_000), status));
    }
    calls
}

fn text(format: &str, calls: &[Made]) -> String {
    let mut text = String::new();
    match format {
        "csv" => text.push_str("start_ms,duration_ms,status\n"),
        "jmeter" => text.push_str("timeStamp,elapsed,label,responseCode,responseMessage,success\n"),
        _ => {}
    }
    for &(at, took, status) in calls {
        let time = Timestamp::from_millisecond(at).unwrap();
        let end = at + took as i64;
        let ns = took * 1_000_000;
        let line = match format {
            "csv" => format!("{at},{took},{status}"),
            "jmeter" => format!("{at},{took},x,{status},x,{}", status < 400),
            "json-lines" => format!(r#"{{"ts":{at},"latency_ms":{took},"status":{status}}}"#),
            "gateway" => format!(
                r#"{{"ts":"{time:.3}","duration_ms":{took},"route":"r","target":"t","status":{status},"attempts":[{{"target":"t","status":{status},"duration_ms":{took}}}]}}"#
            ),
            "envoy" => format!(
                r#"[{time:.3}] "GET /x HTTP/1.1" {status} - 0 1 {took} - "-" "ua" "id" "h" "192.0.2.2:80""#
            ),
            "envoy-json" => format!(
                r#"{{"start_time":"{time:.3}","duration":{took},"response_code":{status},"response_flags":"-"}}"#
            ),
            "haproxy" => format!(
                r#"haproxy[1]: 192.0.2.1:1 [{}] fe be/s 0/0/0/{took}/{took} {status} 1 - - ---- 0/0/0/0/0 0/0 "GET /x HTTP/1.1""#,
                time.strftime("%d/%b/%Y:%H:%M:%S%.3f")
            ),
            "traefik-json" => {
                format!(r#"{{"StartUTC":"{time:.3}","Duration":{ns},"DownstreamStatus":{status}}}"#)
            }
            "vegeta" => format!(
                r#"{{"attack":"a","seq":1,"code":{status},"timestamp":"{time:.3}","latency":{ns},"error":""}}"#
            ),
            "otlp" => format!(
                r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"kind":3,"startTimeUnixNano":"{at}000000","endTimeUnixNano":"{end}000000","attributes":[{{"key":"http.response.status_code","value":{{"intValue":"{status}"}}}}]}}]}}]}}]}}"#
            ),
            _ => unreachable!("{format}"),
        };
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The table as its JSON has it.
fn table(format: &str, calls: &[Made]) -> String {
    let source = Source::Memory(format.into(), text(format, calls).into_bytes().into());
    let options = Options::default();
    let slow = options.slow.clone();
    let mut input = Input::open(&[source], options, &Progress::default()).unwrap();
    assert_eq!(
        input.reading().inputs[0].format,
        FormatName::named(format).unwrap()
    );
    let mut run = Run::new(presets(), Kept::default(), 1, 1).unwrap();
    let mut more = true;
    while more {
        let mut calls = Vec::new();
        more = input.read(&mut calls, 700).unwrap();
        run.feed(&calls);
    }
    let (reading, keys) = input.finish();
    assert_eq!(
        (reading.calls, reading.skips()),
        (calls.len() as u64, 0),
        "{format}: {:?}",
        reading.examples
    );
    let report = run.finish(reading, &keys, &slow);
    serde_json::to_string_pretty(&(&report.troubles, &report.configs, &report.timeline)).unwrap()
}

#[test]
fn ten_formats_of_the_same_calls_give_the_same_table() {
    let calls = calls();
    let expected = table("csv", &calls);
    assert!(
        expected.contains(r#""cause": "failure_ratio""#),
        "nothing trips"
    );
    for format in [
        "jmeter",
        "json-lines",
        "gateway",
        "envoy",
        "envoy-json",
        "haproxy",
        "traefik-json",
        "vegeta",
        "otlp",
    ] {
        assert_eq!(table(format, &calls), expected, "{format}");
    }
}

#[test]
fn lines_out_of_order_within_the_bound_give_the_same_table() {
    let mut calls = calls();
    let expected = table("csv", &calls);
    // As a server writes them: when they end.
    calls.sort_by_key(|&(at, took, _)| at + took as i64);
    assert_eq!(table("csv", &calls), expected);
}
