//! Programs of operations: the breaker and the sequential model must agree after every step.

use arbitrary::{Result, Unstructured};
use cutout::{Clock, ManualClock};

use super::lockstep::{Held, Lockstep};
use super::values;

/// Runs the program that `data` is, on both.
pub fn operations(data: &[u8]) {
    let mut input = Unstructured::new(data);
    // A program that ends early is a program too.
    let _ = run(&mut input);
}

fn run(input: &mut Unstructured<'_>) -> Result<()> {
    let clock = ManualClock::new();
    clock.set(values::duration(input)?);
    clock.set_unix_time(values::duration(input)?);
    let log = input.arbitrary()?;
    let config = values::legal_config(input)?;
    let mut both = Lockstep::new(config, &clock, log).expect("a legal config");
    let (mut held, mut lost) = (Vec::new(), Vec::new());
    // Each step compares everything, the window too.
    for _ in 0..100 {
        if input.is_empty() {
            break;
        }
        step(input, &mut both, &mut held, &mut lost, &clock, log)?;
    }
    Ok(())
}

fn step(
    input: &mut Unstructured<'_>,
    both: &mut Lockstep,
    held: &mut Vec<Held>,
    lost: &mut Vec<Held>,
    clock: &ManualClock,
    log: bool,
) -> Result<()> {
    let kind = input.int_in_range(0..=20)?;
    let settles = (2..=6).contains(&kind);
    if settles && !held.is_empty() {
        let permit = held.swap_remove(input.choose_index(held.len())?);
        match kind {
            2 => _ = both.drop(permit),
            3 => _ = both.panic(permit),
            // Forgotten by the program, but not leaked.
            4 => lost.push(permit),
            _ => _ = both.done(permit, values::report(input)?),
        }
        return Ok(());
    }
    match kind {
        0..=6 => held.extend(both.allow()),
        7..=9 => {
            let times = input.int_in_range(1..=40)?;
            let report = values::report(input)?;
            let _ = both.calls(times, report);
        }
        10 => both.advance(values::duration(input)?),
        11 | 12 => {
            if let Some(deadline) = both.model().deadline() {
                let offset = [0, -1, 1, -1_000_000][input.int_in_range(0..=3)?];
                both.set_clock(deadline.saturating_add_signed(offset));
            }
        }
        13 => both.set_clock(values::duration(input)?.as_nanos() as u64),
        14 => both.force_open(values::optional_duration(input)?),
        15 => both.close(),
        16 => match input.arbitrary()? {
            true => both.disable(),
            false => both.observe_only(),
        },
        17 => _ = both.reconfigure(values::config(input)?),
        18 => _ = both.reconfigure(values::legal_config(input)?),
        19 => match input.int_in_range(0..=2)? {
            0 => _ = both.resume(),
            1 => _ = both.take_over(),
            _ => _ = both.set_wait(values::duration(input)?),
        },
        _ => {
            let snapshot = both.snapshot();
            let config = values::legal_config(input)?;
            both.set_wall(clock.unix_time().saturating_add(values::duration(input)?));
            *both = Lockstep::restore(config, clock, log, &snapshot).expect("a legal config");
            held.clear();
        }
    }
    Ok(())
}
