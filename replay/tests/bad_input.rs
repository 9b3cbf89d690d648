//! Whatever an input is, the result is a clear error or a counted skip, never a wrong table.

use std::io::Write as _;
use std::time::Duration;

use cutout_replay::configs::presets;
use cutout_replay::input::{By, Input, Options, Progress, Reading, Source};
use cutout_replay::report::{Kept, Run, html, terminal};
use cutout_replay::{Call, Error, Keys};

fn read(bytes: &[u8], options: Options) -> Result<(Vec<Call>, Keys, Reading), Error> {
    let source = Source::Memory("log".into(), bytes.into());
    let mut input = Input::open(&[source], options, &Progress::default())?;
    let mut calls = Vec::new();
    while input.read(&mut calls, 1_000)? {}
    let (reading, keys) = input.finish();
    Ok((calls, keys, reading))
}

fn refused(bytes: &[u8], options: Options) -> String {
    read(bytes, options)
        .map(|(calls, ..)| calls.len())
        .unwrap_err()
        .to_string()
}

const HEAD: &str = "start_unix_s,duration_ms,status,key\n";

fn csv(rows: &str) -> Vec<u8> {
    format!("{HEAD}{rows}").into_bytes()
}

#[test]
fn an_input_that_is_no_log_is_refused_with_the_reason() {
    let options = Options::default;
    assert_eq!(refused(b"", options()), "log: has no lines");
    assert_eq!(refused(b"\n\n \n", options()), "log: has no lines");
    assert_eq!(
        refused(b"\x7fELF\0\0\x01", options()),
        "log: is binary, not a log of lines"
    );
    assert!(refused(b"dear diary\n", options()).contains("in no format that is known"));
    let pretty = refused(b"{\n  \"resourceSpans\": [\n", options());
    assert!(pretty.contains("one object a line"), "{pretty}");
    let secret = refused(b"GET /x?token=secret\n", options());
    assert!(!secret.contains("secret"), "{secret}");
}

#[test]
fn what_cannot_be_believed_is_skipped_and_counted() {
    let rows = "1000000000,5,200,a\n1000000001,-5,200,a\n1000000002,5,purple,a\n1000000003,5,,a\nnever,5,200,a\n\
                9000000000,5,200,a\n-5,5,200,a\n1000000004,5,200\n1000000005,5,200,a\n";
    let options = Options {
        now: 1_100_000_000_000_000_000,
        ..Options::default()
    };
    let (calls, _, reading) = read(&csv(rows), options).unwrap();
    assert_eq!(calls.len(), 2);
    let skipped: Vec<_> = reading
        .skipped
        .iter()
        .map(|(why, count)| (why.as_str(), *count))
        .collect();
    assert_eq!(
        skipped,
        [
            ("a negative duration", 1),
            ("a status that is not known: see --verdict", 1),
            ("a time before 1970", 1),
            ("a time in the future", 1),
            ("no status", 1),
            ("not as many cells as the header has", 1),
            ("the time is none", 1),
        ]
    );
    assert_eq!(reading.examples.len(), 3);
    assert!(
        reading.examples[0].starts_with("log:3: a negative duration"),
        "{}",
        reading.examples[0]
    );
    assert_eq!(
        reading.lines,
        reading.calls + reading.skips() + reading.not_calls
    );
}

#[test]
fn one_stamp_far_ahead_takes_none_of_the_others_along() {
    let mut rows = String::from("1500000000,5,200,a\n");
    for second in 0..500 {
        rows.push_str(&format!("{},5,200,a\n", 1_000_000_000 + second));
        if second == 250 {
            rows.push_str("1400000000,5,200,a\n");
        }
    }
    let (calls, _, reading) = read(&csv(&rows), Options::default()).unwrap();
    assert_eq!(
        (
            calls.len(),
            reading.skipped["a stamp far from its neighbours"]
        ),
        (500, 2)
    );
}

#[test]
fn a_log_that_pauses_for_days_is_read_whole() {
    let rows: String = (0..50)
        .map(|day| format!("{},5,200,a\n", 1_000_000_000 + day * 200_000))
        .collect();
    let (calls, _, reading) = read(&csv(&rows), Options::default()).unwrap();
    assert_eq!(
        (calls.len(), reading.skips(), reading.gaps.len()),
        (50, 0, 3)
    );
}

#[test]
fn a_call_beyond_the_bound_of_the_sort_is_counted_and_left_out() {
    let mut rows: String = (0..400)
        .map(|second| format!("{},5,200,a\n", 1_000_000_000 + second))
        .collect();
    rows.push_str("1000000001,5,500,a\n1000000395,5,200,a\n");
    let options = Options {
        within: Duration::from_secs(10),
        ..Options::default()
    };
    let (calls, _, reading) = read(&csv(&rows), options).unwrap();
    assert_eq!((calls.len(), reading.skips()), (401, 1));
    assert!(calls.is_sorted_by_key(|call| call.start));
}

#[test]
fn a_reading_that_is_stopped_gives_the_calls_of_all_lines_that_were_read() {
    let rows: String = (0..5_000)
        .map(|second| format!("{},5,200,a\n", 1_000_000_000 + second))
        .collect();
    let source = Source::Memory("log".into(), csv(&rows).into());
    let mut input = Input::open(&[source], Options::default(), &Progress::default()).unwrap();
    let mut calls = Vec::new();
    assert!(input.read(&mut calls, 1).unwrap());
    input.stop();
    while input.read(&mut calls, 1_000).unwrap() {}
    let (reading, _) = input.finish();
    assert!(reading.stopped && calls.len() > 500 && calls.len() < 5_000);
    assert_eq!(reading.lines, calls.len() as u64 + reading.not_calls);
}

#[test]
fn a_truncated_archive_gives_what_it_holds_and_says_so() {
    let rows: String = (0..20_000)
        .map(|second| format!("{},{},200,a\n", 1_000_000_000 + second, second * 7 % 1_000))
        .collect();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&csv(&rows)).unwrap();
    let packed = packed.finish().unwrap();
    let (calls, _, reading) = read(&packed[..packed.len() / 2], Options::default()).unwrap();
    assert!(
        calls.len() > 1_000 && calls.len() < 20_000,
        "{}",
        calls.len()
    );
    assert!(reading.inputs[0].cut_short.is_some());
    assert!(terminal::reading(&reading).contains("ENDS BEFORE ITS END"));
}

#[test]
fn a_line_without_end_is_cut_and_counted() {
    let mut bytes = csv("1000000000,5,200,a\n");
    bytes.extend(std::iter::repeat_n(b'x', 20 << 20));
    bytes.extend_from_slice(b"\n1000000001,5,200,a\n");
    let (calls, _, reading) = read(&bytes, Options::default()).unwrap();
    assert_eq!(
        (calls.len(), reading.skipped["a line that is too long"]),
        (2, 1)
    );
}

#[test]
fn more_keys_than_may_be_are_refused_with_what_to_do() {
    let rows: String = (0..200)
        .map(|key| format!("{},5,200,k{key}\n", 1_000_000_000 + key))
        .collect();
    let options = Options {
        by: By::Upstream,
        max_keys: 100,
        ..Options::default()
    };
    let message = refused(&csv(&rows), options);
    assert!(
        message.contains("more than 100 keys") && message.contains("--max-keys"),
        "{message}"
    );
    // One breaker for all needs none.
    let options = Options {
        max_keys: 100,
        ..Options::default()
    };
    assert_eq!(read(&csv(&rows), options).unwrap().0.len(), 200);
}

#[test]
fn lines_of_another_format_are_skipped_and_counted() {
    let mut rows: String = (0..20)
        .map(|second| format!("{},5,200,a\n", 1_000_000_000 + second))
        .collect();
    rows.push_str("{\"ts\":1000000021,\"latency_ms\":5,\"status\":500}\n");
    let (calls, _, reading) = read(&csv(&rows), Options::default()).unwrap();
    assert_eq!((calls.len(), reading.skips()), (20, 1));
}

#[test]
fn the_report_holds_no_query_no_password_and_no_markup_of_a_key() {
    let rows = "1000000000,5,200,https://user:pass@h/x?token=hidden\n1000000001,5,500,<script>alert(1)</script>\n\
                1000000002,5,wrong?token=hidden,a\n";
    let options = Options {
        by: By::Upstream,
        ..Options::default()
    };
    let slow = options.slow.clone();
    let (calls, keys, reading) = read(&csv(rows), options).unwrap();
    let mut run = Run::new(presets(), Kept::default(), 1, 1).unwrap();
    run.feed(&calls);
    let report = run.finish(reading, &keys, &slow);
    let json = serde_json::to_string(&report).unwrap();
    let page = html::page(&report);
    for secret in ["hidden", "pass@", "user:"] {
        assert!(!json.contains(secret) && !page.contains(secret), "{secret}");
    }
    assert!(!page.contains("<script>") && page.contains("&lt;script&gt;"));
}
