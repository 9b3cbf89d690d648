//! The circle: what `cutout-replay` advises by a request log is taken as a config, as it is.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::{fs, path::PathBuf};

use cutout_replay::configs::{Named, differing, presets, toml};
use cutout_replay::demo::{self, Day};
use cutout_replay::input::{By, Input, Options, Progress, Source};
use cutout_replay::report::{Kept, Run};
use cutout_replay::search::{Advice, Search};
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cutout-gateway");
const PROVIDER: &str = "[[provider]]\nname = \"alpha\"\nbase_url = \"http://x/v1\"\n";
const ROUTE: &str = "[[route]]\nmodel = \"m\"\nqueue = [{ provider = \"alpha\" }]\n";

/// A folder for one test, gone when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cutout-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What is advised by the gateway's request log of the demo's outage, and a while before and after it.
fn advice() -> Advice {
    const MINUTE: u64 = 60_000;
    let around = 180 * MINUTE..210 * MINUTE;
    let mut log = Vec::new();
    let day = Day::new().filter(|call| around.contains(&call.at_ms));
    for (number, call) in (1..).zip(day) {
        call.write(number, &mut log).unwrap();
    }
    let options = Options {
        by: By::Host,
        slow: demo::slow(),
        ..Options::default()
    };
    let source = Source::Memory("requests.log".into(), log.into());
    let mut input = Input::open(&[source], options, &Progress::default()).unwrap();
    let mut calls = Vec::new();
    while input.read(&mut calls, 1_000).unwrap() {}
    let (reading, keys) = input.finish();
    let of = reading.calls;
    let mut run = Run::new(presets(), Kept::default(), 1, 1).unwrap();
    run.feed(&calls);
    let report = run.finish(reading, &keys, &demo::slow());
    Search {
        calls: &calls,
        of,
        keys: &keys,
        troubles: &report.found_troubles(),
        slack: 0,
        slow: &demo::slow(),
        stop: &AtomicBool::new(false),
    }
    .run()
}

/// The gateway, ended when dropped.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(config: &PathBuf) -> Self {
        let mut child = Command::new(PROGRAM)
            .arg(config)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap();
        Self {
            address: address.to_owned(),
            child,
        }
    }

    fn ask(&self, method: &str, body: &str) -> (String, Value) {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        write!(
            socket,
            "{method} /admin/config HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer secret\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap();
        (status.to_owned(), serde_json::from_str(body).unwrap())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn what_is_advised_by_the_gateways_log_is_taken_by_its_file_and_by_its_admin_api_as_it_is() {
    let advice = advice();
    assert!(advice.chosen.is_some() && !advice.config.is_empty());
    let folder = Folder::new("circle");

    // Into the file, below the table's head.
    let text = format!("{PROVIDER}[provider.breaker]\n{}{ROUTE}", advice.toml);
    let path = folder.write("pasted.toml", &text);
    let check = |path: &PathBuf| {
        let output = Command::new(PROGRAM).arg(path).arg("--check").output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}\n{text}");
    };
    check(&path);

    // By the admin API, in a file that has another breaker.
    let key = folder.write("key", "secret");
    let server =
        format!("[server]\nlisten = \"127.0.0.1:0\"\nadmin_token = {{ file = {key:?} }}\n");
    for breaker in [
        "",
        "breaker = { min_calls = 7 }\n",
        "[provider.breaker]\nmin_calls = 7\n",
    ] {
        let path = folder.write("g.toml", &format!("{server}{PROVIDER}{breaker}{ROUTE}"));
        let serving = Serving::start(&path);
        let (status, now) = serving.ask("GET", "");
        assert_eq!(status, "200", "{now}");
        let body = json!({
            "version": now["version"],
            "field": "provider[0].breaker",
            "value": advice.config,
        });
        let (status, said) = serving.ask("PATCH", &body.to_string());
        assert_eq!(status, "200", "{said}");
        check(&path);
        let written = fs::read_to_string(&path).unwrap();
        let read = cutout_replay::configs::parse("g", &written).unwrap();
        assert_eq!(toml(&read[0].guards), advice.toml, "{written}");
    }
}

#[test]
fn each_kind_of_config_that_is_printed_is_one_that_the_gateway_reads() {
    let folder = Folder::new("printed");
    let texts = [
        "window = \"10s in 20\"\nmin_calls = 3\noverdue = \"slow\"\nslow = { limit = \"1s\", ratio = 0.25 }",
        "window = { cusum = { failures = { bad = 10, good = 1, limit = 55 }, \
         slow = { limit = \"2s\", score = { bad = 3, good = 1, limit = 9 } }, lasting = \"1s\", max_age = \"none\", head_start_percent = 50 } }",
        "failure_ratio = \"none\"\nconsecutive_failures = 3\nfailures = 5\noverdue = \"3s\"\nabandoned_after = \"5s\"\nabandoned = \"failure\"",
        "open_wait = { base = \"1s\", factor = 1.5, max = \"1h\", jitter_percent = 20 }\nprobe_lease = \"none\"\nmax_probes = 3\nsuccesses_to_close = 9",
    ];
    let mut configs: Vec<Named> = presets();
    for text in texts {
        configs.extend(cutout_replay::configs::parse(text, text).unwrap());
    }
    for Named { name, guards } in configs {
        let printed = toml(&guards);
        let text = format!("{PROVIDER}[provider.breaker]\n{printed}{ROUTE}");
        let path = folder.write("g.toml", &text);
        let output = Command::new(PROGRAM).arg(&path).arg("--check").output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{name}: {said}\n{text}");
        let read = cutout_replay::configs::parse("g", &text).unwrap();
        assert_eq!(read[0].guards, guards, "{text}");
        assert_eq!(differing(&guards).is_empty(), printed.starts_with('#'));
    }
}
