//! Random programs of choices, outcomes, changes and time, on the router and on the plain list.

use cutout::router::{Attempts, Choice, NoTarget, Policy, Role, Router, RouterConfig, Target};
use cutout::{ManualClock, OwnedPermit};
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::model::{Model, Request};
use super::{Routes, WAIT, breaker};

#[derive(Clone, Debug)]
enum Op {
    /// A choice for a new request, or one more for an earlier one.
    Choose {
        request: Option<usize>,
    },
    /// Ends a call, with its outcome or without one.
    Settle {
        call: usize,
        outcome: Option<bool>,
    },
    /// So many tenths of the open wait pass.
    Wait(u32),
    Insert {
        position: usize,
        name: u8,
        weight: u32,
        role: Role,
    },
    Remove(u8),
    MoveTo(u8, usize),
    SetWeight(u8, u32),
    SetRole(u8, Role),
    ForceOpen(usize),
    Close(usize),
    Reconfigure(RouterConfig),
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![
        4 => Just(Role::Ordinary),
        1 => Just(Role::Canary),
        1 => Just(Role::LastResort),
    ]
}

fn config() -> impl Strategy<Value = RouterConfig> {
    let policy = prop_oneof![
        Just(Policy::Priority),
        Just(Policy::RoundRobin),
        Just(Policy::Weighted),
        Just(Policy::LeastInFlight),
    ];
    let canary = prop_oneof![Just(0), Just(500), Just(3333), Just(10_000)];
    let max_shed = prop_oneof![3 => Just(None), 2 => (0..4_u32).prop_map(Some)];
    (policy, canary, max_shed).prop_map(|(policy, canary_basis_points, max_shed)| RouterConfig {
        policy,
        canary_basis_points,
        max_shed,
        ramp: None,
    })
}

fn op() -> impl Strategy<Value = Op> {
    let name = || 0..7_u8;
    prop_oneof![
        12 => prop::option::weighted(0.3, any::<usize>()).prop_map(|request| Op::Choose { request }),
        10 => (any::<usize>(), prop::option::weighted(0.9, prop::bool::weighted(0.6)))
            .prop_map(|(call, outcome)| Op::Settle { call, outcome }),
        3 => (0..12_u32).prop_map(Op::Wait),
        2 => (0..8_usize, name(), 1..=10_u32, role())
            .prop_map(|(position, name, weight, role)| Op::Insert { position, name, weight, role }),
        1 => name().prop_map(Op::Remove),
        1 => (name(), 0..8_usize).prop_map(|(name, to)| Op::MoveTo(name, to)),
        1 => (name(), 1..=10_u32).prop_map(|(name, weight)| Op::SetWeight(name, weight)),
        1 => (name(), role()).prop_map(|(name, role)| Op::SetRole(name, role)),
        1 => any::<usize>().prop_map(Op::ForceOpen),
        1 => any::<usize>().prop_map(Op::Close),
        1 => config().prop_map(Op::Reconfigure),
    ]
}

/// A call on both, and the model's target.
type Call = (
    Choice<(), ManualClock>,
    u64,
    Option<OwnedPermit<ManualClock>>,
);

/// The router and the model, and what is under way on both.
struct Pair {
    clock: ManualClock,
    router: Routes,
    model: Model,
    requests: Vec<(Attempts, Request)>,
    calls: Vec<Call>,
}

impl Pair {
    fn new(config: RouterConfig) -> Self {
        let clock = ManualClock::new();
        let first = Target::new("0", (), breaker(&clock, WAIT));
        Self {
            router: Router::new(config, [first]).unwrap(),
            model: Model::new(&clock, config),
            requests: Vec::new(),
            calls: Vec::new(),
            clock,
        }
    }

    fn step(&mut self, op: &Op) {
        match *op {
            Op::Choose { request } => self.choose(request),
            Op::Settle { call, outcome } if !self.calls.is_empty() => {
                self.settle(call % self.calls.len(), outcome);
            }
            Op::Settle { .. } => {}
            Op::Wait(tenths) => self.clock.advance(WAIT / 10 * tenths),
            Op::Insert {
                position,
                name,
                weight,
                role,
            } => {
                let name = &*name.to_string();
                let target = Target::new(name, (), breaker(&self.clock, WAIT));
                let inserted = self
                    .router
                    .insert(position, target.weight(weight).role(role));
                let expected = self.model.insert(position, (name, weight, role));
                assert_eq!(inserted.map(drop), expected);
            }
            Op::Remove(name) => {
                let name = &*name.to_string();
                assert_eq!(self.router.remove(name).map(drop), self.model.remove(name));
            }
            Op::MoveTo(name, to) => {
                let name = &*name.to_string();
                assert_eq!(self.router.move_to(name, to), self.model.move_to(name, to));
            }
            Op::SetWeight(name, weight) => {
                let name = &*name.to_string();
                let expected = self.model.set_weight(name, weight);
                assert_eq!(self.router.set_weight(name, weight), expected);
            }
            Op::SetRole(name, role) => {
                let name = &*name.to_string();
                assert_eq!(
                    self.router.set_role(name, role),
                    self.model.set_role(name, role)
                );
            }
            Op::ForceOpen(position) => {
                let position = position % self.model.targets.len();
                self.router.members()[position]
                    .breaker()
                    .force_open(None, "test");
                self.model.targets[position]
                    .breaker
                    .force_open(None, "test");
            }
            Op::Close(position) => {
                let position = position % self.model.targets.len();
                self.router.members()[position].breaker().close("test");
                self.model.targets[position].breaker.close("test");
            }
            Op::Reconfigure(config) => {
                self.router.reconfigure(config).unwrap();
                self.model.reconfigure(config);
            }
        }
        self.compare();
    }

    fn choose(&mut self, request: Option<usize>) {
        let index = match request {
            Some(request) if !self.requests.is_empty() => request % self.requests.len(),
            _ => {
                self.requests.push((Attempts::new(), Request::default()));
                self.requests.len() - 1
            }
        };
        let (attempts, request) = &mut self.requests[index];
        match (self.router.choose(attempts), self.model.choose(request)) {
            (Ok(choice), Ok(expected)) => {
                let is_probe = expected.permit.as_ref().is_some_and(OwnedPermit::is_probe);
                assert_eq!(choice.name(), expected.name);
                assert_eq!(choice.is_probe(), is_probe);
                assert_eq!(choice.is_guarded(), expected.permit.is_some());
                self.calls.push((choice, expected.id, expected.permit));
            }
            (choice, expected) => {
                let choice = choice.map(|choice| choice.name().to_owned());
                assert_eq!(choice, expected.map(|expected| expected.name));
            }
        }
    }

    fn settle(&mut self, call: usize, outcome: Option<bool>) {
        let (choice, id, permit) = self.calls.swap_remove(call);
        if let Some(target) = self.model.by_id(id) {
            target.in_flight -= 1;
        }
        match outcome {
            Some(true) => {
                let settled = choice.success();
                assert_eq!(
                    Some(settled),
                    permit.map(OwnedPermit::success).or(Some(settled))
                );
            }
            Some(false) => {
                choice.failure();
                permit.map(OwnedPermit::failure);
            }
            None => drop((choice, permit)),
        }
    }

    fn compare(&self) {
        let members = self.router.members();
        let ours: Vec<_> = members
            .iter()
            .map(|member| {
                let breaker = member.breaker();
                assert!(breaker.snapshot().probes_out <= breaker.config().max_probes);
                (
                    member.name(),
                    breaker.generation(),
                    breaker.snapshot(),
                    member.in_flight() as u64,
                )
            })
            .collect();
        let targets = self.model.targets.iter();
        let expected: Vec<_> = targets
            .map(|target| {
                let breaker = &target.breaker;
                (
                    &*target.name,
                    breaker.generation(),
                    breaker.snapshot(),
                    target.in_flight,
                )
            })
            .collect();
        assert_eq!(ours, expected);
    }
}

proptest! {
    #![proptest_config(Config {
        cases: 400,
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn the_router_does_what_the_plain_list_does(
        config in config(),
        program in prop::collection::vec(op(), 1..120),
    ) {
        let mut pair = Pair::new(config);
        program.iter().for_each(|op| pair.step(op));
        // Nothing is left behind when all calls have ended.
        while !pair.calls.is_empty() {
            pair.settle(0, None);
        }
        for member in pair.router.members() {
            prop_assert_eq!(member.in_flight(), 0);
            prop_assert_eq!(member.breaker().snapshot().probes_out, 0);
        }
        // And a request that is sent on and on ends when it has tried every target.
        let mut attempts = Attempts::new();
        for _ in pair.router.members() {
            let _ = pair.router.choose(&mut attempts).map(Choice::ignore);
        }
        let again = pair.router.choose(&mut attempts);
        let is_exhausted = matches!(again, Err(NoTarget::Exhausted { .. } | NoTarget::Rejected { .. }));
        prop_assert!(is_exhausted);
    }
}
