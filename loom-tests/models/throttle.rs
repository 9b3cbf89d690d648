//! A throttle: what it counts, and that it never takes there to be nothing to refuse when there is.

use std::sync::Arc;
use std::sync::atomic::Ordering::AcqRel;

use cutout_checker::AtomicU64;

use crate::concurrent::OpClock;
use crate::cutout::model::{ThrottleAdmission, ThrottleModel};
use crate::cutout::{
    AnyPermit, OwnedThrottlePermit, Rejected, Report, Settled, Throttle, ThrottleBuilder,
    ThrottleConfig,
};
use crate::op::{Op, System, failure, success};
use crate::reach::Reach;
use crate::scenario::Scenario;

const SEED: u64 = 5;

/// The throttle with a clock that only an operation moves; clones share them.
#[derive(Clone)]
pub(crate) struct Concurrent {
    throttle: Arc<Throttle<OpClock>>,
    clock: OpClock,
}

impl Concurrent {
    pub(crate) fn new(config: ThrottleConfig) -> Self {
        let clock = OpClock(Arc::new(AtomicU64::new(0)));
        let builder = ThrottleBuilder::with_clock(clock.clone()).config(config);
        Self {
            throttle: Arc::new(builder.seed(SEED).build().expect("a legal config")),
            clock,
        }
    }
}

impl System for Concurrent {
    type Permit = OwnedThrottlePermit<OpClock>;

    fn allow(&mut self) -> Result<Self::Permit, Rejected> {
        self.throttle.allow_owned()
    }

    fn describe(_: &Self::Permit) -> String {
        "permit".to_owned()
    }

    fn done(&mut self, permit: Self::Permit, report: Report) -> Settled {
        permit.done(report)
    }

    fn abandon(&mut self, permit: Self::Permit) {
        drop(permit);
    }

    fn withdraw(&mut self, permit: Self::Permit) {
        permit.withdraw();
    }

    fn operate(&mut self, op: &Op) -> String {
        match op {
            Op::Advance(by) => {
                self.clock.0.fetch_add(by.as_nanos() as u64, AcqRel);
                "-".to_owned()
            }
            Op::Snapshot => format!("{:?}", self.throttle.share()),
            _ => "-".to_owned(),
        }
    }

    fn events(&mut self) -> String {
        String::new()
    }
}

/// Its model, with the time that it is told.
pub(crate) struct Sequential {
    model: ThrottleModel,
    now: u64,
}

impl Sequential {
    pub(crate) fn new(config: ThrottleConfig) -> Self {
        let model = ThrottleModel::new(config, 0).expect("a legal config");
        Self {
            model: model.seed(SEED),
            now: 0,
        }
    }
}

impl System for Sequential {
    type Permit = ThrottleAdmission;

    fn allow(&mut self) -> Result<ThrottleAdmission, Rejected> {
        self.model.allow(self.now)
    }

    fn describe(_: &ThrottleAdmission) -> String {
        "permit".to_owned()
    }

    fn done(&mut self, _: ThrottleAdmission, report: Report) -> Settled {
        self.model.done(report.outcome, self.now)
    }

    fn abandon(&mut self, _: ThrottleAdmission) {}

    fn withdraw(&mut self, admission: ThrottleAdmission) {
        self.model.withdraw(admission);
    }

    fn operate(&mut self, op: &Op) -> String {
        match op {
            Op::Advance(by) => {
                self.now += by.as_nanos() as u64;
                "-".to_owned()
            }
            Op::Snapshot => format!("{:?}", self.model.share(self.now)),
            _ => "-".to_owned(),
        }
    }

    fn events(&mut self) -> String {
        String::new()
    }
}

/// Two buckets, and no probes but the first.
fn config() -> ThrottleConfig {
    ThrottleConfig {
        buckets: 2,
        k: 1.0,
        probes_per_second: 1e-9,
        ..ThrottleConfig::default()
    }
}

/// One failure and one accept: a third of the calls is refused, the first probe is gone.
fn overloaded() -> Vec<Op> {
    let mut ops: Vec<Op> = (1..=9).map(Op::Allow).collect();
    ops.extend([failure(1), success(2)]);
    // Until the probe is taken.
    ops.extend((20..30).map(Op::Allow));
    ops
}

/// Enough calls that some are refused, if any may be.
fn many() -> Vec<Op> {
    (100..116).map(Op::Allow).collect()
}

models! {
    /// Whoever counts, each request is counted once.
    requests_are_counted_once: Reach::both(2) => Scenario::throttle(config())
        .before(overloaded())
        .sees("recorded, recorded || recorded, recorded")
        .thread([success(3), failure(4)])
        .thread([failure(5), success(6)])
        .after(many());

    /// One finds nothing to refuse while another makes something.
    a_failure_is_not_missed_by_who_finds_nothing_to_refuse: Reach::FULL => Scenario::throttle(config())
        .before([Op::Allow(1), Op::Allow(2)])
        .sees("permit || recorded")
        .thread([Op::Allow(3)])
        .thread([failure(1)])
        .after([success(2)])
        .after(many());

    /// The first call finds nothing to refuse; a call that was admitted before has failed meanwhile.
    a_failure_is_not_missed_by_the_first_look_of_a_bucket: Reach::both(3) => Scenario::throttle(config())
        .before([Op::Allow(1), Op::Allow(2), failure(1)])
        .before([Op::Advance(std::time::Duration::from_secs(10))])
        .sees("permit || recorded")
        .thread([Op::Allow(3)])
        .thread([failure(2)])
        .after(many());

    /// Of two that would be refused one takes the probe that is due.
    one_takes_the_probe_that_is_due: Reach::both(3) => Scenario::throttle(config())
        .before([Op::Allow(1), Op::Allow(2), failure(1), failure(2)])
        // Two that are drawn to be admitted; the next two are not.
        .before([Op::Allow(3), Op::Allow(4)])
        .sees("permit || rejected")
        .sees("rejected g0 closed Throttled Some(5s) || permit")
        .thread([Op::Allow(50)])
        .thread([Op::Allow(51)])
        .after(many());

    /// A probe that is taken back is there for one call, and none that has been taken since is lost.
    a_probe_that_is_taken_back_is_taken_once: Reach::both(3) => Scenario::throttle(config())
        .before([Op::Allow(1), Op::Allow(2), failure(1), failure(2)])
        // Two that are drawn to be admitted; the next has the probe.
        .before([Op::Allow(3), Op::Allow(4), Op::Allow(5)])
        .sees("- || permit")
        .sees("- || rejected")
        .thread([Op::Withdraw(5)])
        .thread([Op::Allow(50)])
        .after(many());

    /// Two that are refused are two requests.
    two_that_are_refused: Reach::both(3) => Scenario::throttle(config())
        .before(overloaded())
        .before([failure(3), failure(4), failure(5)])
        .sees("closed")
        .thread([Op::Allow(50)])
        .thread([Op::Allow(51)])
        .after([Op::Snapshot]);
}
