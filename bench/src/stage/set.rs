//! One subject on its stage.

use super::crowd::Members;
use super::loops;
use super::play::{Crowd, Stage};
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
        let mut caller = subject.caller();
        match self.workload.load {
            Load::Healthy | Load::Failing(_) => {
                // Twice the window: full, and past the first lap.
                for place in 0..2 * self.workload.outcomes() {
                    loops::one(&mut caller, self.pattern.fails(place));
                }
            }
            Load::Rejecting | Load::HalfOpenStorm => {
                // One more than the window: some judge only the call after it is full.
                for _ in 0..=self.workload.outcomes() {
                    if !loops::one(&mut caller, true) {
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
        let mut caller = self.subject.caller();
        let closed = |seen| matches!(seen, Seen::Closed | Seen::Admits);
        // Threads that ran together may have left it anywhere in the cycle.
        for _ in 0..100 {
            if closed(self.subject.state()) {
                break;
            }
            self.subject.pass_time();
            loops::one(&mut caller, false);
        }
        for _ in 0..2 * failures {
            loops::one(&mut caller, true);
            if self.subject.state() != Seen::Closed {
                break;
            }
        }
        if self.subject.state() == Seen::Closed {
            return Err("it does not trip".into());
        }
        self.subject.pass_time();
        for _ in 0..successes {
            loops::one(&mut caller, false);
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
        let mut caller = self.subject.caller();
        match self.workload.load {
            Load::Failing(_) => {
                let start = start(thread, threads);
                loops::by_pattern(&mut caller, &self.pattern, start, calls)
            }
            Load::Flapping => {
                loops::flap(&self.subject, calls);
                calls
            }
            Load::Healthy | Load::Rejecting | Load::HalfOpenStorm | Load::Floor => {
                loops::succeed(&mut caller, calls)
            }
        }
    }

    fn time_each(
        &self,
        clock: &quanta::Clock,
        threads: usize,
        calls: u64,
        record: &(dyn Fn(&[u64]) + Sync),
    ) {
        threads::together(threads, |thread| {
            let mut caller = self.subject.caller();
            let start = start(thread, threads);
            let times = loops::time_each(&mut caller, &self.pattern, start, calls, clock);
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

/// Where in the pattern a thread starts: each elsewhere.
fn start(thread: usize, threads: usize) -> usize {
    thread * (LENGTH / threads)
}
