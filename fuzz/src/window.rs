//! A window against a queue, fuller than the model's programs make it.

use std::collections::VecDeque;
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use cutout::{
    Breaker, Config, ManualClock, Outcome, Report, Sample, Settled, SlowRule, State, Window,
};

use super::values;

const LIMIT: Duration = Duration::from_secs(1);

/// Records the outcomes that `data` is.
pub fn window(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let _ = run(&mut input);
}

fn run(input: &mut Unstructured<'_>) -> Result<()> {
    let size = values::number(input)?.clamp(1, Window::MAX_COUNT);
    let config = {
        let mut config = Config::default();
        config.window = Window::count(size);
        config.min_calls = Some(size);
        config.failure_ratio = Some(1.0);
        config.slow = input.arbitrary::<bool>()?.then_some(SlowRule {
            limit: LIMIT,
            ratio: 1.0,
        });
        config
    };
    let breaker = Breaker::builder().config(config).clock(ManualClock::new());
    let breaker = breaker.build().expect("a legal config");
    let mut queue = VecDeque::new();
    for _ in 0..2_000 {
        if input.is_empty() {
            break;
        }
        let times = if input.ratio(1, 8)? {
            input.int_in_range(1..=size)?
        } else {
            1
        };
        let outcome = values::outcome(input)?;
        let slow = input.arbitrary()?;
        for _ in 0..times {
            push(&breaker, &mut queue, size as usize, outcome, slow);
        }
        let snapshot = breaker.snapshot();
        assert_eq!(snapshot.samples, *queue.make_contiguous());
        assert_eq!(snapshot.counts().samples, queue.len() as u32);
    }
    Ok(())
}

/// Records an outcome in both; a full match empties both.
fn push(
    breaker: &Breaker<ManualClock>,
    queue: &mut VecDeque<Sample>,
    size: usize,
    outcome: Outcome,
    slow: bool,
) {
    let elapsed = if slow { LIMIT } else { Duration::ZERO };
    let report = Report::from(outcome).elapsed(elapsed);
    let settled = breaker.allow().expect("closed").done(report);
    if outcome == Outcome::Ignored {
        assert_eq!(settled, Settled::Ignored);
        return;
    }
    let outcome = match outcome {
        Outcome::Answered => Outcome::Success,
        other => other,
    };
    let slow = slow && breaker.config().slow.is_some();
    queue.push_back(Sample { outcome, slow });
    if queue.len() > size {
        queue.pop_front();
    }
    let all = |is: fn(&Sample) -> bool| queue.len() == size && queue.iter().all(is);
    if all(|sample| sample.outcome != Outcome::Success) || all(|sample| sample.slow) {
        assert_eq!(settled, Settled::Tripped);
        assert_eq!(breaker.state(), State::Open);
        breaker.close("fuzz");
        queue.clear();
    } else {
        assert_eq!(settled, Settled::Recorded);
    }
}
