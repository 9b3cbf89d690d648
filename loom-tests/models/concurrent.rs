//! The breaker as a system.

use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::sync::{Arc, Mutex};

use cutout_checker::AtomicU64;

use crate::cutout::{
    AnyPermit, Breaker, Clock, Config, Event, OwnedPermit, Rejected, Report, Settled,
};
use crate::op::{Op, PEER, System};
use crate::show;

/// A clock that only an operation moves. It is constant, and no part of the
/// search, where no thread does.
#[derive(Clone)]
pub(crate) struct OpClock(pub(crate) Arc<AtomicU64>);

impl Clock for OpClock {
    fn now(&self) -> u64 {
        self.0.load(Acquire)
    }
}

/// A breaker; clones share it.
#[derive(Clone)]
pub(crate) struct Concurrent {
    breaker: Arc<Breaker<OpClock>>,
    clock: OpClock,
    heard: Arc<Mutex<Vec<Event>>>,
}

impl Concurrent {
    /// A breaker that is listened to or not: what is not there is no part of the search.
    pub(crate) fn new(config: Config, heard: bool) -> Self {
        let clock = OpClock(Arc::new(AtomicU64::new(0)));
        let events = Arc::new(Mutex::new(Vec::new()));
        let mut builder = Breaker::builder().config(config).clock(clock.clone());
        if heard {
            let events = Arc::clone(&events);
            builder = builder.listener(move |event| events.lock().unwrap().push(event.clone()));
        }
        Self {
            breaker: Arc::new(builder.build().expect("a legal config")),
            clock,
            heard: events,
        }
    }
}

impl System for Concurrent {
    type Permit = OwnedPermit<OpClock>;

    fn allow(&mut self) -> Result<Self::Permit, Rejected> {
        self.breaker.allow_owned()
    }

    fn describe(permit: &Self::Permit) -> String {
        show::permit(permit.is_probe(), permit.generation())
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
        let breaker = &self.breaker;
        match *op {
            Op::ForceOpen(how_long) => breaker.force_open(how_long, "force_open"),
            Op::Close => breaker.close("close"),
            Op::Disable => breaker.disable("disable"),
            Op::ObserveOnly => breaker.observe_only("observe_only"),
            Op::Resume => return breaker.resume("resume").to_string(),
            Op::TakeOver => return breaker.take_over(PEER, None).to_string(),
            Op::SetWait(wait) => return breaker.set_wait(wait).to_string(),
            Op::Reconfigure(config) => breaker.reconfigure(config).expect("a legal config"),
            Op::Advance(by) => {
                self.clock.0.fetch_add(by.as_nanos() as u64, AcqRel);
            }
            Op::Heartbeat => breaker.heartbeat(),
            Op::Snapshot => return show::snapshot(&breaker.snapshot()),
            Op::State => return breaker.state().to_string(),
            Op::IsAvailable => return breaker.is_available().to_string(),
            Op::Config => return format!("{:?}", breaker.config()),
            Op::Evidence => return show::evidence(&breaker.evidence()),
            Op::Stale => return breaker.stale().to_string(),
            Op::Allow(_) | Op::Done(..) | Op::Drop(_) | Op::Withdraw(_) => {
                unreachable!("about a permit")
            }
        }
        "-".to_owned()
    }

    fn events(&mut self) -> String {
        let events: Vec<Event> = std::mem::take(&mut *self.heard.lock().unwrap());
        let events: Vec<_> = events.iter().map(show::event).collect();
        events.join(", ")
    }
}
