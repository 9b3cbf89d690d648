//! This crate's own sources on atomics that count: for the traffic of its lines, not
//! for its speed.

use cutout_counted::{Breaker, Config, OpenWait, Score, State, SystemClock, Window};

use super::cutout_rs;
use crate::entry::{Can, Entry, Kind};
use crate::stage;
use crate::subject::{Seen, Shared};
use crate::workload::{Load, Workload};

pub(super) const ENTRY: Entry = Entry {
    name: "cutout-counted",
    version: env!("VERSION_cutout"),
    kind: Kind::Ours,
    can: Can {
        listener: false,
        declines: |load| match load {
            Load::Healthy | Load::Failing(_) | Load::Rejecting => None,
            Load::HalfOpenStorm | Load::Flapping | Load::Floor => Some("it is not counted"),
        },
        ..Can::PLAIN
    },
    set: |workload| stage::set(workload, move || Counted(build(workload))),
};

fn build(workload: Workload) -> Breaker<SystemClock> {
    let config = Config::default().with(|config| {
        config.window = Window::count(workload.outcomes() as u32);
        config.min_calls = Some(workload.min_calls() as u32);
        config.failure_ratio = Some(workload.ratio());
        config.open_wait = OpenWait::fixed(workload.open_wait());
        if workload.scores {
            let cutout::Score { bad, good, limit } = cutout_rs::score(workload);
            config.window = Window::cusum(Score { bad, good, limit });
            (config.failure_ratio, config.min_calls) = (None, None);
        }
    });
    Breaker::new(config).expect("the workloads are legal configs")
}

struct Counted(Breaker<SystemClock>);

impl Shared for Counted {
    #[inline(always)]
    fn call(&self, fails: bool) -> bool {
        match self.0.allow() {
            Ok(permit) => {
                if fails {
                    permit.failure();
                } else {
                    permit.success();
                }
                true
            }
            Err(_) => false,
        }
    }

    fn state(&self) -> Seen {
        match self.0.state() {
            State::Closed => Seen::Closed,
            State::HalfOpen => Seen::HalfOpen,
            _ => Seen::Open,
        }
    }
}
