//! A run of the core's example `flaky_upstream` without a breaker, as its recorder wrote it, against a run with one.

use std::path::Path;
use std::time::Duration;

use cutout_replay::configs::parse;
use cutout_replay::input::{Input, Options, Progress, Source};
use cutout_replay::report::{Kept, Run};

/// The example's config, and when its breaker tripped and closed: in milliseconds from the start of a run.
const CONFIG: &str = r#"
failure_ratio = 0.5
timeout_ratio = 0.25
open_wait = { base = "200ms", factor = 2.0, max = "500ms" }
successes_to_close = 2
"#;
const TRIPPED: [(u64, &str); 2] = [(1_040, "failure_ratio"), (4_660, "timeout_ratio")];
const CLOSED: [u64; 2] = [2_700, 6_420];

/// The longest wait of the config: by so much a run may differ from another.
const WAIT: Duration = Duration::from_millis(500);

#[test]
fn a_recorded_run_tells_the_trips_of_a_run_with_a_breaker_to_within_one_wait() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/flaky_upstream.csv.gz");
    let options = Options::default();
    let slow = options.slow.clone();
    let mut input = Input::open(&[Source::File(path)], options, &Progress::default()).unwrap();
    let mut calls = Vec::new();
    while input.read(&mut calls, 1_000).unwrap() {}
    let (reading, keys) = input.finish();
    assert_eq!((reading.calls, reading.skips()), (722, 0));
    let mut run = Run::new(parse("flaky", CONFIG).unwrap(), Kept::default(), 1, 1).unwrap();
    run.feed(&calls);
    let report = run.finish(reading, &keys, &slow);
    let begin = calls[0].start;
    let near = |at: i64, expected: u64| {
        let at = Duration::from_nanos((at - begin).unsigned_abs());
        assert!(
            at.abs_diff(Duration::from_millis(expected)) <= WAIT,
            "{at:?}, not {expected} ms"
        );
    };
    let row = &report.configs[0];
    assert_eq!(row.trip_list.len(), TRIPPED.len());
    for (trip, (expected, cause)) in row.trip_list.iter().zip(TRIPPED) {
        assert_eq!(trip.cause, cause);
        near(trip.at_ns, expected);
    }
    // A breaker closes when a stretch that is not closed ends and none follows at once.
    let stretches = &row.stretches;
    let closed = stretches.iter().enumerate().filter(|(index, stretch)| {
        stretches
            .get(index + 1)
            .is_none_or(|next| next.start_ns != stretch.end_ns)
    });
    let closed: Vec<i64> = closed.map(|(_, stretch)| stretch.end_ns).collect();
    assert_eq!(closed.len(), CLOSED.len());
    for (at, expected) in closed.into_iter().zip(CLOSED) {
        near(at, expected);
    }
}
