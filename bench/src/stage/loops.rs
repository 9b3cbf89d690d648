//! The loops around the calls.
//!
//! Each is a function of its own for each subject, with the call inlined once for each
//! outcome. So what is measured is the subject and a few instructions, the same for
//! all, and how many they are is measured too: by the floor `empty-loop`, a subject
//! whose call does nothing.

use std::hint::black_box;

use crate::pattern::Pattern;
use crate::subject::{Caller, Subject};

/// One call, which is not measured.
#[inline(never)]
pub(super) fn one(caller: &mut impl Caller, fails: bool) -> bool {
    caller.call(fails)
}

/// Calls that all succeed, if they are admitted. Says how many were.
#[inline(never)]
pub(super) fn succeed(caller: &mut impl Caller, calls: u64) -> u64 {
    let mut admitted = 0;
    for _ in 0..calls {
        admitted += u64::from(caller.call(false));
        // Costs no instruction; keeps the calls apart and the loop alive.
        black_box(());
    }
    admitted
}

/// Calls that fail as the pattern says, from that place of it on. Says how many were admitted.
///
/// The loop goes one way or the other by the outcome, as whoever made the call does.
/// So what a branch costs that is not foreseen is the loop's, not one subject's and
/// another's not.
#[inline(never)]
pub(super) fn by_pattern(
    caller: &mut impl Caller,
    pattern: &Pattern,
    start: usize,
    calls: u64,
) -> u64 {
    let mut admitted = 0;
    for place in start..start + calls as usize {
        admitted += u64::from(if pattern.fails(place) {
            black_box(());
            caller.call(true)
        } else {
            caller.call(false)
        });
        black_box(());
    }
    admitted
}

/// At least so many calls, in cycles of failures that trip and successes that close again.
#[inline(never)]
pub(super) fn flap<S: Subject>(subject: &S, calls: u64) {
    let (failures, successes) = S::CYCLE;
    let mut caller = subject.caller();
    let mut left = calls;
    while left > 0 {
        for _ in 0..failures {
            caller.call(true);
        }
        subject.pass_time();
        for _ in 0..successes {
            caller.call(false);
        }
        left = left.saturating_sub(u64::from(failures + successes));
    }
}

/// Calls by the pattern, each between two readings of the clock. Says how many ticks lie between.
#[inline(never)]
pub(super) fn time_each(
    caller: &mut impl Caller,
    pattern: &Pattern,
    start: usize,
    calls: u64,
    clock: &quanta::Clock,
) -> Vec<u64> {
    let mut times = vec![0; calls as usize];
    for (place, time) in times.iter_mut().enumerate() {
        let fails = pattern.fails(start + place);
        let before = clock.raw();
        caller.call(fails);
        *time = clock.raw().saturating_sub(before);
    }
    times
}
