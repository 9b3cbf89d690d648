//! Values as the input has them: near the edges more often than elsewhere.

use std::time::Duration;

use arbitrary::{Result, Unstructured};
use cutout::{
    Config, Cusum, Label, OpenWait, Outcome, Overdue, Report, Score, SlowRule, Stages, Window,
};

/// A number, most often a small one.
pub(crate) fn number(input: &mut Unstructured<'_>) -> Result<u32> {
    Ok(match input.int_in_range(0..=9)? {
        0 => input.arbitrary()?,
        1 => input.int_in_range(0..=5_000)?,
        2 => 255,
        _ => input.int_in_range(0..=12)?,
    })
}

/// Durations of every size.
pub(crate) fn duration(input: &mut Unstructured<'_>) -> Result<Duration> {
    Ok(match input.int_in_range(0..=6)? {
        0 => Duration::from_nanos(input.arbitrary()?),
        1 => Duration::MAX,
        2 => Duration::from_micros(input.int_in_range(0..=1 << 51)?),
        3 => Duration::from_millis((1 << 17) / 8 * u64::from(input.int_in_range(0..=9u8)?)),
        _ => Duration::from_millis(input.int_in_range(0..=20_000)?),
    })
}

/// Ratios, legal and not.
fn ratio(input: &mut Unstructured<'_>) -> Result<f64> {
    Ok(match input.int_in_range(0..=5)? {
        0 => input.arbitrary()?,
        1 => [0.0, -0.0, -1.0, 1.0 + f64::EPSILON, f64::NAN, f64::INFINITY]
            [input.int_in_range(0..=5)?],
        _ => f64::from(input.int_in_range(1..=12u8)?) / 12.0,
    })
}

fn option<T>(
    input: &mut Unstructured<'_>,
    some: fn(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Option<T>> {
    input.arbitrary::<bool>()?.then(|| some(input)).transpose()
}

pub(crate) fn optional_duration(input: &mut Unstructured<'_>) -> Result<Option<Duration>> {
    option(input, duration)
}

pub(crate) fn outcome(input: &mut Unstructured<'_>) -> Result<Outcome> {
    input
        .choose(&[
            Outcome::Success,
            Outcome::Failure,
            Outcome::Timeout,
            Outcome::Ignored,
            Outcome::Answered,
        ])
        .copied()
}

pub(crate) fn report(input: &mut Unstructured<'_>) -> Result<Report> {
    let report = Report {
        outcome: outcome(input)?,
        elapsed: optional_duration(input)?,
        retry_after: optional_duration(input)?,
        label: None,
    };
    // Of what was drawn already, so that inputs of old mean what they meant.
    let drawn = report.elapsed.or(report.retry_after).unwrap_or_default();
    Ok(Report {
        label: label(drawn),
        ..report
    })
}

/// None for one in four, or else one of any length up to somewhat more than fits.
fn label(drawn: Duration) -> Option<Label> {
    let length = (drawn.as_nanos() / 4 % 80) as usize;
    let text = "é".repeat(length / 2) + &"x".repeat(length % 2);
    (!drawn.as_millis().is_multiple_of(4)).then(|| Label::new(&text))
}

/// A config, legal or not.
pub(crate) fn config(input: &mut Unstructured<'_>) -> Result<Config> {
    let config = {
        let mut config = Config::default();
        config.window = Window::count(number(input)?);
        config.min_calls = Some(number(input)?);
        config.failure_ratio = option(input, ratio)?;
        config.timeout_ratio = option(input, ratio)?;
        config.slow = option(input, |input| {
            Ok(SlowRule {
                limit: duration(input)?,
                ratio: ratio(input)?,
            })
        })?;
        config.overdue = None;
        config.consecutive_failures = option(input, number)?;
        config.open_wait = OpenWait {
            base: duration(input)?,
            factor: 1.0 + ratio(input)?,
            max: duration(input)?,
            jitter_percent: number(input)?,
        };
        config.max_probes = number(input)?;
        config.successes_to_close = number(input)?;
        config.probe_lease = option(input, duration)?;
        config.max_inconclusive = number(input)?;
        config.abandoned = outcome(input)?;
        config.panicked = outcome(input)?;
        config
    };
    // Last, so that inputs of old mean what they meant.
    let window = match input.int_in_range(0..=2)? {
        2 => Window::time(duration(input)?, number(input)?),
        _ => config.window,
    };
    let overdue = match input.int_in_range(0..=3)? {
        3 => Some(Overdue::Timeout(duration(input)?)),
        2 => Some(Overdue::Slow),
        _ => None,
    };
    let failures = option(input, number)?;
    let abandoned_after = option(input, duration)?;
    let says_min_calls = input.ratio(7, 8)?;
    let window = match input.arbitrary()? {
        true => Window::Cusum(cusum(input)?),
        false => window,
    };
    let stages = option(input, stages)?;
    let ramp = option(input, duration)?;
    Ok(config.with(|config| {
        config.window = window;
        config.overdue = overdue;
        config.failures = failures;
        config.abandoned_after = abandoned_after;
        config.stages = stages;
        config.ramp = ramp;
        config.min_calls = config.min_calls.filter(|_| says_min_calls);
    }))
}

fn stages(input: &mut Unstructured<'_>) -> Result<Stages> {
    Ok(Stages {
        first: number(input)?,
        growth: number(input)?,
        until: number(input)?,
        failure_ratio: ratio(input)?,
    })
}

/// The same with what is illegal in it replaced.
fn legal_stages(stages: Stages) -> Stages {
    let until = stages.until.clamp(1, Stages::MAX);
    Stages {
        // Those that double, from one on, come to 255 at most.
        first: if until > 64 {
            1
        } else {
            stages.first.clamp(1, until)
        },
        growth: if until > 64 {
            2
        } else {
            stages.growth.clamp(2, Stages::MAX)
        },
        until,
        failure_ratio: if stages.failure_ratio > 0.0 && stages.failure_ratio <= 1.0 {
            stages.failure_ratio
        } else {
            0.5
        },
    }
}

fn score(input: &mut Unstructured<'_>) -> Result<Score> {
    Ok(Score {
        bad: number(input)? as u16,
        good: number(input)? as u16,
        limit: number(input)? as u16,
    })
}

fn cusum(input: &mut Unstructured<'_>) -> Result<Cusum> {
    let mut cusum = Cusum::of_failures(score(input)?)
        .lasting(duration(input)?)
        .max_age(optional_duration(input)?)
        .head_start_percent(number(input)?);
    if input.arbitrary()? {
        cusum = cusum.and_slow(duration(input)?, score(input)?);
        if input.arbitrary()? {
            cusum.failures = None;
        }
    }
    Ok(cusum)
}

/// The same with what is illegal in it replaced.
fn legal_cusum(cusum: Cusum) -> Cusum {
    let legal = |score: Score| {
        let bad = score.bad.clamp(1, Score::MAX_LIMIT);
        Score {
            bad,
            good: score.good.clamp(1, Score::MAX_LIMIT),
            limit: score.limit.clamp(bad, Score::MAX_LIMIT),
        }
    };
    let millis = |duration: Duration, least: u64, most: Duration| {
        let millis = u64::try_from(duration.min(most).as_millis()).unwrap_or(0);
        Duration::from_millis(millis.max(least))
    };
    let lasting = millis(cusum.lasting, 0, Cusum::MAX_LASTING);
    let least = lasting.as_millis() as u64 + 1;
    let age = cusum.max_age.map(|age| millis(age, least, Cusum::MAX_AGE));
    let mut cusum = cusum
        .lasting(lasting)
        .max_age(age)
        .head_start_percent(cusum.head_start_percent % 100);
    cusum.failures = cusum.failures.map(legal);
    if let Some(slow) = &mut cusum.slow {
        slow.limit = slow.limit.max(Duration::from_nanos(1));
        slow.score = legal(slow.score);
    }
    cusum
}

/// A config with what is illegal in it replaced.
pub(crate) fn legal_config(input: &mut Unstructured<'_>) -> Result<Config> {
    const LEAST: Duration = Duration::from_nanos(1);
    let mut config = config(input)?;
    config.window = match config.window {
        Window::Time { length, buckets } => Window::time(
            length.max(Window::MIN_LENGTH),
            buckets.clamp(1, Window::MAX_BUCKETS),
        ),
        Window::Count(size) => Window::count(size.clamp(1, Window::MAX_COUNT)),
        Window::Cusum(cusum) => Window::Cusum(legal_cusum(cusum)),
        other => unreachable!("no {other:?} was made"),
    };
    let size = match config.window {
        Window::Count(size) => size,
        _ => (1 << 24) - 1,
    };
    config.min_calls = config.min_calls.map(|calls| calls.clamp(1, size));
    config.failures = config.failures.map(|failures| failures.clamp(1, size));
    config.abandoned_after = config.abandoned_after.map(|after| after.max(LEAST));
    let legal = |ratio: f64| ratio > 0.0 && ratio <= 1.0;
    config.failure_ratio = config.failure_ratio.filter(|&ratio| legal(ratio));
    config.timeout_ratio = config.timeout_ratio.filter(|&ratio| legal(ratio));
    config.slow = config.slow.filter(|rule| legal(rule.ratio));
    let mut has_slow = config.slow.is_some();
    let mut most_in_a_row = size;
    if let Window::Cusum(cusum) = config.window {
        (config.failure_ratio, config.timeout_ratio) = (None, None);
        (config.slow, config.min_calls, config.failures) = (None, None, None);
        has_slow = cusum.slow.is_some();
        most_in_a_row = Cusum::MAX_CONSECUTIVE;
    }
    if let Some(rule) = &mut config.slow {
        rule.limit = rule.limit.max(LEAST);
    }
    config.overdue = match config.overdue {
        Some(Overdue::Timeout(limit)) => Some(Overdue::Timeout(limit.max(LEAST))),
        other => other.filter(|_| has_slow),
    };
    let run = config
        .consecutive_failures
        .unwrap_or(1)
        .clamp(1, most_in_a_row);
    let no_ratio = config.failure_ratio.is_none() && config.timeout_ratio.is_none();
    config.consecutive_failures =
        (config.consecutive_failures.is_some() || no_ratio && config.slow.is_none()).then_some(run);
    let wait = &mut config.open_wait;
    wait.base = wait.base.max(LEAST);
    wait.max = wait.max.max(wait.base);
    if !(wait.factor.is_finite() && wait.factor >= 1.0) {
        wait.factor = 1.0;
    }
    wait.jitter_percent %= 101;
    for count in [
        &mut config.max_probes,
        &mut config.successes_to_close,
        &mut config.max_inconclusive,
    ] {
        *count = (*count).clamp(1, 255);
    }
    config.stages = config.stages.map(legal_stages);
    config.probe_lease = config.probe_lease.map(|lease| lease.max(LEAST));
    config.ramp = config.ramp.map(|ramp| ramp.max(LEAST));
    Ok(config)
}
