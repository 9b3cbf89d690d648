//! A depth-first scheduler for shuttle, bounded by preemptions.

use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

/// Enumerates all interleavings with at most so many preemptions.
///
/// A preemption is a switch away from a thread that could go on and did not
/// yield. A thread that yields is not chosen again before another one has run.
#[derive(Debug)]
pub struct DepthFirst {
    bound: usize,
    /// The choices of the present execution, and what is left of each.
    path: Vec<Choice>,
    step: usize,
    preemptions: usize,
    begun: bool,
}

#[derive(Debug)]
struct Choice {
    task: TaskId,
    /// Tried after `task`, last first.
    others: Vec<TaskId>,
}

impl DepthFirst {
    /// At most `bound` preemptions.
    pub fn new(bound: usize) -> Self {
        Self {
            bound,
            path: Vec::new(),
            step: 0,
            preemptions: 0,
            begun: false,
        }
    }

    /// Moves to the next path; false if this was the last.
    fn advance(&mut self) -> bool {
        while let Some(choice) = self.path.last_mut() {
            if let Some(task) = choice.others.pop() {
                choice.task = task;
                return true;
            }
            self.path.pop();
        }
        false
    }

    /// The tasks that may run next, the one to prefer first.
    fn candidates(&self, runnable: &[&Task], current: Option<TaskId>, yields: bool) -> Vec<TaskId> {
        let mut tasks: Vec<TaskId> = runnable.iter().map(|task| task.id()).collect();
        let Some(position) = tasks.iter().position(|&task| Some(task) == current) else {
            return tasks;
        };
        if yields {
            if tasks.len() > 1 {
                tasks.remove(position);
            }
        } else if self.preemptions == self.bound {
            tasks = vec![tasks[position]];
        } else {
            tasks.swap(0, position);
        }
        tasks
    }
}

impl Scheduler for DepthFirst {
    fn new_execution(&mut self) -> Option<Schedule> {
        if self.begun && !self.advance() {
            return None;
        }
        self.begun = true;
        (self.step, self.preemptions) = (0, 0);
        Some(Schedule::new(0))
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        yields: bool,
    ) -> Option<TaskId> {
        if self.step == self.path.len() {
            let mut others = self.candidates(runnable, current, yields);
            let task = others.remove(0);
            others.reverse();
            self.path.push(Choice { task, others });
        }
        let task = self.path[self.step].task;
        self.step += 1;
        let could_go_on = runnable.iter().any(|task| Some(task.id()) == current);
        if could_go_on && !yields && Some(task) != current {
            self.preemptions += 1;
        }
        Some(task)
    }

    fn next_u64(&mut self) -> u64 {
        unreachable!("the programs use no random data")
    }
}
