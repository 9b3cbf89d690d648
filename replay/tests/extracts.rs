//! Extracts of real logs, with troubles that are known: what the presets do on them, in numbers.

use std::path::Path;
use std::time::Duration;

use cutout_replay::configs::{Named, parse, presets};
use cutout_replay::input::{By, Input, Options, Progress, Source};
use cutout_replay::report::{ConfigRow, Kept, Report, Run};
use cutout_replay::{Slow, Trouble};

fn replay(name: &str, options: Options, troubles: Vec<Trouble>, configs: Vec<Named>) -> Report {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let source = Source::File(path.join(format!("{name}.csv.gz")));
    let slow = options.slow.clone();
    let mut input = Input::open(&[source], options, &Progress::default()).unwrap();
    let resolution = input.reading().resolution_ns;
    let orders = if resolution >= 1_000_000_000 { 5 } else { 1 };
    let kept = Kept {
        troubles: Some(troubles),
        slack: 10_000_000_000,
    };
    let mut run = Run::new(configs, kept, orders, resolution).unwrap();
    let mut more = true;
    while more {
        let mut calls = Vec::new();
        more = input.read(&mut calls, 10_000).unwrap();
        run.feed(&calls);
    }
    let (reading, keys) = input.finish();
    assert_eq!(reading.skips(), 0, "{:?}", reading.examples);
    run.finish(reading, &keys, &slow)
}

/// The presets without jitter: numbers that are written down must not hang on how it is drawn.
fn steady() -> Vec<Named> {
    let mut configs = presets();
    for named in &mut configs {
        if let Some(config) = &mut named.guards.breaker {
            config.open_wait.jitter_percent = 0;
        }
    }
    configs
}

/// Troubles as `key,start,end` in seconds.
fn known(text: &str) -> Vec<Trouble> {
    Trouble::read("test", text).unwrap()
}

/// `(config, trips, false, missed, median delay to the trip in ms, spared, lost)` of each config.
type Told<'a> = (&'a str, u64, u64, u64, Option<u64>, u64, u64);

fn told(row: &ConfigRow) -> Told<'_> {
    let mut delays: Vec<u64> = row
        .troubles
        .iter()
        .filter_map(|answer| answer.trip_delay_ns)
        .collect();
    delays.sort_unstable();
    let median = delays.get(delays.len() / 2).map(|delay| delay / 1_000_000);
    (
        &row.name,
        row.trips.value,
        row.false_trips.value,
        row.missed.value,
        median,
        row.spared.value,
        row.lost.value,
    )
}

fn all(report: &Report) -> Vec<Told<'_>> {
    report.configs.iter().map(told).collect()
}

#[test]
fn nothing_trips_where_there_was_no_trouble_in_whatever_order_of_a_second() {
    let report = replay("apache_2015", Options::default(), Vec::new(), steady());
    assert_eq!((report.reading.calls, report.orders), (10_000, 5));
    for row in &report.configs {
        assert_eq!(
            (row.trips.value, row.trips.max, row.spared.max, row.lost.max),
            (0, 0, 0, 0),
            "{}",
            row.name
        );
    }
}

#[test]
fn presets_on_a_seldom_called_service_of_2012() {
    let troubles = known("s3,1329433036.67,1329437721.03");
    let report = replay("haproxy_2012", Options::default(), troubles, steady());
    assert_eq!((report.reading.calls, report.bad_calls), (17_211, 50));
    assert_eq!(
        all(&report),
        [
            ("default", 0, 0, 1, None, 0, 0),
            ("high-traffic", 0, 0, 1, None, 0, 0),
            ("low-traffic", 4, 2, 0, Some(348677), 3, 6)
        ]
    );
}

#[test]
fn presets_on_the_outages_of_one_client() {
    let troubles = known(HOME);
    let report = replay("home_outages", Options::default(), troubles, steady());
    assert_eq!((report.reading.calls, report.bad_calls), (1_786, 185));
    assert_eq!(
        all(&report),
        [
            ("default", 5, 0, 1, Some(13099), 62, 263),
            ("high-traffic", 0, 0, 5, None, 0, 0),
            ("low-traffic", 5, 0, 1, Some(11336), 72, 123)
        ]
    );
}

const HOME: &str = "
,1401198653.765,1401198750.430
,1401199505.153,1401199581.888
,1401200055.783,1401200130.985
,1401200190.427,1401200232.521
,1401200333.710,1401200362.716
";

#[test]
fn presets_on_the_slow_dependencies_of_a_shop() {
    let first = 1_661_140_339.210;
    let labels = [
        ("s2", 101.0, 562.0),
        ("s2", 4677.0, 5827.0),
        ("s3", 2100.0, 2220.0),
        ("s4", 9802.0, 9901.0),
        ("s4", 10840.0, 11463.0),
        ("s4", 11847.0, 12004.0),
        ("s5", 12340.0, 12420.0),
        ("s6", 14477.0, 14581.0),
        ("s7", 2124.0, 6715.0),
    ];
    let troubles: String = labels
        .iter()
        .map(|(key, start, end)| format!("{key},{:.3},{:.3}\n", first + start, first + end))
        .collect();
    let mut slow = Slow::default();
    slow.all(Duration::from_millis(250));
    slow.key("s1", Duration::from_millis(1500));
    slow.key("s7", Duration::from_millis(1000));
    let options = Options {
        by: By::Upstream,
        slow,
        slow_is_timeout: true,
        ..Options::default()
    };
    let mut configs = steady();
    configs.extend(
        parse(
            "five-in-a-row",
            "consecutive_failures = 5\nfailure_ratio = 'none'",
        )
        .unwrap(),
    );
    let report = replay("slow_mesh_a", options, known(&troubles), configs);
    assert_eq!(report.reading.calls, 119_078);
    assert_eq!(
        all(&report),
        [
            ("default", 37, 20, 1, Some(3231), 6272, 8414),
            ("high-traffic", 12, 4, 3, Some(57550), 4495, 571),
            ("low-traffic", 153, 122, 0, Some(586), 6645, 25389),
            ("five-in-a-row", 64, 49, 1, Some(1336), 6645, 23735)
        ]
    );
}
