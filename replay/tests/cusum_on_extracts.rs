//! Extracts of real logs, with troubles that are known: windows of scores beside the default count window. The table is
//! part of the core's page on how to choose a rule.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use cutout::{Config, Cusum, Score};
use cutout_replay::configs::Named;
use cutout_replay::input::{By, Input, Options, Progress, Source};
use cutout_replay::report::{ConfigRow, Kept, Run};
use cutout_replay::{Slow, Trouble};

/// What a config comes to on a log.
#[derive(Clone, Copy, Debug)]
struct Told {
    trips: u64,
    false_trips: u64,
    missed: u64,
    /// Calls that were refused and would have been bad, and well.
    spared: u64,
    lost: u64,
}

impl Told {
    fn of(row: &ConfigRow) -> Self {
        Self {
            trips: row.trips.value,
            false_trips: row.false_trips.value,
            missed: row.missed.value,
            spared: row.spared.value,
            lost: row.lost.value,
        }
    }

    /// Neither more false trips nor more troubles missed.
    fn is_not_behind(self, other: Self) -> bool {
        self.false_trips <= other.false_trips && self.missed <= other.missed
    }
}

/// A log with its troubles, as `key,start,end` in seconds.
struct Log {
    name: &'static str,
    options: Options,
    troubles: String,
}

fn logs() -> [Log; 4] {
    let plain = |name, troubles: &str| Log {
        name,
        options: Options::default(),
        troubles: troubles.to_owned(),
    };
    let home = "
,1401198653.765,1401198750.430
,1401199505.153,1401199581.888
,1401200055.783,1401200130.985
,1401200190.427,1401200232.521
,1401200333.710,1401200362.716
";
    [
        plain("apache_2015", ""),
        plain("haproxy_2012", "s3,1329433036.67,1329437721.03"),
        plain("home_outages", home),
        mesh(),
    ]
}

fn mesh() -> Log {
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
    let mut slow = Slow::default();
    slow.all(Duration::from_millis(250));
    slow.key("s1", Duration::from_millis(1500));
    slow.key("s7", Duration::from_millis(1000));
    Log {
        name: "slow_mesh_a",
        options: Options {
            by: By::Upstream,
            slow,
            slow_is_timeout: true,
            ..Options::default()
        },
        troubles: labels
            .iter()
            .map(|(key, start, end)| format!("{key},{:.3},{:.3}\n", first + start, first + end))
            .collect(),
    }
}

fn configs() -> Vec<Named> {
    let score = |bad, good, limit, lasting| {
        let score = Score { bad, good, limit };
        Config::cusum(Cusum::of_failures(score).lasting(Duration::from_millis(lasting)))
    };
    let five = Config::default().with(|config| {
        config.failure_ratio = None;
        config.consecutive_failures = Some(5);
    });
    [
        ("10 of 20, the default", Config::default()),
        ("5 in a row", five),
        ("the same as a score, lasting 0.5 s", score(1, 5, 5, 500)),
        ("p0 1 %, p1 30 %, 10⁹, lasting 0 s", score(10, 1, 55, 0)),
        ("the same, 0.5 s", score(10, 1, 55, 500)),
        ("the same, 1 s", score(10, 1, 55, 1000)),
        ("p0 2 %, p1 30 %, 10⁹, lasting 1 s", score(8, 1, 55, 1000)),
        ("p0 2 %, p1 30 %, 10¹², lasting 0.5 s", score(8, 1, 75, 500)),
    ]
    .map(|(name, config)| Named {
        name: name.to_owned(),
        guards: Config::into(config),
    })
    .into()
}

/// The scores that are held to be not behind: told of the usual share of failures in the worst of the logs.
const HELD: [usize; 2] = [6, 7];

fn replay(log: Log) -> Vec<Told> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let source = Source::File(path.join(format!("{}.csv.gz", log.name)));
    let slow = log.options.slow.clone();
    let mut input = Input::open(&[source], log.options, &Progress::default()).unwrap();
    let resolution = input.reading().resolution_ns;
    let kept = Kept {
        troubles: Some(Trouble::read("test", &log.troubles).unwrap()),
        slack: 10_000_000_000,
    };
    let mut run = Run::new(configs(), kept, 1, resolution).unwrap();
    let mut more = true;
    while more {
        let mut calls = Vec::new();
        more = input.read(&mut calls, 10_000).unwrap();
        run.feed(&calls);
    }
    let (reading, keys) = input.finish();
    let report = run.finish(reading, &keys, &slow);
    report.configs.iter().map(Told::of).collect()
}

#[test]
fn scores_are_not_behind_the_count_window_and_ahead_in_one() {
    let mut table = String::from(
        "| log | rule | trips | false | troubles missed | bad calls refused | well calls refused |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for log in logs() {
        let name = log.name;
        let told = replay(log);
        for (config, told) in configs().iter().zip(&told) {
            let Told {
                trips,
                false_trips,
                missed,
                spared,
                lost,
            } = told;
            let rule = &config.name;
            // Where there was no trouble there is nothing to tell apart.
            assert!(name != "apache_2015" || *trips == 0, "{rule}: {told:?}");
            if name != "apache_2015" {
                let _ = writeln!(
                    table,
                    "| `{name}` | {rule} | {trips} | {false_trips} | {missed} | {spared} | {lost} |"
                );
            }
        }
        for held in HELD {
            let (score, count) = (told[held], told[0]);
            assert!(score.is_not_behind(count), "{name}: {score:?} {count:?}");
            let has_trouble = ["home_outages", "slow_mesh_a"].contains(&name);
            assert!(
                !has_trouble || (score.missed < count.missed && score.spared > count.spared),
                "{name}: {score:?} {count:?}"
            );
        }
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src/guide/choosing/logs.md");
    let written = fs::read_to_string(page).unwrap_or_default();
    assert!(table == written, "the page should have\n{table}");
}
