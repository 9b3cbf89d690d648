//! What is shown while it runs, on standard error.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use super::Mode;
use super::plan::{Task, sampling};
use crate::cast;

pub(super) struct Progress {
    mode: Mode,
    tasks: usize,
    planned: Duration,
    done: Duration,
    start: Instant,
    in_place: bool,
}

impl Progress {
    pub(super) fn new(mode: Mode, tasks: &[Task]) -> Self {
        let all_processes = |task: &Task| {
            let processes = sampling(mode, *task).processes as u32;
            weight(mode, *task) * processes
        };
        Self {
            mode,
            tasks: tasks.len(),
            planned: tasks.iter().map(all_processes).sum(),
            done: Duration::ZERO,
            start: Instant::now(),
            in_place: io::stderr().is_terminal(),
        }
    }

    /// A process of the task of that number is about to start.
    pub(super) fn show(&self, number: usize, task: Task, process: usize) {
        if !self.in_place && process > 0 {
            return;
        }
        let elapsed = self.start.elapsed().as_secs_f64();
        let share = self.done.as_secs_f64() / self.planned.as_secs_f64();
        let left = if share > 0.0 {
            format!("about {:.0} s left", elapsed * (1.0 / share - 1.0))
        } else {
            "started".into()
        };
        let (number, tasks) = (number + 1, self.tasks);
        let line = format!("[{number}/{tasks}, {elapsed:.0} s, {left}] {task}");
        if self.in_place {
            let processes = sampling(self.mode, task).processes;
            eprint!("\r\x1b[2K{line}, process {} of {processes}", process + 1);
        } else {
            eprintln!("{line}");
        }
    }

    /// A process of the task is done.
    pub(super) fn advance(&mut self, task: Task) {
        self.done += weight(self.mode, task);
    }

    pub(super) fn end(&self) {
        if self.in_place {
            eprint!("\r\x1b[2K");
        }
    }
}

/// About how long one process of a task takes.
fn weight(mode: Mode, task: Task) -> Duration {
    let sampling = sampling(mode, task);
    let subjects = cast::breakers().len() as u32;
    let rounds = sampling.rounds as u32 + 1;
    let set_up = match task {
        Task::Crowd(breakers) => Duration::from_micros(breakers as u64 * 25),
        _ => Duration::from_millis(10),
    };
    sampling.round * rounds * subjects + set_up
}
