//! Threads that start together, spread over the cores.

use std::hint::spin_loop;
use std::sync::Barrier;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;
use std::time::{Duration, Instant};

/// How long each thread of one run took, counted from the common start.
#[derive(Clone, Debug)]
pub struct Run {
    /// One entry per thread.
    pub per_thread: Vec<Duration>,
}

impl Run {
    /// The slowest thread: what the run took.
    pub fn slowest(&self) -> Duration {
        self.per_thread.iter().copied().max().unwrap_or_default()
    }

    /// The fastest thread's time over the slowest's: 1 when all got the same.
    pub fn fairness(&self) -> f64 {
        let fastest = self.per_thread.iter().copied().min().unwrap_or_default();
        let slowest = self.slowest();
        if slowest.is_zero() {
            1.0
        } else {
            fastest.as_secs_f64() / slowest.as_secs_f64()
        }
    }
}

/// The number of cores this process may use.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs `work` on so many threads at once; it gets the thread's number.
///
/// One thread is the calling thread. More are pinned to the cores in turn: left alone,
/// the scheduler may run them one after another on one core, and they never meet.
pub fn together<R: Send>(threads: usize, work: impl Fn(usize) -> R + Sync) -> (Run, Vec<R>) {
    if threads == 1 {
        let start = Instant::now();
        let result = work(0);
        let per_thread = vec![start.elapsed()];
        return (Run { per_thread }, vec![result]);
    }
    let core_ids = core_affinity::get_core_ids().unwrap_or_default();
    let each_has_a_core = threads <= core_ids.len();
    let arrived = AtomicUsize::new(0);
    let barrier = Barrier::new(threads);
    let timed: Vec<(Instant, Instant, R)> = thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|number| {
                let (core_ids, arrived, barrier, work) = (&core_ids, &arrived, &barrier, &work);
                scope.spawn(move || {
                    if let Some(core) = core_ids.get(number % core_ids.len().max(1)) {
                        core_affinity::set_for_current(*core);
                    }
                    if each_has_a_core {
                        // Release and Acquire: all have arrived before any leaves.
                        arrived.fetch_add(1, Release);
                        while arrived.load(Acquire) < threads {
                            spin_loop();
                        }
                    } else {
                        barrier.wait();
                    }
                    let start = Instant::now();
                    let result = work(number);
                    (start, Instant::now(), result)
                })
            })
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().expect("a measuring thread panicked"))
            .collect()
    });
    let first = timed.iter().map(|(start, ..)| *start).min();
    let first = first.expect("at least one thread");
    let per_thread = timed.iter().map(|(_, end, _)| *end - first).collect();
    let results = timed.into_iter().map(|(.., result)| result).collect();
    (Run { per_thread }, results)
}
