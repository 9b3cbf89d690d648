//! One subject on its stage.

use std::hint::black_box;

use super::crowd::Members;
use super::{Crowd, Stage};
use crate::pattern::{LENGTH, Pattern};
use crate::subject::{Seen, Subject};
use crate::threads::{self, Run};
use crate::workload::{Load, Workload};

/// Puts a subject on a stage: fills its window or trips it, as the workload says.
///
/// # Errors
///
/// The state it is in, if that is not the workload's.
pub fn set<S: Subject>(
    workload: Workload,
    build: impl Fn() -> S + Send + Sync + 'static,
) -> Result<Box<dyn Stage>, String> {
    let percent = match workload.load {
        Load::Failing(percent) => percent,
        _ => 0,
    };
    let stage = Set {
        workload,
        subject: build(),
        build,
        pattern: Pattern::new(percent),
    };
    stage.prepare(&stage.subject);
    stage.verify()?;
    Ok(Box::new(stage))
}

struct Set<S, B> {
    workload: Workload,
    subject: S,
    build: B,
    pattern: Pattern,
}

impl<S: Subject, B> Set<S, B> {
    fn prepare(&self, subject: &S) {
        let mut call = subject.caller();
        match self.workload.load {
            Load::Healthy | Load::Failing(_) => {
                // Twice the window: full, and past the first lap.
                for place in 0..2 * self.workload.window {
                    call(self.pattern.fails(place));
                }
            }
            Load::Rejecting | Load::HalfOpenStorm => {
                // One more than the window: some judge only the call after it is full.
                for _ in 0..=self.workload.window {
                    if !call(true) {
                        break;
                    }
                }
                if self.workload.load == Load::HalfOpenStorm {
                    subject.pass_time();
                    subject.hold_probe();
                }
            }
            Load::Flapping | Load::Floor => {}
        }
    }

    /// Goes through one cycle by hand and looks at the state after each half.
    fn verify_flapping(&self) -> Result<(), String> {
        let (failures, successes) = S::CYCLE;
        let mut call = self.subject.caller();
        let closed = |seen| matches!(seen, Seen::Closed | Seen::Admits);
        // Threads that ran together may have left it anywhere in the cycle.
        for _ in 0..100 {
            if closed(self.subject.state()) {
                break;
            }
            self.subject.pass_time();
            call(false);
        }
        for _ in 0..2 * failures {
            call(true);
            if self.subject.state() != Seen::Closed {
                break;
            }
        }
        if self.subject.state() == Seen::Closed {
            return Err("it does not trip".into());
        }
        self.subject.pass_time();
        for _ in 0..successes {
            call(false);
        }
        let recovered = self.subject.state();
        if closed(recovered) {
            Ok(())
        } else {
            Err(format!("it is {recovered:?} after its probe"))
        }
    }

    /// How many calls of so many the workload admits.
    fn expected(&self, calls: u64) -> u64 {
        match self.workload.load {
            Load::Rejecting | Load::HalfOpenStorm => 0,
            _ => calls,
        }
    }
}

impl<S: Subject, B: Fn() -> S + Send + Sync> Stage for Set<S, B> {
    fn run(&self, threads: usize, calls: u64) -> Result<Run, String> {
        let (run, admitted) =
            threads::together(threads, |thread| self.work(thread, threads, calls));
        let admitted: u64 = admitted.iter().sum();
        let expected = self.expected(calls * threads as u64);
        if admitted != expected {
            return Err(format!(
                "{admitted} calls admitted where {expected} should be"
            ));
        }
        self.verify()?;
        Ok(run)
    }

    fn work(&self, thread: usize, threads: usize, calls: u64) -> u64 {
        let mut call = self.subject.caller();
        let mut admitted = 0;
        match self.workload.load {
            Load::Failing(_) => {
                // Each thread starts elsewhere in the pattern.
                let start = thread * (LENGTH / threads);
                for place in start..start + calls as usize {
                    admitted += u64::from(call(self.pattern.fails(place)));
                    black_box(());
                }
            }
            Load::Flapping => {
                let (failures, successes) = S::CYCLE;
                let mut left = calls;
                while left > 0 {
                    for _ in 0..failures {
                        call(true);
                    }
                    self.subject.pass_time();
                    for _ in 0..successes {
                        call(false);
                    }
                    left = left.saturating_sub(u64::from(failures + successes));
                }
                admitted = calls;
            }
            Load::Healthy | Load::Rejecting | Load::HalfOpenStorm | Load::Floor => {
                for _ in 0..calls {
                    admitted += u64::from(call(false));
                    // Costs no instruction; keeps the calls apart and the loop alive.
                    black_box(());
                }
            }
        }
        admitted
    }

    fn time_each(
        &self,
        clock: &quanta::Clock,
        threads: usize,
        calls: u64,
        record: &(dyn Fn(&[u64]) + Sync),
    ) {
        threads::together(threads, |thread| {
            let mut call = self.subject.caller();
            let mut times = vec![0; calls as usize];
            let start = thread * (LENGTH / threads);
            for (place, time) in times.iter_mut().enumerate() {
                let fails = self.pattern.fails(start + place);
                let before = clock.raw();
                call(fails);
                *time = clock.raw().saturating_sub(before);
            }
            record(&times);
        });
    }

    fn verify(&self) -> Result<(), String> {
        let seen = self.subject.state();
        let right = match self.workload.load {
            Load::Floor => return Ok(()),
            Load::Healthy | Load::Failing(_) => matches!(seen, Seen::Closed | Seen::Admits),
            Load::Rejecting => seen == Seen::Open,
            Load::HalfOpenStorm => seen == Seen::HalfOpen,
            Load::Flapping => return self.verify_flapping(),
        };
        if right {
            Ok(())
        } else {
            Err(format!("it is {seen:?}"))
        }
    }

    fn crowd(&self, count: usize) -> Box<dyn Crowd> {
        let members: Vec<S> = (0..count).map(|_| (self.build)()).collect();
        for member in &members {
            self.prepare(member);
        }
        Box::new(Members(members))
    }
}
