//! The process that plans, starts workers, collects what they say, and writes it down.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::{env, iter};

use super::Mode;
use super::plan::{self, Task, sampling};
use super::progress::Progress;
use super::record::Record;
use super::worker;
use crate::arguments::Arguments;
use crate::report::machine::Machine;
use crate::report::{self, Coverage, Folder, compare};

/// The bench target: a worker if it is told to be one, else the coordinator.
/// It is told of some place inside cargo's target folder.
pub fn main(inside_target: &str) -> io::Result<()> {
    let arguments = Arguments::of_process();
    if let Some(order) = arguments.value("--worker") {
        work(order, &arguments.filters);
        return Ok(());
    }
    let folder = Folder::new(inside_target, !arguments.filters.is_empty());
    if arguments.has("--report") {
        let machine = Machine::read(&folder)?;
        report::write(
            &folder,
            &report::read(&folder)?,
            &machine,
            Coverage::unknown(),
        )?;
        return finish(&folder, &arguments);
    }
    let mode = mode(&arguments);
    let tasks: Vec<Task> = plan::tasks(mode)
        .into_iter()
        .filter(|task| arguments.selects(&task.to_string()))
        .collect();
    if arguments.has("--list") {
        for task in tasks {
            println!("{task}: benchmark");
        }
        return Ok(());
    }
    if tasks.is_empty() {
        return Ok(());
    }
    measure(mode, &tasks, &folder)?;
    if mode == Mode::Test {
        println!("contention profile: all {} tasks run", tasks.len());
        return Ok(());
    }
    finish(&folder, &arguments)
}

fn mode(arguments: &Arguments) -> Mode {
    // Cargo says `--bench` when it is to measure, and nothing when it only tests.
    if arguments.has("--test") || !arguments.has("--bench") {
        Mode::Test
    } else if arguments.has("--quick") {
        Mode::Quick
    } else {
        Mode::Full
    }
}

/// Measures all tasks. What is measured is on the disk at once: the samples line by
/// line, the page after each task.
fn measure(mode: Mode, tasks: &[Task], folder: &Folder) -> io::Result<()> {
    let machine = Machine::of_here(mode.name());
    let writes = mode != Mode::Test;
    if writes {
        folder.begin(&machine)?;
    }
    let mut records: Vec<Record> = Vec::new();
    let mut progress = Progress::new(mode, tasks);
    for (number, task) in tasks.iter().enumerate() {
        for process in 0..sampling(mode, *task).processes {
            progress.show(number, *task, process);
            let samples = writes.then(|| folder.samples());
            let mut log = match samples {
                Some(path) => Some(File::options().append(true).open(path)?),
                None => None,
            };
            start(mode, *task, process, |line| {
                records.extend(report::parse(iter::once(line)));
                log.as_mut().map_or(Ok(()), |log| writeln!(log, "{line}"))
            })?;
            progress.advance(*task);
        }
        if writes {
            let coverage = Coverage::new(number + 1, tasks.len());
            report::write(folder, &records, &machine, coverage)?;
        }
    }
    progress.end();
    Ok(())
}

/// Runs one process of a task and hands on what it says, as it says it.
fn start(
    mode: Mode,
    task: Task,
    process: usize,
    mut take: impl FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    let mut child = Command::new(env::current_exe()?)
        .arg(format!("--worker={},{process}", mode.name()))
        .arg(task.to_string())
        .stdout(Stdio::piped())
        .spawn()?;
    let out = child.stdout.take().expect("it is piped");
    for line in BufReader::new(out).lines() {
        take(&line?)?;
    }
    let status = child.wait()?;
    if !status.success() {
        eprintln!("\n{task}: process {process} ended with {status}; what it had measured counts");
    }
    Ok(())
}

/// The other side of [`start`].
fn work(order: &str, id: &[String]) {
    let (mode, process) = order.split_once(',').expect("a mode and a process");
    let mode = Mode::from_name(mode).expect("a mode");
    let process = process.parse().expect("a number");
    let mut tasks = plan::tasks(mode).into_iter();
    let task = tasks.find(|task| id.contains(&task.to_string()));
    let task = task.expect("a task of the plan");
    worker::run(task, sampling(mode, task), process);
}

fn finish(folder: &Folder, arguments: &Arguments) -> io::Result<()> {
    let rows = report::summary_of(folder)?;
    println!("{}", report::text::table(&rows));
    if let Some(name) = arguments.value("--save-baseline") {
        fs::copy(folder.summary(), folder.baseline(name))?;
    }
    for option in ["--baseline", "--compare"] {
        if let Some(name) = arguments.value(option) {
            println!("{}", compare::with_baseline(folder, name, &rows));
        }
    }
    println!("contention profile: {}", folder.page().display());
    println!("for machines: {}", folder.summary().display());
    Ok(())
}
