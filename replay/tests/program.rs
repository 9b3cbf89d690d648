//! The program: what its arguments, its inputs and an interrupt do.
#![cfg(unix)]

use std::fs;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cutout-replay");
const HEAD: &str = "start_unix_s,duration_ms,status\n";

/// A folder for one test, gone when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("cutout-replay-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn run(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut child = Command::new(PROGRAM)
            .args(arguments)
            .current_dir(&self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Who refuses its arguments reads nothing.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Calls of these seconds, a second each; from the hundredth to the two hundredth they fail.
fn rows(seconds: std::ops::Range<u32>) -> String {
    let row = |second: u32| {
        let status = if (100..200).contains(&second) {
            503
        } else {
            200
        };
        format!("{},20,{status}\n", 1_000_000_000 + second)
    };
    HEAD.to_owned() + &seconds.map(row).collect::<String>()
}

#[test]
fn plain_and_packed_files_and_the_standard_input_are_one_log() {
    let folder = Folder::new("one-log");
    let json = |arguments: &[&str], input: &[u8]| {
        let output = folder.run(&[arguments, &["--json"]].concat(), input);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let calls = report["reading"]["calls"].as_u64();
        (calls, report["configs"].take())
    };
    let whole = rows(0..400);
    fs::write(folder.0.join("whole.csv"), &whole).unwrap();
    let expected = json(&["whole.csv"], b"");
    assert_eq!(expected.0, Some(400));
    assert!(expected.1[0]["trips"]["value"].as_u64() > Some(0));
    assert_eq!(json(&["-"], whole.as_bytes()), expected);

    fs::write(folder.0.join("a.csv"), rows(0..150)).unwrap();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(rows(150..250).as_bytes()).unwrap();
    fs::write(folder.0.join("b.csv.gz"), gz.finish().unwrap()).unwrap();
    let zst = zstd::encode_all(rows(250..300).as_bytes(), 1).unwrap();
    fs::write(folder.0.join("c.csv.zst"), zst).unwrap();
    let arguments = ["c.csv.zst", "-", "b.csv.gz", "a.csv"];
    assert_eq!(json(&arguments, rows(300..400).as_bytes()), expected);
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_ends_with_a_failure() {
    let folder = Folder::new("wrong");
    fs::write(folder.0.join("log.csv"), rows(0..30)).unwrap();
    let key = |key: u32| format!("{},5,200,k{key}\n", 1_000_000_000 + key);
    let keys: String = (0..7_000).map(key).collect();
    let keys = format!("start_unix_s,duration_ms,status,key\n{keys}");
    fs::write(folder.0.join("keys.csv"), keys).unwrap();
    fs::write(
        folder.0.join("mine.toml"),
        "min_calls = 5\nfailur_ratio = 0.5\n",
    )
    .unwrap();
    for (arguments, said) in [
        (
            &["--config", "mine.toml", "log.csv"][..],
            "line 2, column 1",
        ),
        (&["--config", "none.toml", "log.csv"], "none.toml: "),
        (&["none.csv"], "none.csv: "),
        // Three presets in five orders: more breakers than there is memory for.
        (&["keys.csv", "--by", "upstream"], "more than 6666 keys"),
        (&["-"], "standard input: has no lines"),
        (&["log.csv", "--verdict", "404"], "`404` is no verdict"),
        (&["log.csv", "--tz", "Nowhere/Here"], "--tz"),
        (&[], "name a log"),
    ] {
        let output = folder.run(arguments, b"");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
        assert!(!folder.0.join("replay.html").exists());
    }
}

#[test]
fn a_trip_is_told_with_its_evidence_on_the_terminal_in_json_and_on_the_page() {
    let folder = Folder::new("evidence");
    fs::write(folder.0.join("log.csv"), rows(0..400)).unwrap();
    let score = "window = { cusum = { failures = { bad = 10, good = 1, limit = 55 } } }\n";
    fs::write(folder.0.join("score.toml"), score).unwrap();
    fs::write(folder.0.join("ratio.toml"), "").unwrap();
    let configs = ["--config", "ratio.toml", "--config", "score.toml"];
    let run = |last: &[&str]| folder.run(&[&configs[..], last].concat(), b"");
    let terminal = String::from_utf8(run(&["log.csv"]).stdout).unwrap();
    let page = fs::read_to_string(folder.0.join("replay.html")).unwrap();
    for said in [
        "10 of 20 failed; asked: a share of 0.5",
        "asked: a score of 55",
    ] {
        assert!(terminal.contains(said), "{terminal}");
        assert!(page.contains(said), "{said}");
    }
    let report: Value = serde_json::from_slice(&run(&["log.csv", "--json"]).stdout).unwrap();
    let trip = |config: usize| &report["configs"][config]["trip_list"][0];
    for (config, threshold) in [(0, r#"{"ratio":0.5}"#), (1, r#"{"score":55}"#)] {
        assert_eq!(trip(config)["threshold"].to_string(), threshold);
        assert_eq!(trip(config)["label"], "503");
    }
    let counts = ["samples", "failures", "timeouts", "slow"].map(|name| trip(0)[name].as_u64());
    assert_eq!(counts, [20, 10, 0, 0].map(Some));
}

#[test]
fn the_stages_of_a_recovery_are_stretches_of_their_own() {
    let folder = Folder::new("stages");
    fs::write(folder.0.join("log.csv"), rows(0..400)).unwrap();
    let stages = "stages = { first = 2, growth = 2, until = 8 }\n";
    fs::write(folder.0.join("stages.toml"), stages).unwrap();
    let arguments = ["log.csv", "--config", "stages.toml", "--orders", "1"];
    let output = folder.run(&[&arguments[..], &["--json"]].concat(), b"");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let stretches = report["configs"][0]["stretches"].as_array().unwrap();
    let last: Vec<_> = stretches[stretches.len() - 3..]
        .iter()
        .map(|stretch| {
            let length =
                stretch["end_ns"].as_i64().unwrap() - stretch["start_ns"].as_i64().unwrap();
            (
                stretch["state"].as_str().unwrap(),
                stretch["stage"].as_u64().unwrap(),
                length / 1_000_000_000,
            )
        })
        .collect();
    // A call a second: two of the first stage are needed, three of four, and so on, less what is decided before its end.
    assert_eq!(
        last,
        [
            ("half_open", 1, 1),
            ("half_open", 2, 3),
            ("half_open", 3, 5)
        ]
    );
    folder.run(&arguments, b"");
    let page = fs::read_to_string(folder.0.join("replay.html")).unwrap();
    assert!(page.contains("half-open, a further stage"));
}

#[test]
fn a_ramp_and_a_refused_share_have_bands_and_counts_of_their_own() {
    let folder = Folder::new("shares");
    fs::write(folder.0.join("log.csv"), rows(0..400)).unwrap();
    fs::write(folder.0.join("ramp.toml"), "ramp = '20s'\n").unwrap();
    let throttle = "breaker = 'none'\n[throttle]\nprobes_per_second = 0.1\n";
    fs::write(folder.0.join("throttle.toml"), throttle).unwrap();
    let configs = ["--config", "ramp.toml", "--config", "throttle.toml"];
    let arguments = [&["log.csv", "--orders", "1"][..], &configs].concat();
    let output = folder.run(&[&arguments[..], &["--json"]].concat(), b"");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let [ramped, throttled] = [0, 1].map(|index| &report["configs"][index]);
    let bands = |config: &Value, state: &str| -> Vec<(i64, i64)> {
        let stretches = config["stretches"].as_array().unwrap();
        let of = stretches.iter().filter(|stretch| stretch["state"] == state);
        let nanos = |stretch: &Value, field: &str| stretch[field].as_i64().unwrap();
        of.map(|one| (nanos(one, "start_ns"), nanos(one, "end_ns")))
            .collect()
    };
    let closed = bands(ramped, "half_open").last().unwrap().1;
    let ramp = *bands(ramped, "ramping").last().unwrap();
    assert_eq!(ramp, (closed, closed + 20_000_000_000));
    assert_eq!(
        ramped["ramping_ns"],
        20_000_000_000_u64 * bands(ramped, "ramping").len() as u64
    );
    // A call a second, of which an evenly growing share is admitted: half of them in all.
    let refused = ramped["ramped"]["value"].as_u64().unwrap();
    assert!((9..=11).contains(&refused), "{refused}");
    assert_eq!(ramped["throttled"]["value"], 0);

    let refusing = bands(throttled, "refusing");
    let lengths = refusing.iter().map(|(start, end)| end - start);
    assert_eq!(throttled["refusing_ns"], lengths.sum::<i64>());
    let stretch = &throttled["stretches"][0];
    let share = stretch["share"].as_f64().unwrap();
    assert!(share > 0.3 && share < 1.0, "{stretch}");
    let sums = |fields: &[&str]| {
        fields
            .iter()
            .map(|of| throttled[of]["value"].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(sums(&["throttled"]), sums(&["spared", "lost"]));
    assert_eq!((sums(&["trips"]), sums(&["missed"])), (0, 0));
    let answer = &throttled["troubles"][0];
    assert!(
        answer["trip_delay_ns"].is_null() && answer["refusal_delay_ns"].is_u64(),
        "{answer}"
    );

    let terminal = String::from_utf8(folder.run(&arguments, b"").stdout).unwrap();
    let page = fs::read_to_string(folder.0.join("replay.html")).unwrap();
    for said in [
        "ramp: 10 refused on ramps, in 20.0 s",
        "refused by throttles, in ",
        ", a share",
    ] {
        assert!(terminal.contains(said), "{said}: {terminal}");
    }
    for said in [
        "closed, on its ramp",
        "a share refused by a throttle",
        "on ramps",
        "throttled",
    ] {
        assert!(page.contains(said), "{said}");
    }
}

#[test]
fn an_interrupt_leaves_the_report_of_what_was_read() {
    let folder = Folder::new("interrupt");
    let mut child = Command::new(PROGRAM)
        .arg("-")
        .current_dir(&folder.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = BufWriter::new(child.stdin.take().unwrap());
    input.write_all(rows(0..100_000).as_bytes()).unwrap();
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(sent.success());
    // It reads no more than what it had when it heard of it.
    let mut row = (100_000_u32..).map(|second| format!("{},20,200\n", 1_000_000_000 + second));
    while row
        .next()
        .is_some_and(|row| input.write_all(row.as_bytes()).is_ok())
    {}
    drop(input.into_parts());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && said.contains("STOPPED before the end"),
        "{said}"
    );
    let tables = String::from_utf8(output.stdout).unwrap();
    assert!(tables.contains("default") && tables.contains("the report: replay.html"));
    let page = fs::read_to_string(folder.0.join("replay.html")).unwrap();
    assert!(page.contains("stopped before the end"));
}

#[test]
fn where_stamps_are_of_whole_seconds_a_number_that_hangs_on_the_order_has_a_range() {
    let folder = Folder::new("orders");
    // Three of nine calls of a second fail: whether they do in a row the log does not say.
    let line = |index: u32| {
        let status = if index % 9 % 3 == 1 { 503 } else { 200 };
        format!(
            "192.0.2.1 - - [22/Jan/2019:{:02}:{:02}:{:02} +0000] \"GET / HTTP/1.1\" {status} 1 \"-\" \"-\"\n",
            index / 9 / 3600,
            index / 9 / 60 % 60,
            index / 9 % 60
        )
    };
    fs::write(
        folder.0.join("access.log"),
        (0..3_600).map(line).collect::<String>(),
    )
    .unwrap();
    let run = "failure_ratio = \"none\"\nconsecutive_failures = 3\nopen_wait = \"1s\"\n";
    fs::write(folder.0.join("run.toml"), run).unwrap();
    let json = |orders: &[&str]| {
        let arguments = ["access.log", "--config", "run.toml", "--json"];
        let output = folder.run(&[&arguments[..], orders].concat(), b"");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let trips = &report["configs"][0]["trips"];
        let numbers = ["value", "min", "max"].map(|name| trips[name].as_u64().unwrap());
        (report["orders"].as_u64().unwrap(), numbers)
    };
    let (orders, [written, least, most]) = json(&[]);
    assert_eq!((orders, written, least), (5, 0, 0));
    assert!(most > 2, "{most}");
    // The order as written alone.
    assert_eq!(json(&["--orders", "1"]), (1, [0, 0, 0]));
    let output = folder.run(&["access.log", "--config", "run.toml"], b"");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&format!("0 (0 to {most})")), "{text}");
}
