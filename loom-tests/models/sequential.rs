//! The sequential model as a system, and all orders of a scenario's operations.

use std::time::Duration;

use crate::cutout::model::{Model, ModelPermit};
use crate::cutout::{Config, Rejected, Report, Settled};
use crate::op::{Op, PEER, System};
use crate::show;

/// The model with the time that it is told.
pub(crate) struct Sequential {
    model: Model,
    now: u64,
}

impl Sequential {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            model: Model::new(config, 0).expect("a legal config"),
            now: 0,
        }
    }
}

impl System for Sequential {
    type Permit = ModelPermit;

    fn allow(&mut self) -> Result<ModelPermit, Rejected> {
        self.model.allow(self.now)
    }

    fn describe(permit: &ModelPermit) -> String {
        show::permit(permit.is_probe(), permit.generation())
    }

    fn done(&mut self, permit: ModelPermit, report: Report) -> Settled {
        self.model.done(permit, report, self.now)
    }

    fn abandon(&mut self, permit: ModelPermit) {
        self.model.drop_permit(permit, false, self.now);
    }

    fn withdraw(&mut self, permit: ModelPermit) {
        self.model.withdraw(permit, self.now);
    }

    fn operate(&mut self, op: &Op) -> String {
        let (model, now) = (&mut self.model, self.now);
        match *op {
            Op::ForceOpen(how_long) => model.force_open(how_long, "force_open", now),
            Op::Close => model.close("close", now),
            Op::Disable => model.disable("disable", now),
            Op::ObserveOnly => model.observe_only("observe_only", now),
            Op::Resume => return model.resume("resume", now).to_string(),
            Op::TakeOver => return model.take_over(PEER, None, now).to_string(),
            Op::SetWait(wait) => return model.set_wait(wait, now).to_string(),
            Op::Reconfigure(config) => model.reconfigure(config, now).expect("a legal config"),
            Op::Advance(by) => self.now += by.as_nanos() as u64,
            Op::Heartbeat => model.heartbeat(now),
            Op::Snapshot => return show::snapshot(&model.snapshot(now, Duration::ZERO)),
            Op::State => return model.state(now).to_string(),
            Op::IsAvailable => return model.is_available(now).to_string(),
            Op::Config => return format!("{:?}", model.config()),
            Op::Evidence => return show::evidence(&model.evidence(now)),
            Op::Stale => return model.stale().to_string(),
            Op::Allow(_) | Op::Done(..) | Op::Drop(_) | Op::Withdraw(_) => {
                unreachable!("about a permit")
            }
        }
        "-".to_owned()
    }

    fn events(&mut self) -> String {
        let events: Vec<_> = self.model.take_events().iter().map(show::event).collect();
        events.join(", ")
    }
}

/// All orders in which threads of so many operations each can take turns: who does the next one.
pub(crate) fn orders(lengths: &[usize]) -> Vec<Vec<usize>> {
    let mut orders = Vec::new();
    extend(&mut lengths.to_vec(), &mut Vec::new(), &mut orders);
    orders
}

fn extend(left: &mut [usize], order: &mut Vec<usize>, orders: &mut Vec<Vec<usize>>) {
    if left.iter().all(|&left| left == 0) {
        orders.push(order.clone());
    }
    for thread in 0..left.len() {
        if left[thread] > 0 {
            left[thread] -= 1;
            order.push(thread);
            extend(left, order, orders);
            order.pop();
            left[thread] += 1;
        }
    }
}
