//! What waits to be written: bounded, and merged where it can be.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rusqlite::Connection;

use super::followed::Followed;
use super::{ProbeResult, Spending, Status, StoreError, Totals};
use crate::events::Transition;

/// Something to ask the database, and where the answer goes.
pub(super) type Question = Box<dyn FnOnce(&Connection) + Send>;

/// Where what was spent is read.
pub(super) type Spender = Arc<dyn Fn() -> Spending + Send + Sync>;

/// So many questions may wait for an answer.
const MAX_QUESTIONS: usize = 64;

/// What the writing thread takes at a time.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) transitions: VecDeque<(Arc<Followed>, Arc<Transition>)>,
    pub(super) probes: VecDeque<ProbeResult>,
    /// Breakers that are no longer followed, for their last health.
    pub(super) left: Vec<Arc<Followed>>,
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.transitions.is_empty() && self.probes.is_empty() && self.left.is_empty()
    }
}

/// What the writing thread is to do next.
pub(super) struct Work {
    pub(super) batch: Batch,
    pub(super) questions: Vec<Question>,
    pub(super) followed: Vec<Arc<Followed>>,
    pub(super) spender: Option<Spender>,
    /// This is the last of it.
    pub(super) closing: bool,
}

/// The bounded inbox. Its lock is held for a few instructions at a time, never
/// while the database is at work.
pub(super) struct Inbox {
    limit: usize,
    queue: Mutex<Queue>,
    wake: Condvar,
}

#[derive(Default)]
struct Queue {
    batch: Batch,
    questions: Vec<Question>,
    followed: Vec<Arc<Followed>>,
    spender: Option<Spender>,
    /// What the calls of breakers came to that are not followed.
    earlier: BTreeMap<String, Totals>,
    closing: bool,
    status: Status,
}

impl Inbox {
    pub(super) fn new(
        path: Option<&Path>,
        limit: usize,
        earlier: BTreeMap<String, Totals>,
    ) -> Self {
        let queue = Queue {
            earlier,
            status: Status {
                path: path.map(Path::to_owned),
                ..Status::default()
            },
            ..Queue::default()
        };
        Self {
            limit,
            queue: Mutex::new(queue),
            wake: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Whoever panicked here left whole entries behind.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn follow(&self, breaker: &Arc<Followed>) {
        let mut queue = self.lock();
        if !queue.closing {
            queue.followed.push(Arc::clone(breaker));
        }
    }

    pub(super) fn earlier(&self, breaker: &str) -> Totals {
        self.lock()
            .earlier
            .get(breaker)
            .copied()
            .unwrap_or_default()
    }

    /// Ends the record of a breaker. Its transitions in the inbox happened before
    /// its last health, and no more are taken.
    pub(super) fn leave(&self, breaker: &Arc<Followed>) {
        let mut queue = self.lock();
        if let Some(index) = queue.position(breaker) {
            let breaker = queue.followed.swap_remove(index);
            breaker.end();
            if let Some(health) = breaker.health() {
                queue
                    .earlier
                    .insert(breaker.name.to_string(), health.totals);
            }
            queue.batch.left.push(breaker);
        }
    }

    pub(super) fn transition(&self, breaker: &Arc<Followed>, transition: Arc<Transition>) {
        let mut queue = self.lock();
        if queue.position(breaker).is_none() {
            return;
        }
        queue
            .batch
            .transitions
            .push_back((Arc::clone(breaker), transition));
        queue.keep_to(self.limit);
        drop(queue);
        self.wake.notify_one();
    }

    pub(super) fn probe(&self, result: ProbeResult) {
        let mut queue = self.lock();
        if !queue.closing {
            queue.batch.probes.push_back(result);
            queue.keep_to(self.limit);
        }
    }

    /// Whether the question will be put.
    pub(super) fn ask(&self, question: Question) -> bool {
        let mut queue = self.lock();
        if queue.closing || queue.questions.len() >= MAX_QUESTIONS {
            return false;
        }
        queue.questions.push(question);
        drop(queue);
        self.wake.notify_one();
        true
    }

    pub(super) fn shut(&self) {
        self.lock().closing = true;
        self.wake.notify_one();
    }

    /// Waits until there is a transition or a question, or `until`, and takes all there is.
    pub(super) fn take(&self, until: Instant) -> Work {
        self.take_when(until, Queue::is_urgent)
    }

    /// Waits until there is a question, or `until`, while writing fails.
    pub(super) fn take_patiently(&self, until: Instant) -> Work {
        self.take_when(until, |queue| queue.closing || !queue.questions.is_empty())
    }

    fn take_when(&self, until: Instant, ready: fn(&Queue) -> bool) -> Work {
        let left = until.saturating_duration_since(Instant::now());
        let (mut queue, _) = self
            .wake
            .wait_timeout_while(self.lock(), left, |queue| !ready(queue))
            .unwrap_or_else(PoisonError::into_inner);
        let closing = queue.closing;
        Work {
            batch: std::mem::take(&mut queue.batch),
            questions: std::mem::take(&mut queue.questions),
            followed: if closing {
                std::mem::take(&mut queue.followed)
            } else {
                queue.followed.clone()
            },
            spender: queue.spender.clone(),
            closing,
        }
    }

    /// Reads here from now on what was spent.
    pub(super) fn spends(&self, spender: Spender) {
        self.lock().spender = Some(spender);
    }

    /// Puts back what could not be written, in front of what has come since.
    pub(super) fn give_back(&self, mut batch: Batch) {
        let mut queue = self.lock();
        batch.transitions.append(&mut queue.batch.transitions);
        batch.probes.append(&mut queue.batch.probes);
        batch.left.append(&mut queue.batch.left);
        queue.batch = batch;
        queue.keep_to(self.limit);
    }

    pub(super) fn report(&self, problem: Option<StoreError>) {
        self.lock().status.problem = problem;
    }

    pub(super) fn committed(&self, transitions: usize) {
        let mut queue = self.lock();
        queue.status.commits += 1;
        queue.status.transitions += transitions as u64;
        queue.status.problem = None;
    }

    pub(super) fn status(&self) -> Status {
        self.lock().status.clone()
    }
}

impl Queue {
    fn position(&self, breaker: &Arc<Followed>) -> Option<usize> {
        self.followed
            .iter()
            .position(|other| Arc::ptr_eq(other, breaker))
    }

    fn is_urgent(&self) -> bool {
        self.closing || !self.batch.transitions.is_empty() || !self.questions.is_empty()
    }

    /// The oldest go first.
    fn keep_to(&mut self, limit: usize) {
        while self.batch.transitions.len() > limit {
            self.batch.transitions.pop_front();
            self.status.lost_transitions += 1;
        }
        while self.batch.probes.len() > limit {
            self.batch.probes.pop_front();
            self.status.lost_probes += 1;
        }
    }
}
