//! The network, the bus and the upstream of a simulated fleet, and what must hold.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::time::Duration;

use cutout::{Cause, ManualClock, OwnedPermit, State};

use super::replica::{NAME, Replica, Told};
use crate::member::local::Claim;
use crate::member::{Act, Lease, Member};
use crate::settings::Settings;
use crate::statement::{Action, Order, millis};

const MILLI: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
/// How late the second of a doubled message is at most.
const LATE: Duration = Duration::from_secs(5);
/// Once all is well: how long until every breaker has to be closed.
const BOUND: Duration = Duration::from_secs(30);

/// What has happened in a run.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) trips: u64,
    pub(super) takeovers: u64,
    pub(super) leased_probes: u64,
    pub(super) freed: u64,
    pub(super) alone: u64,
    pub(super) orders: u64,
    pub(super) restarts: u64,
    pub(super) lasted: Duration,
}

impl Seen {
    pub(super) fn add(&mut self, other: &Self) {
        self.trips += other.trips;
        self.takeovers += other.takeovers;
        self.leased_probes += other.leased_probes;
        self.freed += other.freed;
        self.alone += other.alone;
        self.orders += other.orders;
        self.restarts += other.restarts;
        self.lasted += other.lasted;
    }
}

/// Something that happens at a time: to a replica in one of its lives, or to the world.
enum What {
    Wake(u64),
    Call,
    Settle(OwnedPermit<ManualClock>),
    Deliver(Vec<u8>),
    Request(Request),
    Answered(u64, Option<Lease>),
    Renewed(u64, Duration, bool),
    Recalled(Vec<Order>),
    Disturb,
}

/// What reaches the bus.
enum Request {
    Tell(Vec<u8>),
    Ask(u64, Duration),
    Renew(u64, Duration),
    Release(u64),
    Keep(Order),
    Recall,
}

pub(super) struct World {
    now: Duration,
    random: fastrand::Rng,
    settings: Settings,
    replicas: Vec<Replica>,
    queue: BinaryHeap<Reverse<(Duration, u64)>>,
    pending: BTreeMap<u64, (usize, u64, What)>,
    next: u64,
    /// The one lease: whose, with which token, until when.
    lease: Option<(usize, u64, u64, Duration)>,
    /// The leases that the server has lost with its memory.
    lost: Vec<(usize, u64, u64)>,
    orders: BTreeMap<bool, (Order, Duration)>,
    is_well: bool,
    /// Replicas that have had a failure.
    failing: BTreeSet<usize>,
    loss: f64,
    doubles: f64,
    delay: Duration,
    seen: Seen,
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let count = if random.u8(..16) == 0 {
            random.usize(2..=50)
        } else {
            random.usize(2..=10)
        };
        let heartbeat = Duration::from_millis(random.u64(100..=500));
        let settings = Settings::default().with(|it| {
            it.heartbeat = heartbeat;
            it.lease = heartbeat * random.u32(3..=6);
            it.lead = Duration::from_millis(random.u64(50..=250));
            it.patience = it.lease / 2;
            it.lately = Duration::from_secs(random.u64(5..=60));
        });
        let mut world = Self {
            now: SECOND,
            settings,
            replicas: Vec::new(),
            queue: BinaryHeap::new(),
            pending: BTreeMap::new(),
            next: 0,
            lease: None,
            lost: Vec::new(),
            orders: BTreeMap::new(),
            is_well: true,
            failing: BTreeSet::new(),
            loss: if random.bool() {
                0.0
            } else {
                random.f64() * 0.3
            },
            doubles: if random.bool() {
                0.0
            } else {
                random.f64() * 0.3
            },
            delay: Duration::from_millis(random.u64(1..=200)),
            seen: Seen::default(),
            random,
        };
        let has_careful = world.random.u8(..4) == 0;
        for index in 0..count {
            let careful = has_careful && world.random.u8(..3) == 0;
            let replica = world.start(index, 1, Replica::config(careful));
            world.replicas.push(replica);
            world.wake(index);
            world.later(index, MILLI * (1 + index as u32), What::Call);
        }
        world.later(0, SECOND, What::Disturb);
        world
    }

    fn start(&mut self, index: usize, life: u64, config: cutout::Config) -> Replica {
        // A clock that is a tenth too fast or too slow.
        let speed = 0.9 + 0.2 * self.random.f64();
        let seed = self.random.u64(..);
        Replica::new(
            (index, life),
            config,
            (speed, self.now, seed),
            self.settings,
        )
    }

    /// Runs until all has to be well again.
    pub(super) fn run(mut self) -> Seen {
        let ill = SECOND * self.random.u32(10..40);
        self.until(self.now + ill);
        self.heal();
        self.until(self.now + BOUND);
        for index in 0..self.replicas.len() {
            let state = self.replicas[index].state(self.now);
            assert_eq!(
                state,
                State::Closed,
                "member {index}, though all has been well"
            );
        }
        self.seen.lasted = self.now;
        self.seen
    }

    fn until(&mut self, end: Duration) {
        while let Some(&Reverse((at, number))) = self.queue.peek().filter(|next| next.0.0 <= end) {
            self.queue.pop();
            self.now = at;
            let (index, life, what) = self.pending.remove(&number).unwrap();
            self.happen(index, life, what);
        }
        self.now = end;
    }

    fn later(&mut self, index: usize, after: Duration, what: What) {
        let life = self.replicas.get(index).map_or(1, |replica| replica.life);
        self.at(index, life, self.now + after, what);
    }

    fn at(&mut self, index: usize, life: u64, at: Duration, what: What) {
        self.next += 1;
        self.queue.push(Reverse((at, self.next)));
        self.pending.insert(self.next, (index, life, what));
    }

    fn wake(&mut self, index: usize) {
        let next = self.replicas[index].at(self.replicas[index].member.next());
        // A thread is not always there at once.
        let late = MILLI.mul_f64(self.random.f64());
        self.replicas[index].wake += 1;
        let wake = What::Wake(self.replicas[index].wake);
        self.later(index, next.saturating_sub(self.now) + late, wake);
    }

    fn travels(&mut self) -> Duration {
        self.delay.mul_f64(self.random.f64())
    }

    fn happen(&mut self, index: usize, life: u64, what: What) {
        if let What::Disturb = what {
            self.disturb();
            let pause = SECOND.mul_f64(self.random.f64() * 4.0);
            return self.later(0, pause, What::Disturb);
        }
        if let What::Request(request) = what {
            return self.request(index, life, request);
        }
        let replica = &mut self.replicas[index];
        if !replica.is_alive || replica.life != life {
            return;
        }
        let now = self.now;
        match what {
            What::Wake(number) if number != replica.wake => return,
            What::Wake(_) => {
                let told = replica.with(now, |it, now, hands| it.tick(now, hands)).1;
                self.follow(index, told);
                return self.wake(index);
            }
            What::Call => {
                let permit = replica.call(now);
                let pause = replica.calls.mul_f64(0.5 + self.random.f64());
                self.look(index);
                if let Some(permit) = permit {
                    let takes = MILLI * self.random.u32(1..30);
                    self.later(index, takes, What::Settle(permit));
                }
                return self.later(index, pause, What::Call);
            }
            What::Settle(permit) => {
                if self.is_well && replica.has_network {
                    permit.success();
                } else {
                    self.failing.insert(index);
                    permit.failure();
                }
                self.look(index);
            }
            What::Deliver(bytes) => {
                let heard = replica.with(now, |it, now, hands| it.hear(&bytes, now, hands));
                self.follow(index, heard.1);
            }
            What::Answered(token, lease) => {
                let told = replica
                    .with(now, |it, now, hands| {
                        it.answered(NAME, token, lease, now, hands)
                    })
                    .1;
                self.seen.alone += u64::from(*self.replicas[index].claim() == Claim::Alone);
                self.follow(index, told);
            }
            What::Renewed(token, asked, still) => {
                replica.member.renewed(NAME, token, asked, still);
            }
            What::Recalled(orders) => {
                let told = replica
                    .with(now, |it, now, hands| it.recalled(orders, now, hands))
                    .1;
                self.follow(index, told);
            }
            What::Disturb | What::Request(_) => unreachable!(),
        }
        self.act(index);
        self.wake(index);
    }

    /// After a step of a member.
    fn follow(&mut self, index: usize, told: Told) {
        self.seen.freed += told.freed;
        self.seen.orders += told.orders;
        for counts in told.takeovers {
            self.seen.takeovers += 1;
            assert!(
                counts.failures > 0,
                "member {index} opened without evidence"
            );
            self.check_quorum(index);
        }
        self.look(index);
        self.act(index);
    }

    /// Enough others have really tripped, by the same config, since this one was last closed.
    fn check_quorum(&self, index: usize) {
        let replica = &self.replicas[index];
        let alike = |other: &Replica| other.config == replica.config;
        // What was said may have been under way for so long, and be counted by a clock that is a tenth off.
        // What comes doubled comes late, and is news to who has just started.
        let late = if self.doubles > 0.0 {
            LATE
        } else {
            Duration::ZERO
        };
        let slack = SECOND + late + self.delay * 2 + self.settings.life().mul_f64(1.3);
        let since = self
            .now
            .saturating_sub(self.settings.lately.mul_f64(1.3) + slack);
        let since = since.max(replica.closed.saturating_sub(slack));
        // A trip ends as its breaker closes, of which others hear later.
        let counts = |it: &Replica, at: Duration| {
            at >= since && (it.closed < at || it.closed + slack >= self.now)
        };
        let tripped = self.replicas.iter().enumerate().filter(|(other, it)| {
            *other != index && alike(it) && it.trips.iter().any(|(at, _)| counts(it, *at))
        });
        let known: BTreeSet<&str> = replica.peers().collect();
        let peers = self
            .replicas
            .iter()
            .enumerate()
            .filter(|(other, it)| alike(it) && known.contains(&*format!("member {other}")));
        let share = self.settings.quorum_share * (peers.count() + 1) as f64;
        let (tripped, needed) = (tripped.count(), (share.ceil() as usize).max(2));
        assert!(
            tripped >= needed,
            "member {index} took over what {tripped} of {needed} have found"
        );
    }

    /// Lets a member see what its breaker has done.
    fn look(&mut self, index: usize) {
        let now = self.now;
        for seen in self.replicas[index].events(now) {
            match (seen.from, seen.to, seen.cause) {
                (State::Closed, State::Open, cause) if cause != Cause::Peers => {
                    self.seen.trips += 1;
                    assert!(
                        self.failing.contains(&index),
                        "member {index} has seen nothing"
                    );
                    let life = self.replicas[index].life;
                    self.replicas[index].trips.push((now, life));
                }
                (_, State::Closed, _) => self.replicas[index].closed = now,
                (State::Open, State::HalfOpen, Cause::WaitElapsed) => self.check_probe(index),
                _ => {}
            }
            let told = self.replicas[index]
                .with(now, |it, now, hands| it.observe(NAME, &seen, now, hands))
                .1;
            self.seen.freed += told.freed;
        }
    }

    /// Who probes has the lease, or has had no answer, or follows a probe that has passed.
    fn check_probe(&mut self, index: usize) {
        let replica = &self.replicas[index];
        match replica.claim() {
            Claim::Held(token, _) => {
                let holds = self.lease.is_some_and(|(holder, life, held, until)| {
                    (holder, life, held) == (index, replica.life, *token) && until > self.now
                });
                let is_lost = self.lost.contains(&(index, replica.life, *token));
                assert!(
                    holds || is_lost,
                    "member {index} probes by a lease that is not its own"
                );
                self.seen.leased_probes += 1;
            }
            Claim::Asked(..) | Claim::Alone => self.seen.alone += 1,
            Claim::None => assert!(replica.is_free(), "member {index} probes without asking"),
        }
    }

    /// What a member has for the bus goes under way.
    fn act(&mut self, index: usize) {
        while let Some(act) = self.replicas[index].member.act() {
            let lead = Member::START + self.settings.lead;
            let request = match act {
                Act::Tell(statement) => Request::Tell(statement.to_bytes()),
                Act::Ask { token, .. } => {
                    let replica = &self.replicas[index];
                    let asked = self.now;
                    // The agent gives up by then.
                    let given_up = replica.at(lead).saturating_sub(replica.at(Duration::ZERO));
                    self.later(index, given_up, What::Answered(token, None));
                    Request::Ask(token, asked + given_up)
                }
                Act::Renew { token, .. } => Request::Renew(token, self.asked(index)),
                Act::Release { token, .. } => Request::Release(token),
                Act::Keep(order) => Request::Keep(order),
                Act::Recall => Request::Recall,
            };
            let travels = self.travels();
            self.later(index, travels, What::Request(request));
        }
    }

    fn asked(&mut self, index: usize) -> Duration {
        let now = self.now;
        self.replicas[index].with(now, |_, now, _| now).0
    }

    fn request(&mut self, index: usize, life: u64, request: Request) {
        if !self.replicas[index].is_connected || self.random.f64() < self.loss {
            return;
        }
        let (now, length) = (self.now, self.settings.lease);
        let held = |world: &Self, token| {
            let is_held = |(holder, of, held, until)| {
                (holder, of, held) == (index, life, token) && until > now
            };
            world.lease.is_some_and(is_held)
        };
        match request {
            Request::Tell(bytes) => self.spread(&bytes),
            Request::Ask(token, in_time) => {
                let taken = self.lease.filter(|(.., until)| *until > now);
                let lease = match taken {
                    Some((.., until)) => Lease::Taken(until - now),
                    None => {
                        self.lease = Some((index, life, token, now + length));
                        Lease::Granted
                    }
                };
                let travels = self.travels();
                if now + travels < in_time {
                    self.at(
                        index,
                        life,
                        now + travels,
                        What::Answered(token, Some(lease)),
                    );
                }
            }
            Request::Renew(token, asked) => {
                let still = held(self, token);
                if still {
                    self.lease = Some((index, life, token, now + length));
                }
                let travels = self.travels();
                self.at(
                    index,
                    life,
                    now + travels,
                    What::Renewed(token, asked, still),
                );
            }
            Request::Release(token) => {
                if held(self, token) {
                    self.lease = None;
                }
            }
            Request::Keep(order) => {
                self.orders.insert(order.name.is_some(), (order, now));
            }
            Request::Recall => self.recall(index),
        }
    }

    fn recall(&mut self, index: usize) {
        let kept = self.orders.values().map(|(order, at)| Order {
            left_ms: order
                .left_ms
                .map(|left| left.saturating_sub(millis(self.now - *at))),
            ..order.clone()
        });
        let kept = kept.collect();
        let travels = self.travels();
        self.later(index, travels, What::Recalled(kept));
    }

    fn spread(&mut self, bytes: &[u8]) {
        for index in 0..self.replicas.len() {
            if !self.replicas[index].is_connected || self.random.f64() < self.loss {
                continue;
            }
            let travels = self.travels();
            self.later(index, travels, What::Deliver(bytes.to_vec()));
            if self.random.f64() < self.doubles {
                // Long after, too.
                let travels = self.delay + LATE.mul_f64(self.random.f64());
                self.later(index, travels, What::Deliver(bytes.to_vec()));
            }
        }
    }

    /// Something changes for the worse, or for the better.
    fn disturb(&mut self) {
        let index = self.random.usize(..self.replicas.len());
        match self.random.u8(..12) {
            0..=2 => self.is_well = false,
            3..=4 => self.is_well = true,
            5 => self.replicas[index].has_network = !self.replicas[index].has_network,
            6 => self.replicas[index].is_connected = !self.replicas[index].is_connected,
            7 => {
                // A partition, or its end.
                let connected = self.random.bool();
                for replica in &mut self.replicas {
                    replica.is_connected = connected || self.random.bool();
                }
            }
            8 | 9 => self.restart(index),
            10 => {
                // The server is restarted, empty.
                let lost = self.lease.take();
                self.lost
                    .extend(lost.map(|(holder, life, token, _)| (holder, life, token)));
                self.orders.clear();
            }
            _ => self.order(index),
        }
    }

    fn restart(&mut self, index: usize) {
        self.seen.restarts += 1;
        let (life, config) = (self.replicas[index].life + 1, self.replicas[index].config);
        let (network, trips) = (
            self.replicas[index].has_network,
            std::mem::take(&mut self.replicas[index].trips),
        );
        let mut replica = self.start(index, life, config);
        (replica.has_network, replica.trips) = (network, trips);
        self.replicas[index] = replica;
        self.wake(index);
        self.later(index, MILLI, What::Call);
        self.recall(index);
    }

    fn order(&mut self, index: usize) {
        let action = [
            Action::ForceOpen,
            Action::Close,
            Action::Disable,
            Action::ObserveOnly,
            Action::Resume,
        ];
        let action = action[self.random.usize(..5)];
        let name = self.random.bool().then(|| NAME.into());
        let left = self
            .random
            .bool()
            .then(|| SECOND.mul_f64(self.random.f64() * 10.0));
        self.order_by(index, (name, action, left));
    }

    fn order_by(
        &mut self,
        index: usize,
        order: (Option<std::sync::Arc<str>>, Action, Option<Duration>),
    ) {
        let now = self.now;
        let said = ("drill".into(), "simulation".into());
        let told = self.replicas[index]
            .with(now, |it, now, hands| it.order(order, said, now, hands))
            .1;
        self.follow(index, told);
        self.wake(index);
    }

    /// From now on all is well: the upstream, the network, the server. What was ordered is ended.
    fn heal(&mut self) {
        (self.is_well, self.loss, self.doubles) = (true, 0.0, 0.0);
        let disturbs: Vec<u64> = self
            .pending
            .iter()
            .filter(|(_, (.., what))| matches!(what, What::Disturb))
            .map(|(number, _)| *number)
            .collect();
        for number in disturbs {
            self.pending.remove(&number);
            self.queue.retain(|Reverse((_, other))| *other != number);
        }
        for replica in &mut self.replicas {
            replica.is_connected = true;
            replica.has_network = true;
        }
        // Who orders knows of the other orders by then.
        self.until(self.now + SECOND * 3);
        for index in 0..self.replicas.len() {
            self.recall(index);
        }
        self.until(self.now + SECOND * 2);
        self.order_by(0, (Some(NAME.into()), Action::Resume, None));
    }
}
