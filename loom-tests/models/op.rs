//! What a thread of a scenario does, one linearization point at a time, and
//! what a breaker or the model answers.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::cutout::{Config, Counts, Outcome, Rejected, Report, Settled};
use crate::show;

/// What the windows of others held.
pub(crate) const PEER: Counts = Counts {
    samples: 3,
    failures: 2,
    timeouts: 1,
    slow: 0,
};

/// One operation. Permits have numbers, to be settled where they are
/// granted or by another thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Allow(usize),
    Done(usize, Report),
    Drop(usize),
    Withdraw(usize),
    ForceOpen(Option<Duration>),
    Close,
    Disable,
    ObserveOnly,
    Resume,
    TakeOver,
    SetWait(Duration),
    Reconfigure(Config),
    Advance(Duration),
    Heartbeat,
    Snapshot,
    State,
    IsAvailable,
    Config,
    Stale,
    Evidence,
}

impl Op {
    /// The permit that must be there for this operation.
    pub(crate) const fn uses(&self) -> Option<usize> {
        match self {
            Self::Done(permit, _) | Self::Drop(permit) | Self::Withdraw(permit) => Some(*permit),
            _ => None,
        }
    }
}

pub(crate) fn success(permit: usize) -> Op {
    Op::Done(permit, Outcome::Success.into())
}

pub(crate) fn failure(permit: usize) -> Op {
    Op::Done(permit, Outcome::Failure.into())
}

/// A failure that says what it was.
pub(crate) fn labelled(permit: usize, label: &str) -> Op {
    Op::Done(permit, Report::from(Outcome::Failure).label(label))
}

pub(crate) fn timeout(permit: usize) -> Op {
    Op::Done(permit, Outcome::Timeout.into())
}

pub(crate) fn ignored(permit: usize) -> Op {
    Op::Done(permit, Outcome::Ignored.into())
}

/// A success that took so long.
pub(crate) fn slow_success(permit: usize, elapsed: Duration) -> Op {
    Op::Done(permit, Report::from(Outcome::Success).elapsed(elapsed))
}

/// Calls that end at once, of which `settle` says how.
pub(crate) fn calls(permits: impl IntoIterator<Item = usize>, settle: fn(usize) -> Op) -> Vec<Op> {
    let call = |permit| [Op::Allow(permit), settle(permit)];
    permits.into_iter().flat_map(call).collect()
}

/// Permits by number.
pub(crate) type Permits<P> = BTreeMap<usize, P>;

/// A breaker, or the model of one.
pub(crate) trait System {
    type Permit;

    fn allow(&mut self) -> Result<Self::Permit, Rejected>;
    fn describe(permit: &Self::Permit) -> String;
    fn done(&mut self, permit: Self::Permit, report: Report) -> Settled;
    fn abandon(&mut self, permit: Self::Permit);
    fn withdraw(&mut self, permit: Self::Permit);
    /// Every operation that is not about a permit.
    fn operate(&mut self, op: &Op) -> String;
    /// The transitions so far.
    fn events(&mut self) -> String;

    /// Does `op` and gives the answer.
    fn apply(&mut self, op: &Op, permits: &mut Permits<Self::Permit>) -> String {
        let used = op.uses().map(|number| permits.remove(&number));
        match (op, used) {
            (Op::Allow(number), _) => match self.allow() {
                Ok(permit) => {
                    let answer = Self::describe(&permit);
                    permits.insert(*number, permit);
                    answer
                }
                Err(rejected) => show::rejected(&rejected),
            },
            (_, Some(None)) => "no permit".to_owned(),
            (Op::Done(_, report), Some(Some(permit))) => {
                format!("{:?}", self.done(permit, *report)).to_lowercase()
            }
            (Op::Drop(_), Some(Some(permit))) => {
                self.abandon(permit);
                "dropped".to_owned()
            }
            (Op::Withdraw(_), Some(Some(permit))) => {
                self.withdraw(permit);
                "-".to_owned()
            }
            _ => self.operate(op),
        }
    }

    /// Does all of `ops` and gives the answers.
    fn apply_all(&mut self, ops: &[Op], permits: &mut Permits<Self::Permit>) -> Vec<String> {
        ops.iter().map(|op| self.apply(op, permits)).collect()
    }
}
