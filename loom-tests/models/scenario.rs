//! A scenario: what happens before, what threads do together, what happens
//! after. Its outcomes on the breaker must be those that the sequential model gives
//! over all orders, no more and no fewer.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use cutout_checker::{Explored, Search, Written, alone, concurrent, explore, together};

use crate::concurrent::Concurrent;
use crate::cutout::{Config, ThrottleConfig};
use crate::op::{Op, Permits, System};
use crate::sequential::{Sequential, orders};
use crate::throttle;

#[derive(Clone)]
pub(crate) struct Scenario {
    subject: Subject,
    before: Vec<Op>,
    threads: Vec<Vec<Op>>,
    after: Vec<Op>,
    heard: bool,
    explained: bool,
    sees: Vec<&'static str>,
    lenient: Option<Lenient>,
    lenient_with_old_values: Option<Lenient>,
}

/// What a scenario is of.
#[expect(clippy::large_enum_variant, reason = "there is one of each scenario")]
#[derive(Clone, Copy)]
enum Subject {
    Breaker(Config),
    Throttle(ThrottleConfig),
}

/// Outcomes that no order of the operations gives, and why they are legal.
#[derive(Clone, Copy)]
pub(crate) struct Lenient {
    pub(crate) reason: &'static str,
    pub(crate) allows: fn(&str) -> bool,
}

impl Scenario {
    pub(crate) fn new(config: Config) -> Self {
        Self::of(Subject::Breaker(config))
    }

    pub(crate) fn throttle(config: ThrottleConfig) -> Self {
        Self::of(Subject::Throttle(config))
    }

    const fn of(subject: Subject) -> Self {
        Self {
            subject,
            before: Vec::new(),
            threads: Vec::new(),
            after: Vec::new(),
            heard: false,
            explained: false,
            sees: Vec::new(),
            lenient: None,
            lenient_with_old_values: None,
        }
    }

    /// What happens before the threads run.
    pub(crate) fn before(mut self, ops: impl IntoIterator<Item = Op>) -> Self {
        self.before.extend(ops);
        self
    }

    /// One more thread.
    pub(crate) fn thread(mut self, ops: impl IntoIterator<Item = Op>) -> Self {
        self.threads.push(ops.into_iter().collect());
        self
    }

    /// What happens after the threads have run. The state is looked at before and after this.
    pub(crate) fn after(mut self, ops: impl IntoIterator<Item = Op>) -> Self {
        self.after.extend(ops);
        self
    }

    /// Listens to the transitions; they are part of the outcome.
    pub(crate) fn heard(mut self) -> Self {
        self.heard = true;
        self
    }

    /// The breaker keeps records of its trips, which are part of the outcome.
    pub(crate) fn explained(mut self) -> Self {
        self.explained = true;
        self
    }

    /// Other outcomes than the sequential ones are legal too.
    pub(crate) fn lenient(mut self, reason: &'static str, allows: fn(&str) -> bool) -> Self {
        self.lenient = Some(Lenient { reason, allows });
        self
    }

    /// Other outcomes are legal too where loads may see old values.
    pub(crate) fn lenient_with_old_values(
        mut self,
        reason: &'static str,
        allows: fn(&str) -> bool,
    ) -> Self {
        self.lenient_with_old_values = Some(Lenient { reason, allows });
        self
    }

    /// One of the outcomes must have this in it: what the scenario is about. Without
    /// it a change elsewhere could leave a scenario in which nothing happens.
    pub(crate) fn sees(mut self, text: &'static str) -> Self {
        self.sees.push(text);
        self
    }

    /// Explores the scenario on the breaker and compares.
    pub(crate) fn check(&self, name: &str, search: Search) {
        cutout_checker::keep_records(self.explained);
        let expected = self.expected();
        assert!(
            !self.sees.is_empty(),
            "a scenario that is about nothing: {expected:#?}"
        );
        for text in &self.sees {
            let seen = expected.iter().any(|outcome| outcome.contains(text));
            assert!(seen, "{text} is in none of {expected:#?}");
        }
        let mut written = self.learn(&expected);
        let start = Instant::now();
        let (explored, seen) = loop {
            let (explored, seen) = self.explore(search, &written);
            if explored.missed.is_empty() {
                break (explored, seen);
            }
            written.add(explored.missed);
        };
        println!(
            "{name}: {search:?}: {} executions, {} outcomes, {:.1?}",
            explored.executions,
            seen.len(),
            start.elapsed()
        );
        self.compare(search, &expected, &seen);
    }

    fn compare(&self, search: Search, expected: &BTreeSet<String>, seen: &BTreeSet<String>) {
        let with_old_values = match search {
            Search::Loads(_) => self.lenient_with_old_values,
            _ => None,
        };
        let lenient: Vec<_> = self.lenient.into_iter().chain(with_old_values).collect();
        let allowed = |outcome: &&String| lenient.iter().any(|lenient| (lenient.allows)(outcome));
        let illegal: Vec<_> = seen
            .difference(expected)
            .filter(|outcome| !allowed(outcome))
            .collect();
        let missing: Vec<_> = match search {
            Search::Random(_) | Search::Pct(..) => Vec::new(),
            _ => expected.difference(seen).collect(),
        };
        let besides: String = lenient
            .iter()
            .map(|lenient| format!(", nor by {}", lenient.reason))
            .collect();
        assert!(
            illegal.is_empty() && missing.is_empty(),
            "\nlegal in no order{besides}: {illegal:#?}\nlegal and not seen: {missing:#?}\nlegal: {expected:#?}",
        );
    }

    /// The outcomes of all orders on the model.
    fn expected(&self) -> BTreeSet<String> {
        let play = |order: Vec<usize>| match self.subject {
            Subject::Breaker(config) => self.play(Sequential::new(config), &order),
            Subject::Throttle(config) => self.play(throttle::Sequential::new(config), &order),
        };
        self.orders().into_iter().map(play).collect()
    }

    /// Runs all orders on a breaker with no other thread around. They
    /// come to what the model says, and show which atomics the threads write.
    fn learn(&self, expected: &BTreeSet<String>) -> Written {
        let mut written = Written::default();
        let outcomes = self.orders().into_iter().map(|order| {
            alone(&mut written, || match self.subject {
                Subject::Breaker(config) => self.play(Concurrent::new(config, self.heard), &order),
                Subject::Throttle(config) => self.play(throttle::Concurrent::new(config), &order),
            })
        });
        assert_eq!(
            outcomes.collect::<BTreeSet<_>>(),
            *expected,
            "one at a time"
        );
        written
    }

    fn orders(&self) -> Vec<Vec<usize>> {
        let lengths: Vec<_> = self.threads.iter().map(Vec::len).collect();
        orders(&lengths)
    }

    /// Does everything in one order of the threads' operations.
    fn play<S: System>(&self, mut system: S, order: &[usize]) -> String {
        let mut permits = Permits::new();
        system.apply_all(&self.before, &mut permits);
        let mut answers = vec![Vec::new(); self.threads.len()];
        let mut left: Vec<_> = self.threads.iter().map(|ops| ops.iter()).collect();
        concurrent(self.threads.len(), || {
            for &thread in order {
                let op = left[thread].next().expect("one more operation");
                answers[thread].push(system.apply(op, &mut permits));
            }
        });
        self.finish(system, permits, answers)
    }

    fn explore(&self, search: Search, written: &Written) -> (Explored, BTreeSet<String>) {
        let seen = Arc::new(Mutex::new(BTreeSet::new()));
        let (scenario, outcomes) = (self.clone(), Arc::clone(&seen));
        let explored = explore(search, written, move || {
            let outcome = scenario.run();
            outcomes.lock().unwrap().insert(outcome);
        });
        let seen = std::mem::take(&mut *seen.lock().unwrap());
        (explored, seen)
    }

    /// Runs the threads together, once.
    fn run(&self) -> String {
        match self.subject {
            Subject::Breaker(config) => self.run_on(Concurrent::new(config, self.heard)),
            Subject::Throttle(config) => self.run_on(throttle::Concurrent::new(config)),
        }
    }

    fn run_on<S>(&self, mut system: S) -> String
    where
        S: System<Permit: Send> + Clone + Send + 'static,
    {
        let mut permits = Permits::new();
        system.apply_all(&self.before, &mut permits);
        let threads = self.threads.iter().map(|ops| {
            let used = ops.iter().filter_map(Op::uses);
            let mut permits: Permits<_> = used
                .filter_map(|number| permits.remove_entry(&number))
                .collect();
            let (mut system, ops) = (system.clone(), ops.clone());
            let thread: Box<dyn FnOnce() -> _ + Send> = Box::new(move || {
                let answers = system.apply_all(&ops, &mut permits);
                (answers, permits)
            });
            thread
        });
        let mut answers = Vec::new();
        for (thread, left) in together(threads.collect()) {
            answers.push(thread);
            permits.extend(left);
        }
        self.finish(system, permits, answers)
    }

    /// What it all came to.
    fn finish<S: System>(
        &self,
        mut system: S,
        mut permits: Permits<S::Permit>,
        answers: Vec<Vec<String>>,
    ) -> String {
        let answers: Vec<_> = answers.iter().map(|thread| thread.join(", ")).collect();
        let mut parts = vec![answers.join(" || ")];
        let look = |system: &mut S| {
            let looks = [Op::Snapshot, Op::IsAvailable, Op::Stale];
            let mut told = looks.map(|op| system.operate(&op)).join(", ");
            if self.explained {
                told = format!("{told}, {}", system.operate(&Op::Evidence));
            }
            told
        };
        parts.push(look(&mut system));
        if !self.after.is_empty() {
            parts.push(system.apply_all(&self.after, &mut permits).join(", "));
            parts.push(look(&mut system));
        }
        if self.heard {
            parts.push(system.events());
        }
        parts.join("\n      ")
    }
}
