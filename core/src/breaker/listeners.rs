//! Delivery of events: each once, in the order of generations, to all listeners.
//!
//! The winner of a transition puts its event in a queue and adds one to the count of unseen events. If the count was zero, this thread
//! delivers: all that is queued, until the count is zero again. If not, another thread is delivering and will find the event; this
//! one goes on. So no thread waits for a listener but the one that runs it. A listener that causes a
//! transition itself finds that a thread is delivering, its own, and returns.
//!
//! For example, A trips the breaker (generation 5) and is interrupted before it queues its event. B makes it half-open (generation 6) and
//! queues event 6: the count was zero, so B delivers. Event 5 comes next and is not there, so B puts event 6 aside, among the
//! early ones. Then A queues event 5 and delivers both.

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
    /// Events that came before their predecessor. Only the thread that delivers takes the map out, and it
    /// puts it back before it ends: so the next thread that delivers finds it.
    early: ArrayQueue<BTreeMap<u32, Event>>,
    /// How many events are queued that the delivering thread has not seen. The thread that moves it from zero
    /// delivers.
    unseen: AtomicU64,
    /// The generation whose event comes next; written by the thread that delivers.
    next: AtomicU64,
    /// How many slots became free that are not told of yet. The thread that moves it from zero tells.
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
        // Release: the event is queued before it is counted; pairs with the acquire below, by which the delivering thread
        // sees it. Acquire: pairs with the release below; a thread that starts to deliver sees what the last one did.
        if self.unseen.fetch_add(1, AcqRel) > 0 {
            return;
        }
        let mut seen = 1;
        while seen > 0 {
            self.deliver_queued();
            // Release and Acquire: pair with those above, the other way round.
            seen = self.unseen.fetch_sub(seen, AcqRel) - seen;
        }
    }

    fn deliver_queued(&self) {
        let mut early = self.early.pop().unwrap_or_default();
        // Relaxed, here and where it is stored: only the delivering thread uses it, and the count of unseen events orders
        // one such thread after another.
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
        // Relaxed: as above.
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
    /// As with events, the thread that moves the count from zero tells, for all. A listener that frees a slot itself
    /// finds its own thread telling, and is told again after it returns.
    pub(crate) fn tell_slot_free(&self) {
        // Release: pairs with the acquire below; the telling thread sees the slots of those that leave it to it. Acquire: pairs
        // with the release below.
        if self.slot_listeners.is_empty() || self.free_slots.fetch_add(1, AcqRel) > 0 {
            return;
        }
        let mut seen = 1;
        while seen > 0 {
            for listener in &self.slot_listeners {
                contain(listener, &self.panics);
            }
            // Release and Acquire: pair with those above, the other way round.
            seen = self.free_slots.fetch_sub(seen, AcqRel) - seen;
        }
    }

    pub(crate) fn panics(&self) -> u64 {
        // Relaxed: a count orders nothing.
        self.panics.load(Relaxed)
    }

    pub(crate) fn log(&self) -> Vec<Event> {
        self.log.as_ref().map(Log::read).unwrap_or_default()
    }
}

/// The last transitions. The delivering thread pushes each event to `recent`, in place of the oldest if it is full: it never waits
/// for a reader. A reader takes `older` out, moves what is in `recent` behind it, and puts it back. Readers
/// wait for each other.
struct Log {
    recent: ArrayQueue<Event>,
    older: ArrayQueue<VecDeque<Event>>,
}

impl Log {
    fn new() -> Self {
        let older = ArrayQueue::new(1);
        let _ = older.push(VecDeque::new());
        Self {
            recent: ArrayQueue::new(CAPACITY),
            older,
        }
    }

    fn read(&self) -> Vec<Event> {
        let mut older = loop {
            match self.older.pop() {
                Some(older) => break older,
                None => relax(),
            }
        };
        while let Some(event) = self.recent.pop() {
            older.push_back(event);
        }
        older.drain(..older.len().saturating_sub(CAPACITY));
        let log = older.iter().cloned().collect();
        let _ = self.older.push(older);
        log
    }
}
