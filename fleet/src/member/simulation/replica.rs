//! One process of a simulated fleet.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cutout::{Breaker, Clock, Config, Counts, Event, Label, ManualClock, OpenWait, OwnedPermit};

use crate::member::local::{Claim, Standing};
use crate::member::{Breakers, Member, Transition};
use crate::settings::Settings;
use crate::statement::Action;

pub(super) const NAME: &str = "upstream";

pub(super) struct Replica {
    pub(super) member: Member,
    pub(super) breaker: Arc<Breaker<ManualClock>>,
    clock: ManualClock,
    events: Arc<Mutex<Vec<Event>>>,
    /// How fast its clock goes, and when it started, by the true one.
    speed: f64,
    started: Duration,
    pub(super) config: Config,
    /// Counts the starts of it: what was under way for an earlier one is not for this.
    pub(super) life: u64,
    pub(super) is_alive: bool,
    /// Whether it reaches the bus.
    pub(super) is_connected: bool,
    /// Whether it reaches the upstream.
    pub(super) has_network: bool,
    /// When it last closed, by the true clock.
    pub(super) closed: Duration,
    /// The number of its next wake: those before it are off.
    pub(super) wake: u64,
    pub(super) trips: Vec<(Duration, u64)>,
    pub(super) calls: Duration,
}

/// What a replica's breaker was told, to be looked at.
#[derive(Default)]
pub(super) struct Told {
    pub(super) takeovers: Vec<Counts>,
    pub(super) freed: u64,
    pub(super) orders: u64,
}

pub(super) struct Hands<'a> {
    breaker: &'a Breaker<ManualClock>,
    told: &'a mut Told,
}

impl Breakers for Hands<'_> {
    fn take_over(&mut self, _: &str, counts: Counts, label: Option<Label>) -> Option<Duration> {
        let opened = self.breaker.take_over(counts, label);
        if opened {
            self.told.takeovers.push(counts);
        }
        opened.then(|| self.breaker.snapshot().remaining.unwrap_or_default())
    }

    fn set_wait(&mut self, _: &str, wait: Duration) -> bool {
        let set = self.breaker.set_wait(wait);
        self.told.freed += u64::from(set && wait.is_zero());
        set
    }

    fn order(&mut self, _: &str, what: Action, left: Option<Duration>, reason: &str) {
        self.told.orders += 1;
        match what {
            Action::ForceOpen => self.breaker.force_open(left, reason),
            Action::Close => self.breaker.close(reason),
            Action::Disable => self.breaker.disable(reason),
            Action::ObserveOnly => self.breaker.observe_only(reason),
            Action::Resume => _ = self.breaker.resume(reason),
        }
    }
}

impl Replica {
    pub(super) fn new(
        (index, life): (usize, u64),
        config: Config,
        (speed, now, seed): (f64, Duration, u64),
        settings: Settings,
    ) -> Self {
        let (clock, events) = (ManualClock::new(), Arc::<Mutex<Vec<Event>>>::default());
        let listener = Arc::clone(&events);
        let breaker = Breaker::builder()
            .config(config)
            .name(NAME)
            .clock(clock.clone())
            .jitter_seed(seed)
            .listener(move |event| listener.lock().unwrap().push(event.clone()))
            .build()
            .unwrap();
        let name = format!("member {index}").into();
        let mut replica = Self {
            member: Member::new(settings, name, life, seed),
            breaker: Arc::new(breaker),
            clock,
            events,
            speed,
            started: now,
            config,
            life,
            is_alive: true,
            is_connected: true,
            has_network: true,
            closed: Duration::ZERO,
            wake: 0,
            trips: Vec::new(),
            calls: Duration::from_millis(20 + seed % 180),
        };
        replica.with(now, |member, now, hands| {
            member.join(&NAME.into(), &config, now, hands);
        });
        replica
    }

    pub(super) fn config(careful: bool) -> Config {
        Config::default().with(|config| {
            config.consecutive_failures = Some(if careful { 4 } else { 3 });
            config.open_wait =
                OpenWait::exponential(Duration::from_secs(1), 2.0, Duration::from_secs(4))
                    .jitter_percent(20);
            config.probe_lease = Some(Duration::from_secs(2));
        })
    }

    fn local(&self, now: Duration) -> Duration {
        Member::START + now.saturating_sub(self.started).mul_f64(self.speed)
    }

    /// The true time at which its clock reads this.
    pub(super) fn at(&self, local: Duration) -> Duration {
        self.started + local.saturating_sub(Member::START).div_f64(self.speed)
    }

    /// Does something to the member, and lets it see what its breaker does then.
    pub(super) fn with<T>(
        &mut self,
        now: Duration,
        act: impl FnOnce(&mut Member, Duration, &mut Hands<'_>) -> T,
    ) -> (T, Told) {
        let local = self.local(now);
        self.clock.set(local);
        let mut told = Told::default();
        let mut hands = Hands {
            breaker: &self.breaker,
            told: &mut told,
        };
        let done = act(&mut self.member, local, &mut hands);
        (done, told)
    }

    /// A call, if it is admitted.
    pub(super) fn call(&self, now: Duration) -> Option<OwnedPermit<ManualClock>> {
        self.clock.set(self.local(now));
        self.breaker.allow_owned().ok()
    }

    /// What its breaker has done since the last look.
    pub(super) fn events(&self, now: Duration) -> Vec<Transition> {
        self.clock.set(self.local(now));
        let events = std::mem::take(&mut *self.events.lock().unwrap());
        let left = self.breaker.snapshot().remaining.unwrap_or_default();
        let transition = |event: Event| Transition {
            from: event.from,
            to: event.to,
            cause: event.cause,
            counts: event.counts,
            label: None,
            left,
        };
        events.into_iter().map(transition).collect()
    }

    pub(super) fn claim(&self) -> &Claim {
        &self.member.names[NAME].claim
    }

    /// Whether it need not ask: another's probe has passed, or an operator's order has left it no time to.
    pub(super) fn is_free(&self) -> bool {
        match self.member.names[NAME].is {
            Standing::Open { from, until, free } => {
                free || until.saturating_sub(from) < Duration::from_millis(5)
            }
            _ => false,
        }
    }

    /// The members that it listens to.
    pub(super) fn peers(&self) -> impl Iterator<Item = &str> {
        self.member.peers.live.keys().map(|name| &**name)
    }

    pub(super) fn state(&self, now: Duration) -> cutout::State {
        self.clock.set(self.local(now));
        debug_assert!(self.clock.now() > 0 || now == self.started);
        self.breaker.state()
    }
}
