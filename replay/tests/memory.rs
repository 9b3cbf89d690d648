//! However long a log is, the memory that its replay takes is bounded.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use jiff::Timestamp;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cutout-replay");

/// Writes these lines of an access log: calls of `paths` paths, of which one in fifty fails, and half in one minute of twenty.
///
/// Stamps are of whole seconds, and one line in ten is late by up to a minute.
fn write_log(to: &mut impl Write, lines: Range<u64>, a_second: u64, paths: u64) -> io::Result<()> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut stamp = (0, String::new());
    for line in lines {
        let mut second = 1_767_571_200 + line / a_second;
        if random.u8(..10) == 0 {
            second -= random.u64(..60);
        }
        if stamp.0 != second {
            let time = Timestamp::from_second(second as i64).unwrap();
            stamp = (second, time.strftime("%d/%b/%Y:%H:%M:%S").to_string());
        }
        let ill = second / 60 % 20 == 7;
        let failed = random.u64(..100) < if ill { 50 } else { 2 };
        let status = if failed { 503 } else { 200 };
        writeln!(
            to,
            "192.0.2.{} - - [{} +0000] \"GET /api/v1/things/{}?token={line:016x} HTTP/1.1\" {status} {} \"https://shop.example/cart\" \
             \"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\"",
            line % 250,
            stamp.1,
            random.u64(..paths),
            random.u32(..100_000),
        )?;
    }
    Ok(())
}

/// A number of the line of `/proc/<pid>/status` with this name; zero when the process has ended.
fn status(child: &Child, name: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The most memory that a process has had, in kilobytes.
fn peak(child: &Child) -> u64 {
    status(child, "VmHWM:")
}

#[test]
fn four_times_the_lines_take_no_more_memory() {
    const LINES: u64 = 200_000;
    let mut child = Command::new(PROGRAM)
        .args(["-", "--json", "--by", "path", "--orders", "2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = BufWriter::new(child.stdin.take().unwrap());
    // What a pipe and the queues of the program hold is little beside these.
    write_log(&mut input, 0..LINES, 40, 100).unwrap();
    input.flush().unwrap();
    let after_one = peak(&child);
    write_log(&mut input, LINES..4 * LINES, 40, 100).unwrap();
    input.flush().unwrap();
    let after_four = peak(&child);
    drop(input);
    let output = child.wait_with_output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["reading"]["lines"], 4 * LINES);
    assert!(report["configs"][0]["trips"]["value"].as_u64() > Some(0));
    assert!(
        after_one > 5_000 && after_four < 100_000,
        "{after_one} kB, {after_four} kB"
    );
    assert!(
        after_four < after_one + after_one / 5,
        "{after_one} kB, then {after_four} kB"
    );
}

/// Takes some minutes and ten gigabytes of disk: `cargo test --release -p cutout-replay --test memory -- --ignored --nocapture`.
#[test]
#[ignore = "takes ten gigabytes of disk"]
fn a_log_of_ten_gigabytes_takes_less_than_two_hundred_megabytes() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("access.log");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    write_log(&mut file, 0..47_000_000, 600, 1_000).unwrap();
    file.into_inner().unwrap();
    let bytes = fs::metadata(&path).unwrap().len();
    for options in [
        &["--json"][..],
        &["--json", "--by", "path"],
        &["--json", "--search"],
    ] {
        let mut child = Command::new(PROGRAM)
            .arg(&path)
            .args(options)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut most = 0;
        while child.try_wait().unwrap().is_none() {
            most = peak(&child).max(most);
            std::thread::sleep(Duration::from_millis(50));
        }
        println!("{options:?}: {bytes} bytes, at most {most} kB");
        assert!(
            bytes > 10_000_000_000 && (10_000..200_000).contains(&most),
            "{options:?}"
        );
    }
    fs::remove_file(&path).unwrap();
}
