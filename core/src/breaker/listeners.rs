//! Delivery of events: each once, in the order of generations, to all listeners.
//!
//! The winner of a transition puts its event in a queue. Whoever finds nobody
//! delivering does it, for all that is queued; the others leave theirs and go
//! on. So nobody waits for a listener but the thread that runs it, a
//! listener that causes a transition finds its own thread delivering already, and
//! an event whose predecessor is still to be queued is kept for the thread that brings it.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use crossbeam_queue::{ArrayQueue, SegQueue};

use crate::breaker::contain::contain;
use crate::contract::event::Event;
use crate::engine::sync::{AcqRel, AtomicU64, Relaxed, relax};
use crate::engine::word::Word;

/// A callback for events, told the breaker's name too.
pub(crate) type Listener = Box<dyn Fn(&str, &Event) + Send + Sync>;

/// A callback for probe slots that become free without an event.
pub(crate) type SlotListener = Box<dyn Fn() + Send + Sync>;

/// How many events wait without an allocation, and how many the log keeps.
const CAPACITY: usize = 64;

pub(crate) struct Listeners {
    name: Box<str>,
    listeners: Vec<Listener>,
    slot_listeners: Vec<SlotListener>,
    log: Option<Log>,
    queue: ArrayQueue<Event>,
    /// For a listener so slow that `queue` fills up meanwhile.
    overflow: SegQueue<Event>,
    /// Events that came before their predecessor. Only the thread that
    /// delivers takes it out, so it is there for whoever starts to deliver.
    early: ArrayQueue<BTreeMap<u32, Event>>,
    /// Events queued and not yet seen by the thread that delivers. Who moves it
    /// from zero delivers.
    unseen: AtomicU64,
    /// The generation whose event comes next; written by the thread that delivers.
    next: AtomicU64,
    /// Slots that became free and are not told of yet. Who moves it from zero tells.
    free_slots: AtomicU64,
    panics: AtomicU64,
}

impl Listeners {
    pub(crate) fn new(
        name: Box<str>,
        listeners: Vec<Listener>,
        slot_listeners: Vec<SlotListener>,
        log: bool,
        next_generation: u32,
    ) -> Self {
        let early = ArrayQueue::new(1);
        let _ = early.push(BTreeMap::new());
        Self {
            name,
            listeners,
            slot_listeners,
            log: log.then(Log::new),
            queue: ArrayQueue::new(CAPACITY),
            overflow: SegQueue::new(),
            early,
            unseen: AtomicU64::new(0),
            next: AtomicU64::new(u64::from(next_generation)),
            free_slots: AtomicU64::new(0),
            panics: AtomicU64::new(0),
        }
    }

    pub(crate) fn publish(&self, event: Event) {
        if let Err(event) = self.queue.push(event) {
            self.overflow.push(event);
        }
        // Release: the event is queued before it is counted. Acquire: a new
        // deliverer sees what the last one did. Both pair with each other.
        if self.unseen.fetch_add(1, AcqRel) > 0 {
            return;
        }
        let mut seen = 1;
        while seen > 0 {
            self.deliver_queued();
            seen = self.unseen.fetch_sub(seen, AcqRel) - seen;
        }
    }

    fn deliver_queued(&self) {
        let mut early = self.early.pop().unwrap_or_default();
        let mut next = self.next.load(Relaxed) as u32;
        loop {
            let event = early
                .remove(&next)
                .or_else(|| self.queue.pop())
                .or_else(|| self.overflow.pop());
            match event {
                Some(event) if event.generation == next => {
                    self.deliver(&event);
                    next = (next + 1) % Word::GENERATIONS;
                }
                Some(event) => {
                    early.insert(event.generation, event);
                }
                None => break,
            }
        }
        self.next.store(u64::from(next), Relaxed);
        let _ = self.early.push(early);
    }

    fn deliver(&self, event: &Event) {
        if let Some(log) = &self.log {
            log.recent.force_push(event.clone());
        }
        for listener in &self.listeners {
            contain(|| listener(&self.name, event), &self.panics);
        }
    }

    /// Tells those who wait for a slot. It is no event: it has no order and no content.
    ///
    /// Whoever finds nobody telling does it, for all: so a listener that frees a slot itself finds its
    /// own thread telling already, and is told again after it returns.
    pub(crate) fn tell_slot_free(&self) {
        // Acquire and Release: who tells sees the slots of those who leave it to it. They pair with
        // each other.
        if self.slot_listeners.is_empty() || self.free_slots.fetch_add(1, AcqRel) > 0 {
            return;
        }
        let mut seen = 1;
        while seen > 0 {
            for listener in &self.slot_listeners {
                contain(listener, &self.panics);
            }
            seen = self.free_slots.fetch_sub(seen, AcqRel) - seen;
        }
    }

    pub(crate) fn panics(&self) -> u64 {
        self.panics.load(Relaxed)
    }

    pub(crate) fn log(&self) -> Vec<Event> {
        self.log.as_ref().map(Log::read).unwrap_or_default()
    }
}

/// The last transitions. Delivery never waits for a reader: it replaces the
/// oldest of `recent`, which readers, taking turns, empty into `kept`.
struct Log {
    recent: ArrayQueue<Event>,
    kept: ArrayQueue<VecDeque<Event>>,
}

impl Log {
    fn new() -> Self {
        let kept = ArrayQueue::new(1);
        let _ = kept.push(VecDeque::new());
        Self {
            recent: ArrayQueue::new(CAPACITY),
            kept,
        }
    }

    fn read(&self) -> Vec<Event> {
        let mut kept = loop {
            match self.kept.pop() {
                Some(kept) => break kept,
                None => relax(),
            }
        };
        while let Some(event) = self.recent.pop() {
            kept.push_back(event);
        }
        kept.drain(..kept.len().saturating_sub(CAPACITY));
        let log = kept.iter().cloned().collect();
        let _ = self.kept.push(kept);
        log
    }
}
