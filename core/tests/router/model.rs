//! The router as a plain list, with one rule after the other written down as it is said.

use std::sync::Arc;
use std::time::Duration;

use cutout::router::{NoTarget, Policy, Role, RouterConfig, RouterError};
use cutout::{Breaker, ManualClock, OwnedPermit, Rejected, State};

use super::{WAIT, breaker};

pub(super) struct Model {
    pub(super) config: RouterConfig,
    pub(super) targets: Vec<Target>,
    pub(super) clock: ManualClock,
    requests: u64,
    ids: u64,
    /// For each role, the turn that was taken last.
    clocks: [u64; 3],
}

pub(super) struct Target {
    pub(super) name: String,
    pub(super) weight: u32,
    pub(super) role: Role,
    pub(super) breaker: Arc<Breaker<ManualClock>>,
    pub(super) in_flight: u64,
    id: u64,
    /// When its next turn is, in parts of a round.
    due: u64,
}

/// A multiple of every weight up to ten, so that all strides are whole.
const ROUND: u64 = 2520;

/// What one request has tried, and whether it is the canary's.
#[derive(Default)]
pub(super) struct Request {
    tried: Vec<u64>,
    canary: Option<bool>,
}

/// Who takes the call, with which permit.
pub(super) struct Chosen {
    pub(super) name: String,
    pub(super) id: u64,
    pub(super) permit: Option<OwnedPermit<ManualClock>>,
}

impl Model {
    pub(super) fn new(clock: &ManualClock, config: RouterConfig) -> Self {
        let mut model = Self {
            config,
            targets: Vec::new(),
            clock: clock.clone(),
            requests: 0,
            ids: 0,
            clocks: [0; 3],
        };
        model.insert(0, ("0", 1, Role::Ordinary)).unwrap();
        model
    }

    pub(super) fn insert(
        &mut self,
        position: usize,
        (name, weight, role): (&str, u32, Role),
    ) -> Result<(), RouterError> {
        self.check_position(position, self.targets.len())?;
        if self.find(name).is_ok() {
            return Err(RouterError::DuplicateName(name.into()));
        }
        self.ids += 1;
        let target = Target {
            name: name.to_owned(),
            weight,
            role,
            breaker: breaker(&self.clock, WAIT),
            in_flight: 0,
            id: self.ids,
            due: 0,
        };
        self.targets.insert(position, target);
        self.start_turns_anew();
        Ok(())
    }

    pub(super) fn remove(&mut self, name: &str) -> Result<(), RouterError> {
        let position = self.find(name)?;
        self.check_ordinary_without(position)?;
        self.targets.remove(position);
        self.start_turns_anew();
        Ok(())
    }

    pub(super) fn move_to(&mut self, name: &str, to: usize) -> Result<(), RouterError> {
        let from = self.find(name)?;
        self.check_position(to, self.targets.len() - 1)?;
        let target = self.targets.remove(from);
        self.targets.insert(to, target);
        self.start_turns_anew();
        Ok(())
    }

    pub(super) fn set_weight(&mut self, name: &str, weight: u32) -> Result<(), RouterError> {
        let position = self.find(name)?;
        self.targets[position].weight = weight;
        self.start_turns_anew();
        Ok(())
    }

    pub(super) fn set_role(&mut self, name: &str, role: Role) -> Result<(), RouterError> {
        let position = self.find(name)?;
        if role != Role::Ordinary {
            self.check_ordinary_without(position)?;
        }
        self.targets[position].role = role;
        self.start_turns_anew();
        Ok(())
    }

    pub(super) fn reconfigure(&mut self, config: RouterConfig) {
        self.config = config;
        self.start_turns_anew();
    }

    fn find(&self, name: &str) -> Result<usize, RouterError> {
        let position = self.targets.iter().position(|target| target.name == name);
        position.ok_or_else(|| RouterError::UnknownName(name.into()))
    }

    fn check_position(&self, position: usize, last: usize) -> Result<(), RouterError> {
        let len = self.targets.len();
        if position > last {
            return Err(RouterError::NoSuchPosition { position, len });
        }
        Ok(())
    }

    fn check_ordinary_without(&self, position: usize) -> Result<(), RouterError> {
        let is_another =
            |(at, target): (usize, &Target)| at != position && target.role == Role::Ordinary;
        if self.targets.iter().enumerate().any(is_another) {
            return Ok(());
        }
        Err(RouterError::LastTarget)
    }

    fn start_turns_anew(&mut self) {
        self.clocks = [0; 3];
        for target in &mut self.targets {
            target.due = 0;
        }
    }

    pub(super) fn choose(&mut self, request: &mut Request) -> Result<Chosen, NoTarget> {
        let of_role = |role| {
            let is_left =
                |target: &&Target| target.role == role && !request.tried.contains(&target.id);
            self.targets
                .iter()
                .filter(is_left)
                .map(|target| target.id)
                .collect::<Vec<_>>()
        };
        let lanes = [Role::Canary, Role::Ordinary, Role::LastResort].map(of_role);
        let has_canary = self
            .targets
            .iter()
            .any(|target| target.role == Role::Canary);
        let mut canary = false;
        if has_canary {
            canary = *request.canary.get_or_insert_with(|| {
                let share = u64::from(self.config.canary_basis_points);
                let turn = self.requests % 10_000;
                self.requests += 1;
                // How many of the first requests are the canary's.
                let until = |turn: u64| turn * share / 10_000;
                until(turn + 1) > until(turn)
            });
        }
        let [canaries, ordinary, last_resorts] = lanes;
        let mut rejections = Vec::new();
        let mut found = None;
        if canary {
            found = self.ask(canaries, &mut rejections);
        }
        found = found.or_else(|| self.ask(ordinary, &mut rejections));
        if found.is_none() && !last_resorts.is_empty() {
            let first = self.in_order(&last_resorts)[0];
            found = self
                .ask(last_resorts, &mut rejections)
                .or(Some((first, None)));
        }
        match found {
            Some((id, permit)) => {
                request.tried.push(id);
                let target = self.by_id(id).expect("it was just found");
                target.in_flight += 1;
                Ok(Chosen {
                    name: target.name.clone(),
                    id,
                    permit,
                })
            }
            None => Err(first_to_end(rejections).unwrap_or(NoTarget::Exhausted {
                tried: request.tried.len(),
            })),
        }
    }

    pub(super) fn by_id(&mut self, id: u64) -> Option<&mut Target> {
        self.targets.iter_mut().find(|target| target.id == id)
    }

    fn ask(
        &mut self,
        lane: Vec<u64>,
        rejections: &mut Vec<(String, Rejected)>,
    ) -> Option<(u64, Option<OwnedPermit<ManualClock>>)> {
        for id in self.in_order(&lane) {
            let target = self.by_id(id)?;
            match target.breaker.allow_owned() {
                Ok(permit) => {
                    self.take_turn(id);
                    return Some((id, Some(permit)));
                }
                Err(rejected) => {
                    rejections.push((target.name.clone(), rejected));
                    if self.is_beyond_the_limit(id) {
                        self.take_turn(id);
                        return Some((id, None));
                    }
                }
            }
        }
        None
    }

    /// The targets of a lane as the policy orders them.
    fn in_order(&self, lane: &[u64]) -> Vec<u64> {
        let of_lane = |target: &&Target| lane.contains(&target.id);
        let mut targets: Vec<_> = self.targets.iter().filter(of_lane).collect();
        let until_turn =
            |target: &Target| target.due.saturating_sub(self.clocks[target.role as usize]);
        let load = |target: &Target| (target.in_flight + 1) * self.stride(target);
        // Sorting is stable: what is equal stays in the order of the queue.
        match self.config.policy {
            Policy::Priority => {}
            Policy::LeastInFlight => {
                targets.sort_by_key(|target| (load(target), until_turn(target)))
            }
            _ => targets.sort_by_key(|target| until_turn(target)),
        }
        targets.iter().map(|target| target.id).collect()
    }

    fn stride(&self, target: &Target) -> u64 {
        match self.config.policy {
            Policy::RoundRobin => ROUND,
            _ => ROUND / u64::from(target.weight),
        }
    }

    fn take_turn(&mut self, id: u64) {
        if self.config.policy == Policy::Priority {
            return;
        }
        let position = self
            .targets
            .iter()
            .position(|target| target.id == id)
            .unwrap();
        let stride = self.stride(&self.targets[position]);
        let target = &mut self.targets[position];
        let clock = &mut self.clocks[target.role as usize];
        *clock = target.due.max(*clock);
        target.due = *clock + stride;
    }

    /// Of the ordinary targets that take no calls, those with the longest waits are shed,
    /// as many as may be.
    fn is_beyond_the_limit(&self, id: u64) -> bool {
        let Some(limit) = self.config.max_shed else {
            return false;
        };
        let mut out: Vec<_> = self
            .targets
            .iter()
            .filter(|target| target.role == Role::Ordinary)
            .filter_map(|target| Some((rank(&target.breaker)?, target.id)))
            .collect();
        out.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
        let is_forced = |(state, _): (u8, Duration)| state == FORCED;
        out.iter()
            .skip(limit as usize)
            .any(|&(rank, out)| out == id && !is_forced(rank))
    }
}

const FORCED: u8 = 2;

/// Longer is greater: forced open, then half-open, then open by what is left of the wait.
fn rank(breaker: &Breaker<ManualClock>) -> Option<(u8, Duration)> {
    match breaker.state() {
        State::ForcedOpen => Some((FORCED, Duration::ZERO)),
        State::HalfOpen => Some((1, Duration::ZERO)),
        State::Open => Some((0, breaker.snapshot().remaining.unwrap())),
        _ => None,
    }
}

fn first_to_end(rejections: Vec<(String, Rejected)>) -> Option<NoTarget> {
    let end = |rejected: &Rejected| match (rejected.retry_after(), rejected.state()) {
        (_, State::HalfOpen) => Duration::MAX - Duration::from_secs(1),
        (Some(left), _) => left,
        (None, _) => Duration::MAX,
    };
    let first = rejections
        .into_iter()
        .min_by_key(|(_, rejected)| end(rejected));
    first.map(|(name, rejected)| NoTarget::Rejected {
        name: name.into(),
        rejected,
    })
}
