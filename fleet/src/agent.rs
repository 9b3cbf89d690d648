//! What runs a member beside its calls: one thread, which hears the breakers and the bus and does what the member says.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cutout::{Cause, Event, Label, State};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep_until, timeout};

use crate::breakers::{Guarded, Held, Source};
use crate::bus::{Bus, BusError, FromBus, Heard, Kept, Lease};
use crate::health::Health;
use crate::member::{Act, Member, Transition};
use crate::settings::Settings;
use crate::statement::{Action, Ignored, Order};

/// What comes from this process.
pub(crate) enum Input {
    Guard(Arc<dyn Guarded>),
    Watch(Box<dyn Source>),
    Event(Arc<str>, Event),
    Order {
        name: Option<Arc<str>>,
        what: Action,
        left: Option<Duration>,
        reason: Arc<str>,
        author: Arc<str>,
    },
}

/// What the bus has answered.
enum Answer {
    Asked(Arc<str>, u64, Option<Lease>),
    Renewed(Arc<str>, u64, Duration, bool),
    Recalled(Vec<Order>),
    Ignored(Ignored),
    Told(Result<(), BusError>),
}

pub(crate) struct Agent<B> {
    pub(crate) bus: B,
    pub(crate) member: Member,
    pub(crate) settings: Settings,
    pub(crate) inputs: mpsc::Receiver<Input>,
    /// How many inputs found no room.
    pub(crate) missed: Arc<Missed>,
    pub(crate) health: Arc<Mutex<Health>>,
    pub(crate) stop: oneshot::Receiver<()>,
}

/// How many transitions had no room in the queue, and whether all is to be looked at anew for that.
#[derive(Debug, Default)]
pub(crate) struct Missed(AtomicU64);

impl Missed {
    pub(crate) fn count(&self) {
        // Relaxed: a count orders nothing.
        self.0.fetch_add(1, Relaxed);
    }

    fn get(&self) -> u64 {
        // Relaxed: as above.
        self.0.load(Relaxed)
    }
}

/// How many statements and answers wait to be taken in.
const ROOM: usize = 4096;
/// How often orders that are kept are looked at, in heartbeats.
const RECALLS: u32 = 10;

/// The agent at work.
struct Work<B> {
    agent: Agent<B>,
    held: Held,
    started: Instant,
    answers: mpsc::Sender<Answer>,
    seen: Seen,
    /// Requests of each name at the last heartbeat.
    requests: HashMap<Arc<str>, (u64, Instant)>,
    next_look: Instant,
    looks: u32,
    missed: u64,
    /// How many statements found no room.
    lost: Arc<AtomicU64>,
}

/// What is told by [`Health`].
#[derive(Default)]
struct Seen {
    is_up: bool,
    trouble: Option<Arc<str>>,
    sent: u64,
    not_sent: u64,
    heard: u64,
    ignored: BTreeMap<Ignored, u64>,
    shown: Option<Instant>,
}

impl<B: Bus> Agent<B> {
    pub(crate) async fn run(self) {
        let (to, mut from_bus) = mpsc::channel(ROOM);
        let (answers, mut answered) = mpsc::channel(ROOM);
        let lost = Arc::<AtomicU64>::default();
        let heard = Heard {
            to,
            lost: Arc::clone(&lost),
        };
        tokio::spawn(self.bus.clone().run(heard));
        let now = Instant::now();
        let mut work = Work {
            held: Held::default(),
            started: now,
            answers,
            seen: Seen::default(),
            requests: HashMap::new(),
            next_look: now,
            looks: 0,
            missed: 0,
            lost,
            agent: self,
        };
        loop {
            work.act();
            work.show();
            let wake = work.started + work.agent.member.next().saturating_sub(Member::START);
            tokio::select! {
                _ = &mut work.agent.stop => break,
                Some(input) = work.agent.inputs.recv() => work.take(input),
                Some(said) = from_bus.recv() => work.hear(said),
                Some(answer) = answered.recv() => work.taken(answer),
                () = sleep_until(wake.min(work.next_look).into()) => {}
            }
            work.look();
            let now = work.now();
            work.agent.member.tick(now, &mut work.held);
        }
        work.end().await;
    }
}

impl<B: Bus> Work<B> {
    fn now(&self) -> Duration {
        Member::START + self.started.elapsed()
    }

    /// Something of this process.
    fn take(&mut self, input: Input) {
        let now = self.now();
        match input {
            Input::Guard(breaker) => {
                self.held.add(&breaker);
                self.agent.member.leave(breaker.name());
                self.join(&breaker);
                self.agent.member.restored(breaker.name());
            }
            Input::Watch(source) => self.held.add_source(source),
            Input::Event(name, event) => {
                if !self.agent.member.has(&name) || self.held.get(&name).is_none() {
                    self.agent.member.leave(&name);
                    let wanted = |found: &str| *found == *name;
                    // Its event is among what is found.
                    self.held
                        .find(&wanted)
                        .iter()
                        .for_each(|breaker| self.join(breaker));
                    return;
                }
                let seen = self.transition(&name, &event);
                self.agent.member.observe(&name, &seen, now, &mut self.held);
            }
            Input::Order {
                name,
                what,
                left,
                reason,
                author,
            } => {
                self.find(&|_| true);
                let order = (name, what, left);
                let said = (reason, author);
                self.agent.member.order(order, said, now, &mut self.held);
            }
        }
    }

    fn transition(&self, name: &str, event: &Event) -> Transition {
        let left = match event.to {
            State::Open => self.held.get(name).and_then(|it| it.snapshot().remaining),
            _ => None,
        };
        Transition {
            from: event.from,
            to: event.to,
            cause: event.cause,
            counts: event.counts,
            label: event.label.as_deref().map(Label::new),
            left: left.unwrap_or_default(),
        }
    }

    /// A breaker is there, as it is now.
    fn join(&mut self, breaker: &Arc<dyn Guarded>) {
        let (name, now) = (Arc::<str>::from(breaker.name()), self.now());
        let snapshot = breaker.snapshot();
        self.agent
            .member
            .join(&name, &breaker.config(), now, &mut self.held);
        if snapshot.state == State::Closed {
            return;
        }
        let trip = snapshot.evidence.trip;
        let cause = snapshot.cause.unwrap_or(Cause::Operator);
        let seen = Transition {
            from: State::Closed,
            to: snapshot.state,
            // What a breaker was told by others is nothing that it has seen.
            cause: if cause == Cause::Peers {
                Cause::Operator
            } else {
                cause
            },
            counts: trip.as_ref().map(|trip| trip.counts).unwrap_or_default(),
            label: trip.and_then(|trip| trip.label.as_deref().map(Label::new)),
            left: snapshot.remaining.unwrap_or_default(),
        };
        self.agent.member.observe(&name, &seen, now, &mut self.held);
    }

    fn find(&mut self, wanted: &dyn Fn(&str) -> bool) {
        for breaker in self.held.find(wanted) {
            self.join(&breaker);
        }
    }

    /// Something from the bus.
    fn hear(&mut self, said: FromBus) {
        let now = self.now();
        match said {
            FromBus::Up => {
                self.seen.is_up = true;
                self.recall();
                tracing::info!(member = %self.agent.member.name(), "the fleet is connected");
            }
            FromBus::Down(why) => {
                if self.seen.is_up || self.seen.trouble.is_none() {
                    tracing::warn!(%why, "the fleet is not connected: each breaker acts by itself");
                }
                self.seen.is_up = false;
                self.seen.trouble = Some(why.into());
            }
            FromBus::Said(bytes) => match self.agent.member.hear(&bytes, now, &mut self.held) {
                Ok(of_another) => self.seen.heard += u64::from(of_another),
                Err(why) => self.ignore(why),
            },
            FromBus::Ignored(why) => self.ignore(why),
        }
    }

    fn ignore(&mut self, why: Ignored) {
        let times = self.seen.ignored.entry(why).or_default();
        *times += 1;
        // Once: it may come as often as somebody likes. What is old is no fault of anybody.
        if *times == 1 && why != Ignored::Old {
            tracing::warn!(
                why = why.label(),
                "something came that no member of this fleet says: it is ignored"
            );
        }
    }

    /// Something that was asked of the bus.
    fn taken(&mut self, answer: Answer) {
        let now = self.now();
        let Self { agent, held, .. } = self;
        match answer {
            Answer::Asked(name, token, lease) => {
                agent.member.answered(&name, token, lease, now, held);
            }
            Answer::Renewed(name, token, asked, still) => {
                agent.member.renewed(&name, token, asked, still);
            }
            Answer::Recalled(orders) => {
                if !orders.is_empty() {
                    self.find(&|_| true);
                }
                self.agent.member.recalled(orders, now, &mut self.held);
            }
            Answer::Ignored(why) => self.ignore(why),
            Answer::Told(Ok(())) => self.seen.sent += 1,
            Answer::Told(Err(_)) => self.seen.not_sent += 1,
        }
    }

    /// With each heartbeat: what came and went, and how many calls there are.
    fn look(&mut self) {
        let now = Instant::now();
        let missed = self.agent.missed.get();
        if now < self.next_look && missed == self.missed {
            return;
        }
        self.next_look = now + self.agent.settings.heartbeat;
        for name in self.held.sweep() {
            self.agent.member.leave(&name);
            self.requests.remove(&name);
        }
        if missed != self.missed {
            // Transitions were lost: so that each breaker is seen as it is.
            self.missed = missed;
            let names: Vec<_> = self.held.names().cloned().collect();
            for name in names {
                if let Some(breaker) = self.held.get(&name) {
                    self.agent.member.leave(&name);
                    self.join(&breaker);
                }
            }
        }
        let questions = self.agent.member.questions();
        if !questions.is_empty() {
            self.find(&|name| questions.iter().any(|asked| **asked == *name));
        }
        let names: Vec<_> = self.held.names().cloned().collect();
        for name in names {
            let Some(breaker) = self.held.get(&name) else {
                continue;
            };
            let calls = breaker.requests().map(|requests| {
                let last = self.requests.insert(Arc::clone(&name), (requests, now));
                let (before, since) = last.unwrap_or((requests, now));
                let seconds = now.duration_since(since).as_secs_f64();
                requests.saturating_sub(before) as f64 / seconds.max(0.001)
            });
            self.agent.member.refresh(&name, &breaker.config(), calls);
        }
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(RECALLS) {
            self.recall();
        }
    }

    /// Does what the member has for the bus.
    fn act(&mut self) {
        while let Some(act) = self.agent.member.act() {
            let (bus, settings) = (self.agent.bus.clone(), self.agent.settings);
            let incarnation = self.agent.member.incarnation();
            let member = Arc::clone(self.agent.member.name());
            let token = move |token: u64| format!("{member}:{incarnation}:{token}");
            let (beat, lease) = (settings.heartbeat, settings.lease);
            match act {
                Act::Tell(statement) => {
                    let bytes = statement.to_bytes();
                    self.spawn(async move { Answer::Told(within(beat, bus.tell(bytes)).await) });
                }
                Act::Ask { name, token: number } => self.spawn(async move {
                    // What comes later than the wait ends is of no use.
                    let token = token(number);
                    let asked = bus.lease(&name, &token, lease);
                    let answer = within(settings.lead, asked).await;
                    Answer::Asked(name.clone(), number, answer.ok())
                }),
                Act::Renew { name, token: number } => {
                    let asked = self.now();
                    self.spawn(async move {
                        let token = token(number);
                        let still = within(beat, bus.renew(&name, &token, lease)).await;
                        // Without an answer it lasts for as long as is known.
                        let (asked, still) = still.map_or((Duration::ZERO, true), |it| (asked, it));
                        Answer::Renewed(name.clone(), number, asked, still)
                    });
                }
                Act::Release { name, token: number } => self.spawn(async move {
                    let released = within(lease, bus.release(&name, &token(number))).await;
                    Answer::Told(released)
                }),
                Act::Keep(order) => self.spawn(async move {
                    // That what was before it has ended is true for good.
                    let left = order.left_ms.filter(|_| order.what != Action::Close);
                    let left = left.map(Duration::from_millis);
                    let key = order.name.as_deref().unwrap_or_default();
                    let kept = bus.keep(key, order.to_bytes(), left);
                    let kept = within(Duration::from_secs(5), kept).await;
                    if let Err(error) = &kept {
                        tracing::warn!(%error, "an order is not kept for members that join later: it is tried again");
                    }
                    Answer::Told(kept)
                }),
                Act::Recall => self.recall(),
            }
        }
    }

    /// Asks for the orders that are kept.
    fn recall(&self) {
        let (bus, answers) = (self.agent.bus.clone(), self.answers.clone());
        tokio::spawn(async move {
            let kept = bus.kept(crate::statement::MAX_ORDERS);
            let Ok(kept) = within(Duration::from_secs(5), kept).await else {
                return;
            };
            let mut orders = Vec::new();
            for Kept { order, left } in kept {
                match Order::read(&order) {
                    Ok(order) => orders.push(Order {
                        left_ms: left.map(crate::statement::millis),
                        ..order
                    }),
                    Err(_) => {
                        let _ = answers.send(Answer::Ignored(Ignored::Key)).await;
                    }
                }
            }
            let _ = answers.send(Answer::Recalled(orders)).await;
        });
    }

    fn spawn(&self, request: impl Future<Output = Answer> + Send + 'static) {
        let answers = self.answers.clone();
        tokio::spawn(async move {
            let _ = answers.send(request.await).await;
        });
    }

    /// Lets others see how it is, some times a second.
    fn show(&mut self) {
        let now = Instant::now();
        let is_due = |shown: Instant| now - shown >= Duration::from_millis(20);
        if !self.seen.shown.is_none_or(is_due) {
            return;
        }
        self.seen.shown = Some(now);
        let mut health = self.agent.member.health(self.now());
        health.is_connected = self.seen.is_up;
        health.trouble.clone_from(&self.seen.trouble);
        (health.sent, health.not_sent) = (self.seen.sent, self.seen.not_sent);
        health.heard = self.seen.heard;
        health.ignored = self
            .seen
            .ignored
            .iter()
            .map(|(why, times)| (*why, *times))
            .collect();
        // Relaxed: a count orders nothing.
        health.dropped = self.missed + self.lost.load(Relaxed);
        *self
            .agent
            .health
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = health;
    }

    /// Gives back what it has.
    async fn end(mut self) {
        self.agent.member.end();
        let (bus, member) = (self.agent.bus.clone(), &mut self.agent.member);
        let (name, incarnation) = (Arc::clone(member.name()), member.incarnation());
        while let Some(act) = member.act() {
            if let Act::Release {
                name: probed,
                token,
            } = act
            {
                let token = format!("{name}:{incarnation}:{token}");
                let _ = within(Duration::from_millis(200), bus.release(&probed, &token)).await;
            }
        }
    }
}

async fn within<T>(
    length: Duration,
    request: impl Future<Output = Result<T, BusError>>,
) -> Result<T, BusError> {
    timeout(length, request)
        .await
        .unwrap_or(Err(BusError::TooLong))
}
