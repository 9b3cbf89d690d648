//! A breaker and the sequential model, driven together: whatever is done to
//! one is done to the other, and everything that can be observed of the two is compared.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cutout::model::{Model, ModelPermit};
use cutout::{
    AnyPermit, Breaker, Clock, Config, ConfigError, Counts, Event, Label, ManualClock, Outcome,
    Overdue, OwnedPermit, Rejected, Report, Settled, Snapshot, Window,
};

/// The reason given with every operator action.
pub(crate) const REASON: &str = "drill";

/// What both draw their jitter from.
const SEED: u64 = 7;

/// What the windows of others held.
const PEER: Counts = Counts {
    samples: 20,
    failures: 11,
    timeouts: 1,
    slow: 2,
};

/// How many transitions [`Breaker::log`] keeps.
const LOG: usize = 64;

/// A breaker, its model, and the clock that both go by.
pub(crate) struct Lockstep {
    clock: ManualClock,
    breaker: Arc<Breaker<ManualClock>>,
    model: Model,
    log: bool,
    heard: Arc<Mutex<Vec<Event>>>,
    history: Vec<Event>,
}

/// A permit of each.
pub(crate) struct Held {
    breaker: OwnedPermit<ManualClock>,
    model: ModelPermit,
}

/// Settles a permit of either kind by the method that says it shortest.
macro_rules! settle {
    ($permit:expr, $report:expr) => {
        match ($report.outcome, $report.elapsed, $report.retry_after) {
            _ if $report.label.is_some() => $permit.done($report),
            (Outcome::Success, None, None) => $permit.success(),
            (Outcome::Failure, None, None) => $permit.failure(),
            (Outcome::Timeout, None, None) => $permit.timeout(),
            (Outcome::Ignored, None, None) => $permit.ignore(),
            (Outcome::Answered, None, None) => $permit.answered(),
            (outcome, Some(elapsed), None) => $permit.done_after(outcome, elapsed),
            _ => $permit.done($report),
        }
    };
}

impl Lockstep {
    /// Both built by `config` at the clock's present time, with a log or without.
    pub(crate) fn new(config: Config, clock: &ManualClock, log: bool) -> Result<Self, ConfigError> {
        let model = Model::new(config, clock.now()).map(|model| model.jitter_seed(SEED));
        Self::build(config, clock, log, None, model)
    }

    /// Both built by `config`, going on where `snapshot` was taken.
    pub(crate) fn restore(
        config: Config,
        clock: &ManualClock,
        log: bool,
        snapshot: &Snapshot,
    ) -> Result<Self, ConfigError> {
        let model = Model::restore(config, snapshot, clock.now(), clock.unix_time());
        let model = model.map(|model| model.jitter_seed(SEED));
        Self::build(config, clock, log, Some(snapshot), model)
    }

    fn build(
        config: Config,
        clock: &ManualClock,
        log: bool,
        snapshot: Option<&Snapshot>,
        model: Result<Model, ConfigError>,
    ) -> Result<Self, ConfigError> {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&heard);
        let mut builder = Breaker::builder()
            .config(config)
            .log(log)
            .jitter_seed(SEED)
            .clock(clock.clone())
            .listener(move |event| listener.lock().unwrap().push(event.clone()));
        if let Some(snapshot) = snapshot {
            builder = builder.restore(snapshot.clone());
        }
        let (breaker, model) = match (builder.build(), model) {
            (Ok(breaker), Ok(model)) => (breaker, model),
            (breaker, model) => {
                let refused = model.unwrap_err();
                assert_eq!(breaker.unwrap_err(), refused, "refused configs");
                return Err(refused);
            }
        };
        let mut lockstep = Self {
            clock: clock.clone(),
            breaker: Arc::new(breaker),
            model,
            log,
            heard,
            history: Vec::new(),
        };
        lockstep.compare();
        Ok(lockstep)
    }

    /// All transitions so far.
    pub(crate) fn history(&self) -> &[Event] {
        &self.history
    }

    /// The model, which is known to be like the breaker.
    pub(crate) const fn model(&self) -> &Model {
        &self.model
    }

    /// The clock's reading.
    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// The present state, as it would be stored.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.breaker.snapshot()
    }

    /// Asks for admission.
    pub(crate) fn allow(&mut self) -> Result<Held, Rejected> {
        let model = self.model.allow(self.now());
        let answer = match (self.breaker.allow_owned(), model) {
            (Ok(breaker), Ok(model)) => {
                assert_eq!(breaker.generation(), model.generation(), "permits");
                assert_eq!(breaker.is_probe(), model.is_probe(), "permits");
                Ok(Held { breaker, model })
            }
            (breaker, model) => {
                assert_eq!(breaker.err(), model.clone().err(), "rejections");
                Err(model.unwrap_err())
            }
        };
        self.compare();
        answer
    }

    /// Settles a permit.
    pub(crate) fn done(&mut self, held: Held, report: Report) -> Settled {
        let settled = self.model.done(held.model, report, self.now());
        assert_eq!(settle!(held.breaker, report), settled, "settled");
        self.compare();
        settled
    }

    /// Makes `times` calls that each come to `report` at once. The answers are
    /// compared each time, the rest at the end; the last answer is given.
    pub(crate) fn calls(
        &mut self,
        times: u32,
        report: Report,
    ) -> Option<Result<Settled, Rejected>> {
        let now = self.now();
        let mut last = None;
        for _ in 0..times {
            let model = self.model.allow(now);
            let model = model.map(|permit| self.model.done(permit, report, now));
            let breaker = self.breaker.allow();
            let breaker = breaker.map(|permit| settle!(permit, report));
            assert_eq!(breaker, model, "answers");
            last = Some(model);
        }
        self.compare();
        last
    }

    /// Drops a permit.
    pub(crate) fn drop(&mut self, held: Held) -> Settled {
        let settled = self.model.drop_permit(held.model, false, self.now());
        drop(held.breaker);
        self.compare();
        settled
    }

    /// Has a thread's panic drop a permit.
    pub(crate) fn panic(&mut self, held: Held) -> Settled {
        let settled = self.model.drop_permit(held.model, true, self.now());
        let call = AssertUnwindSafe(|| {
            let _permit = held.breaker;
            // As `panic!`, without the message on stderr.
            resume_unwind(Box::new("the call panicked"))
        });
        assert!(catch_unwind(call).is_err());
        self.compare();
        settled
    }

    /// Takes a permit back for a call that is not made.
    pub(crate) fn withdraw(&mut self, held: Held) {
        self.model.withdraw(held.model, self.now());
        held.breaker.withdraw();
        self.compare();
    }

    /// Never settles a permit.
    pub(crate) fn forget(&mut self, held: Held) {
        std::mem::forget(held.breaker);
        self.compare();
    }

    /// Moves the clock and its wall time forward.
    pub(crate) fn advance(&mut self, by: Duration) {
        self.clock.advance(by);
        self.compare();
    }

    /// Sets the clock's reading, backwards too.
    pub(crate) fn set_clock(&mut self, reading: u64) {
        self.clock.set(Duration::from_nanos(reading));
        self.compare();
    }

    /// Sets the wall time, backwards too.
    pub(crate) fn set_wall(&mut self, since_epoch: Duration) {
        self.clock.set_unix_time(since_epoch);
        self.compare();
    }

    /// Operator: rejects all calls.
    pub(crate) fn force_open(&mut self, how_long: Option<Duration>) {
        self.model.force_open(how_long, REASON, self.now());
        self.breaker.force_open(how_long, REASON);
        self.compare();
    }

    /// Operator: closes.
    pub(crate) fn close(&mut self) {
        self.model.close(REASON, self.now());
        self.breaker.close(REASON);
        self.compare();
    }

    /// Operator: admits all calls.
    pub(crate) fn disable(&mut self) {
        self.model.disable(REASON, self.now());
        self.breaker.disable(REASON);
        self.compare();
    }

    /// Operator: admits all calls and records them.
    pub(crate) fn observe_only(&mut self) {
        self.model.observe_only(REASON, self.now());
        self.breaker.observe_only(REASON);
        self.compare();
    }

    /// Operator: goes back to what was before the operator's actions.
    pub(crate) fn resume(&mut self) -> bool {
        let resumed = self.model.resume(REASON, self.now());
        assert_eq!(self.breaker.resume(REASON), resumed, "resume");
        self.compare();
        resumed
    }

    /// Peers: others have tripped.
    pub(crate) fn take_over(&mut self) -> bool {
        let label = Some(Label::new("peer"));
        let opened = self.model.take_over(PEER, label, self.now());
        assert_eq!(self.breaker.take_over(PEER, label), opened, "take over");
        self.compare();
        opened
    }

    /// Peers: waits for so long.
    pub(crate) fn set_wait(&mut self, wait: Duration) -> bool {
        let set = self.model.set_wait(wait, self.now());
        assert_eq!(self.breaker.set_wait(wait), set, "set wait");
        self.compare();
        set
    }

    /// Replaces the config, if it is legal.
    pub(crate) fn reconfigure(&mut self, config: Config) -> Result<(), ConfigError> {
        let answer = self.model.reconfigure(config, self.now());
        assert_eq!(self.breaker.reconfigure(config), answer, "reconfigure");
        self.compare();
        answer
    }

    /// Compares the new transitions, then everything that can be read. That
    /// reading changes nothing is seen at the next step.
    fn compare(&mut self) {
        let transitions = self.model.take_events();
        assert_eq!(self.take_heard(), transitions, "events");
        self.history.extend(transitions);
        self.compare_reads();
        assert_eq!(self.take_heard(), [], "events of reading");
    }

    fn take_heard(&self) -> Vec<Event> {
        std::mem::take(&mut *self.heard.lock().unwrap())
    }

    fn compare_reads(&self) {
        let (breaker, model, now) = (&self.breaker, &self.model, self.now());
        assert_eq!(breaker.state(), model.state(now), "state");
        assert_eq!(breaker.generation(), model.generation(), "generation");
        assert_eq!(breaker.is_available(), model.is_available(now), "available");
        assert_eq!(breaker.refusal(), model.refusal(now), "refusal");
        assert_eq!(breaker.evidence(), model.evidence(now), "evidence");
        let snapshot = model.snapshot(now, self.clock.unix_time());
        assert_eq!(breaker.snapshot(), snapshot, "snapshot");
        assert_eq!(breaker.stale(), model.stale(), "stale outcomes");
        assert_eq!(breaker.config(), stored(model.config()), "config");
        let kept = if self.log { LOG } else { 0 };
        let first = self.history.len().saturating_sub(kept);
        assert_eq!(breaker.log(), self.history[first..], "log");
    }
}

/// A config as it can be read back: durations above 584 years count as that long.
fn stored(mut config: Config) -> Config {
    let longest = Duration::from_nanos(u64::MAX);
    for duration in [&mut config.open_wait.base, &mut config.open_wait.max] {
        *duration = longest.min(*duration);
    }
    if let Window::Time { length, .. } = &mut config.window {
        *length = longest.min(*length);
    }
    if let Window::Cusum(cusum) = &mut config.window
        && let Some(slow) = &mut cusum.slow
    {
        slow.limit = longest.min(slow.limit);
    }
    config.probe_lease = config.probe_lease.map(|lease| lease.min(longest));
    config.ramp = config.ramp.map(|ramp| ramp.min(longest));
    config.abandoned_after = config.abandoned_after.map(|after| after.min(longest));
    if let Some(Overdue::Timeout(limit)) = &mut config.overdue {
        *limit = longest.min(*limit);
    }
    if let Some(rule) = &mut config.slow {
        rule.limit = rule.limit.min(longest);
    }
    config
}
