//! What is measured in which mode, and how long.

use std::fmt;
use std::time::Duration;

use super::Mode;
use crate::threads::cores;
use crate::workload::{Load, Style, Window, Workload};

/// One thing to measure for all subjects, side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Time per call.
    Throughput(Workload, usize),
    /// The time of each single call.
    Latency(Workload, usize),
    /// Time and memory with so many breakers, each called once in a while.
    Crowd(usize),
    /// Bytes of a breaker, by window.
    Memory,
}

/// The id that filters are matched with.
impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Throughput(workload, threads) => {
                write!(f, "contention/{workload}/{}/{threads}", workload.window)
            }
            Self::Latency(workload, threads) => {
                write!(f, "contention/latency/{workload}/{threads}")
            }
            Self::Crowd(breakers) => write!(f, "contention/breakers/{breakers}"),
            Self::Memory => f.write_str("contention/memory"),
        }
    }
}

/// The windows that are compared.
pub const WINDOWS: [usize; 4] = [20, 100, 1000, 4096];

/// The window of the breakers in a crowd.
pub const CROWD_WINDOW: usize = 20;

/// All tasks, the ones that matter most first.
pub fn tasks(mode: Mode) -> Vec<Task> {
    let full = mode != Mode::Quick;
    let many: &[usize] = if full { &[1, 2, 4, 8, 16] } else { &[1, 2, 8] };
    let few: &[usize] = if full { &[1, 2, 8] } else { &[1, 2] };
    let few_and_eight: &[usize] = &[1, 2, 8];
    let fewest: &[usize] = if full { &[1, 2] } else { &[1] };
    let healthy = Workload::new(Load::Healthy);
    let failing = |percent| Workload::new(Load::Failing(percent));
    let mut tasks = vec![Task::Memory];
    let mut add = |workload: Workload, threads: &[usize]| {
        tasks.extend(
            threads
                .iter()
                .map(|threads| Task::Throughput(workload, *threads)),
        );
    };
    add(Workload::new(Load::Floor), many);
    add(healthy, many);
    add(failing(20), many);
    add(Workload::new(Load::Rejecting), few);
    add(failing(1), few);
    add(failing(50), few);
    // Beside the peers' windows, in one round each.
    add(healthy.scores(), few_and_eight);
    add(failing(1).scores(), few_and_eight);
    add(failing(20).scores(), few_and_eight);
    add(healthy.time_window(), few);
    add(failing(20).time_window(), few);
    add(Workload::new(Load::HalfOpenStorm), few);
    add(Workload::new(Load::Flapping).window(10), &[1, 2]);
    for window in WINDOWS
        .into_iter()
        .filter(|window| Window::Count(*window) != healthy.window)
    {
        add(failing(20).window(window), fewest);
        if full {
            add(healthy.window(window), &[1]);
        }
    }
    add(healthy.style(Style::Owned), &[1, 2]);
    add(healthy.style(Style::Closure), &[1, 2]);
    add(healthy.counted(), &[1, 2]);
    add(healthy.style(Style::Layer), &[1, 2]);
    add(healthy.style(Style::BorrowingLayer), &[1, 2]);
    add(healthy.slow_rule(), &[1, 2]);
    add(healthy.listener(), fewest);
    if full {
        add(failing(20).style(Style::Layer), &[1, 2]);
        add(failing(20).timeout_rule(), &[1, 2]);
        add(failing(20).timeout_rule().window(4096), &[1]);
    }
    let contended: &[usize] = if full { &[1, 2, 8] } else { &[8] };
    for workload in [healthy, failing(20)] {
        tasks.extend(
            contended
                .iter()
                .map(|threads| Task::Latency(workload, *threads)),
        );
    }
    let crowds: &[usize] = if full {
        &[1, 100, 10_000, 1_000_000]
    } else {
        &[1, 10_000]
    };
    let crowds = crowds
        .iter()
        .filter(|breakers| mode != Mode::Test || **breakers < 1000);
    tasks.extend(crowds.map(|breakers| Task::Crowd(*breakers)));
    tasks
}

/// How a task is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Processes, one after another.
    pub processes: usize,
    /// Rounds in each.
    pub rounds: usize,
    /// How long one round of one subject shall take.
    pub round: Duration,
    /// How long a subject may take for anything it is asked before it counts as giving no answer.
    pub patience: Duration,
}

/// How a task is sampled in a mode: at least seven rounds each.
pub fn sampling(mode: Mode, task: Task) -> Sampling {
    let threads = match task {
        Task::Throughput(_, threads) | Task::Latency(_, threads) => threads,
        Task::Crowd(_) | Task::Memory => 1,
    };
    // Beyond the cores a round must hold many time slices of the scheduler.
    let crowded = threads > cores();
    let (processes, rounds, millis) = match (mode, task, threads) {
        (Mode::Test, ..) | (_, Task::Memory, _) => (1, 1, 1),
        (Mode::Quick, Task::Latency(..), _) => (1, 1, 100),
        (Mode::Full, Task::Latency(..), _) => (7, 1, 150),
        (Mode::Quick, _, 1) => (1, 7, 3),
        (Mode::Quick, ..) => (3, 3, if crowded { 20 } else { 3 }),
        (Mode::Full, Task::Crowd(_), _) => (1, 7, 20),
        (Mode::Full, _, 1) => (2, 5, 20),
        (Mode::Full, ..) => (5, 3, if crowded { 60 } else { 20 }),
    };
    let patience = match mode {
        Mode::Test => 10,
        Mode::Quick => 30,
        Mode::Full => 120,
    };
    Sampling {
        processes,
        rounds,
        round: Duration::from_millis(millis),
        patience: Duration::from_secs(patience),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_median_has_seven_rounds_and_contended_ones_several_processes() {
        for mode in [Mode::Full, Mode::Quick] {
            for task in tasks(mode) {
                let sampling = sampling(mode, task);
                if let Task::Throughput(_, threads) = task {
                    assert!(sampling.processes * sampling.rounds >= 7, "{task}");
                    assert!(threads == 1 || sampling.processes >= 3, "{task}");
                }
            }
        }
    }

    #[test]
    fn ids_are_unique() {
        for mode in [Mode::Full, Mode::Quick, Mode::Test] {
            let mut ids: Vec<String> = tasks(mode).iter().map(Task::to_string).collect();
            let all = ids.len();
            ids.sort();
            ids.dedup();
            assert_eq!(ids.len(), all);
        }
    }
}
