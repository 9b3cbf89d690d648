//! Calls on a breaker, what they are answered, and how the model answers them.

mod program;
mod search;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cutout::model::{Model, ModelPermit};
use cutout::{
    Breaker, Clock, Config, Evidence, OwnedPermit, Rejected, Report, Settled, Snapshot, State,
};

pub(crate) use program::{Program, Random};
pub(crate) use search::{Place, Search};

/// One call. Permits have numbers: those of the grants of this history.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Allow(usize),
    Done(usize, Report),
    Drop(usize),
    ForceOpen(Option<Duration>),
    Close,
    Disable,
    ObserveOnly,
    Resume,
    Reconfigure(Config),
    Snapshot,
    State,
    IsAvailable,
    Config,
    Stale,
}

impl Op {
    /// The permit that it settles.
    pub(crate) const fn uses(&self) -> Option<usize> {
        match self {
            Self::Done(permit, _) | Self::Drop(permit) => Some(*permit),
            _ => None,
        }
    }
}

/// What it was answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Permit(u32, bool),
    Rejected(Rejected),
    Settled(Settled),
    Snapshot(Snapshot),
    State(State),
    IsAvailable(bool),
    Resumed(bool),
    Config(Config),
    Stale(u64),
    Nothing,
}

/// A call that was made, from its begin to its end.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) thread: usize,
    pub(crate) op: Op,
    pub(crate) answer: Answer,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// Permits by number.
pub(crate) type Permits<P> = BTreeMap<usize, P>;

const REASON: &str = "history";

/// The evidence is written down just after the move that it explains, and may not be there yet.
fn without_evidence(mut snapshot: Snapshot) -> Snapshot {
    snapshot.evidence = Evidence::default();
    snapshot
}

/// Makes a call on the breaker.
pub(crate) fn on_breaker<C: Clock>(
    breaker: &Arc<Breaker<C>>,
    op: &Op,
    permits: &mut Permits<OwnedPermit<C>>,
) -> Answer {
    match *op {
        Op::Allow(number) => match breaker.allow_owned() {
            Ok(permit) => {
                let answer = Answer::Permit(permit.generation(), permit.is_probe());
                permits.insert(number, permit);
                return answer;
            }
            Err(rejected) => return Answer::Rejected(rejected),
        },
        Op::Done(number, report) => {
            let settled = permits.remove(&number).map(|permit| permit.done(report));
            return settled.map_or(Answer::Nothing, Answer::Settled);
        }
        Op::Drop(number) => drop(permits.remove(&number)),
        Op::ForceOpen(how_long) => breaker.force_open(how_long, REASON),
        Op::Close => breaker.close(REASON),
        Op::Disable => breaker.disable(REASON),
        Op::ObserveOnly => breaker.observe_only(REASON),
        Op::Resume => return Answer::Resumed(breaker.resume(REASON)),
        Op::Reconfigure(config) => breaker.reconfigure(config).expect("a legal config"),
        Op::Snapshot => return Answer::Snapshot(without_evidence(breaker.snapshot())),
        Op::State => return Answer::State(breaker.state()),
        Op::IsAvailable => return Answer::IsAvailable(breaker.is_available()),
        Op::Config => return Answer::Config(breaker.config()),
        Op::Stale => return Answer::Stale(breaker.stale()),
    }
    Answer::Nothing
}

/// Makes the same call on the model.
pub(crate) fn on_model(
    model: &mut Model,
    op: &Op,
    permits: &mut Permits<ModelPermit>,
    now: u64,
) -> Answer {
    match *op {
        Op::Allow(number) => match model.allow(now) {
            Ok(permit) => {
                let answer = Answer::Permit(permit.generation(), permit.is_probe());
                permits.insert(number, permit);
                return answer;
            }
            Err(rejected) => return Answer::Rejected(rejected),
        },
        Op::Done(number, report) => {
            let permit = permits.remove(&number);
            let settled = permit.map(|permit| model.done(permit, report, now));
            return settled.map_or(Answer::Nothing, Answer::Settled);
        }
        Op::Drop(number) => {
            if let Some(permit) = permits.remove(&number) {
                model.drop_permit(permit, false, now);
            }
        }
        Op::ForceOpen(how_long) => model.force_open(how_long, REASON, now),
        Op::Close => model.close(REASON, now),
        Op::Disable => model.disable(REASON, now),
        Op::ObserveOnly => model.observe_only(REASON, now),
        Op::Resume => return Answer::Resumed(model.resume(REASON, now)),
        Op::Reconfigure(config) => model.reconfigure(config, now).expect("a legal config"),
        Op::Snapshot => {
            let snapshot = model.snapshot(now, Duration::ZERO);
            return Answer::Snapshot(without_evidence(snapshot));
        }
        Op::State => return Answer::State(model.state(now)),
        Op::IsAvailable => return Answer::IsAvailable(model.is_available(now)),
        Op::Config => return Answer::Config(model.config()),
        Op::Stale => return Answer::Stale(model.stale()),
    }
    Answer::Nothing
}
