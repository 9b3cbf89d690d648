//! Calls on record: each is written once or counted as dropped, whoever else records.

use std::thread;
use std::time::Duration;

use cutout::record::Recorder;
use cutout::{ManualClock, Outcome};

fn text(recorder: &Recorder<ManualClock>) -> String {
    let mut text = Vec::new();
    recorder.write_to(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn a_call_is_a_line_with_its_start_by_the_time_of_day() {
    let clock = ManualClock::new();
    clock.set(Duration::from_secs(5));
    clock.set_unix_time(Duration::from_secs(1_700_000_000));
    let recorder = Recorder::with_clock(8, clock.clone());
    clock.advance(Duration::from_millis(1));
    let (slow, quick) = (recorder.start(), recorder.start());
    clock.advance(Duration::from_micros(250));
    assert!(recorder.end(quick, "a,\"b\"\nc", Outcome::Answered));
    clock.advance(Duration::from_secs(1));
    assert!(recorder.end(slow, "search", Outcome::Timeout));
    assert_eq!(
        text(&recorder),
        "start_unix_ns,duration_ns,outcome,key\n\
         1700000000001000000,250000,answered,\"a,\"\"b\"\" c\"\n\
         1700000000001000000,1000250000,timeout,search\n"
    );
    assert_eq!(text(&recorder), "");
}

#[test]
fn a_clock_that_steps_back_makes_a_call_that_took_no_time() {
    let clock = ManualClock::new();
    clock.set(Duration::from_secs(5));
    let recorder = Recorder::with_clock(8, clock.clone());
    let start = recorder.start();
    clock.set(Duration::from_secs(4));
    recorder.end(start, "x", Outcome::Success);
    assert_eq!(recorder.drain().next().unwrap().took, Duration::ZERO);
}

#[test]
fn each_call_is_taken_out_once_or_counted_as_dropped() {
    const THREADS: usize = 4;
    const CALLS: usize = 5_000;
    let recorder = Recorder::with_clock(64, ManualClock::new());
    let taken: usize = thread::scope(|scope| {
        let record = || {
            let ended =
                (0..CALLS).filter(|_| recorder.end(recorder.start(), "x", Outcome::Success));
            ended.count()
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(record)).collect();
        let mut taken = 0;
        while threads.iter().any(|thread| !thread.is_finished()) {
            taken += recorder.drain().count();
        }
        let ended: usize = threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum();
        taken += recorder.drain().count();
        assert_eq!(taken, ended);
        taken
    });
    assert_eq!(taken as u64 + recorder.dropped(), (THREADS * CALLS) as u64);
}
