//! The searches.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};

use crate::depth_first::DepthFirst;
use crate::session::{self, Backend, Written};

/// In which ways a program is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Search {
    /// Loom: all executions under the C11 memory model as far as loom has it,
    /// with at most so many preemptions, or any number. Loom skips some executions of threads
    /// that load an atomic and then write it; see the README.
    Loads(Option<usize>),
    /// Loom with loads made read-modify-writes: all interleavings, with at most so many preemptions, or
    /// any number. None is skipped, and no load sees an old value.
    ReadModifyWrites(Option<usize>),
    /// Shuttle's depth-first search: all interleavings. A program with a
    /// spinning thread does not end under it.
    DepthFirst,
    /// [`DepthFirst`]: all interleavings with at most so many preemptions, spinning threads
    /// not rescheduled before another has run.
    Preemptions(usize),
    /// So many random interleavings.
    Random(usize),
    /// So many interleavings by probabilistic concurrency testing, of the given depth.
    Pct(usize, usize),
}

/// What a search came to.
#[derive(Clone, Debug)]
pub struct Explored {
    /// How often the program was run.
    pub executions: usize,
    /// The atomics that it should have scheduled and did not. Unless this is empty the search counts for
    /// nothing, and is to be repeated.
    pub missed: Written,
}

/// Seeds the random searches, so that a failure can be repeated.
const SEED: u64 = 0x00C0_FFEE;

/// Runs `program`, whose threads write no atomics but `written`, in all the ways of `search`.
pub fn explore(
    search: Search,
    written: &Written,
    program: impl Fn() + Send + Sync + 'static,
) -> Explored {
    let executions = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&executions);
    let program = move || {
        count.fetch_add(1, Ordering::Relaxed);
        session::begin_execution();
        program();
    };
    match search {
        Search::Loads(bound) => loom(Backend::Loads, bound, written, program),
        Search::ReadModifyWrites(bound) => {
            loom(Backend::ReadModifyWrites, bound, written, program);
        }
        Search::DepthFirst => shuttle(DfsScheduler::new(None, false), written, program),
        Search::Preemptions(bound) => shuttle(DepthFirst::new(bound), written, program),
        Search::Random(times) => shuttle(
            RandomScheduler::new_from_seed(SEED, times),
            written,
            program,
        ),
        Search::Pct(depth, times) => shuttle(
            PctScheduler::new_from_seed(SEED, depth, times),
            written,
            program,
        ),
    }
    Explored {
        executions: executions.load(Ordering::Relaxed),
        missed: session::end(),
    }
}

/// 128 KiB.
const STACK_WORDS: usize = 1 << 14;

fn loom(
    backend: Backend,
    bound: Option<usize>,
    written: &Written,
    program: impl Fn() + Send + Sync + 'static,
) {
    session::begin(backend, written.clone());
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = bound;
    builder.max_branches = 2_000;
    // Loom's first thread has a small stack, and a breaker is built and used on it. One more
    // thread that only waits adds nothing to the search.
    let program = Arc::new(program);
    builder.check(move || {
        let program = Arc::clone(&program);
        let thread = loom::thread::Builder::new().stack_size(STACK_WORDS);
        let thread = thread.spawn(move || program()).expect("a thread");
        thread.join().expect("the program");
    });
}

fn shuttle(
    scheduler: impl Scheduler + 'static,
    written: &Written,
    program: impl Fn() + Send + Sync + 'static,
) {
    session::begin(Backend::Shuttle, written.clone());
    let mut config = shuttle::Config::new();
    // We know that it has no weak memory.
    config.silence_warnings = true;
    config.stack_size = 1 << 18;
    config.max_steps = shuttle::MaxSteps::FailAfter(2_000);
    shuttle::Runner::new(scheduler, config).run(program);
}
