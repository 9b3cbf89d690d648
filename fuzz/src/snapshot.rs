//! Snapshots as no breaker takes them: what is restored works, and is like the model.

use std::time::Duration;

use arbitrary::{Result, Unstructured};
use cutout::{
    Breaker, Bucket, Cause, Counts, Evidence, HeldScore, Interrupted, ManualClock, Sample, Scores,
    Snapshot, State, Threshold, Window,
};

use super::lockstep::Lockstep;
use super::values;

/// Restores the snapshot that `data` is, and makes some calls.
pub fn snapshot(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let _ = run(&mut input);
}

fn run(input: &mut Unstructured<'_>) -> Result<()> {
    let clock = ManualClock::new();
    clock.set(values::duration(input)?);
    clock.set_unix_time(values::duration(input)?);
    let config = values::legal_config(input)?;
    let snapshot = forged(input, config.window)?;
    let mut both = Lockstep::restore(config, &clock, true, &snapshot).expect("a legal config");
    for _ in 0..8 {
        let _ = both.calls(2, values::report(input)?);
        if let Some(deadline) = both.model().deadline() {
            both.set_clock(deadline);
        }
    }
    let again = both.snapshot();
    let restored = Lockstep::restore(config, &clock, true, &again).expect("a legal config");
    drop(restored);
    Ok(())
}

fn forged(input: &mut Unstructured<'_>, window: Window) -> Result<Snapshot> {
    const STATES: [State; 6] = [
        State::Closed,
        State::Open,
        State::HalfOpen,
        State::ForcedOpen,
        State::Disabled,
        State::ObserveOnly,
    ];
    const CAUSES: [Cause; 15] = [
        Cause::ConsecutiveFailures,
        Cause::FailureRatio,
        Cause::TimeoutRatio,
        Cause::SlowRatio,
        Cause::ProbeFailed,
        Cause::ProbeTimedOut,
        Cause::ProbeSlow,
        Cause::ProbesInconclusive,
        Cause::ProbesPassed,
        Cause::WaitElapsed,
        Cause::LeaseLost,
        Cause::Operator,
        Cause::Reconfigured,
        Cause::FailureScore,
        Cause::SlowScore,
    ];
    let state = *input.choose(&STATES)?;
    let cause = *input.choose(&CAUSES)?;
    let window = match input.ratio(1, 8)? {
        true => Window::count(values::number(input)?),
        false => window,
    };
    let samples = (0..values::number(input)?.min(5_000))
        .map_while(|_| {
            (!input.is_empty()).then(|| {
                Ok(Sample {
                    outcome: values::outcome(input)?,
                    slow: input.arbitrary()?,
                })
            })
        })
        .collect::<Result<_>>()?;
    let buckets = (0..values::number(input)?.min(100))
        .map_while(|_| (!input.is_empty()).then(|| bucket(input)))
        .collect::<Result<_>>();
    let taken = values::duration(input)?;
    Ok(Snapshot {
        evidence: evidence(cause, taken),
        state,
        generation: input.arbitrary()?,
        cause: input.arbitrary::<bool>()?.then_some(cause),
        remaining: values::optional_duration(input)?,
        attempt: input.arbitrary()?,
        probes_out: values::number(input)?,
        probes_passed: values::number(input)?,
        probes_inconclusive: values::number(input)?,
        probes_failed: 0,
        stage: 0,
        ramp_left: None,
        window,
        samples,
        buckets: buckets?,
        failures_in_a_row: values::number(input)?,
        taken,
        // Last, so that inputs of old mean what they meant.
        interrupted: match input.arbitrary()? {
            true => Some(Interrupted {
                state: *input.choose(&STATES)?,
                cause: input.arbitrary::<bool>()?.then_some(cause),
                remaining: values::optional_duration(input)?,
            }),
            false => None,
        },
        scores: match input.arbitrary()? {
            true => Scores {
                failures: held(input)?,
                slow: held(input)?,
            },
            false => Scores::default(),
        },
    })
}

/// Of what was drawn already, so that inputs of old mean what they meant. Three in four have a trip, half an operator's order.
fn evidence(cause: Cause, drawn: Duration) -> Evidence {
    let number = drawn.as_nanos();
    let text = |most: u128| "é".repeat((number % most) as usize).into();
    let count = |of: u128| (number / of) as u32;
    // They have fields to come, so they are made from those of a breaker.
    let breaker = Breaker::builder()
        .consecutive_failures(1)
        .build()
        .expect("legal");
    let _ = breaker.allow().map(|permit| permit.failure());
    breaker.force_open(None, "");
    let mut evidence = breaker.evidence();
    if let Some(trip) = &mut evidence.trip {
        trip.cause = cause;
        trip.age = drawn / 3;
        trip.counts = Counts {
            samples: count(1),
            failures: count(7),
            timeouts: count(49),
            slow: count(343),
        };
        trip.threshold = match number % 5 {
            0 => None,
            1 => Some(Threshold::Failures(count(11))),
            2 => Some(Threshold::Score(count(11))),
            _ => Some(Threshold::Ratio(f64::from(count(11)) / 1e6)),
        };
        trip.label = (!number.is_multiple_of(3)).then(|| text(40));
    }
    if let Some(operator) = &mut evidence.operator {
        operator.age = drawn / 2;
        operator.reason = text(150);
    }
    if (number / 2).is_multiple_of(4) {
        evidence.trip = None;
    }
    if (number / 8).is_multiple_of(2) {
        evidence.operator = None;
    }
    evidence
}

fn held(input: &mut Unstructured<'_>) -> Result<HeldScore> {
    Ok(HeldScore {
        value: values::number(input)?,
        above_zero: values::optional_duration(input)?,
        raised: values::optional_duration(input)?,
    })
}

fn bucket(input: &mut Unstructured<'_>) -> Result<Bucket> {
    // Above 33 million a breaker's counts are no longer exact, and the model's are.
    let mut count = || values::number(input).map(|number| number % 30_000_000);
    let counts = Counts {
        samples: count()?,
        failures: count()?,
        timeouts: count()?,
        slow: count()?,
    };
    let age = values::duration(input)?;
    Ok(Bucket { age, counts })
}
