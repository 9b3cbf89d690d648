//! The process that plans, starts workers, collects what they say, and writes it down.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::{env, iter};

use super::Mode;
use super::plan::{self, Task, sampling};
use super::progress::Progress;
use super::worker::{self, Order};
use crate::arguments::Arguments;
use crate::record::{Outcome, Record};
use crate::report::compare::{self, Comparison};
use crate::report::machine::Machine;
use crate::report::{self, Coverage, Folder, PREVIOUS, summary};
use crate::watchdog::NO_NUMBER;

const ABOUT: &str = "The contention profile: every workload against every subject, side by side. Writes \
                     index.html and summary.json into the machine's folder under target/contention";

/// The bench target: a worker if it is told to be one, else the coordinator.
/// It is told of some place inside cargo's target folder.
pub fn main(inside_target: &str) -> io::Result<()> {
    let arguments = Arguments::of_process("contention", ABOUT);
    if let Some(order) = arguments.value("worker") {
        work(order, &arguments);
        return Ok(());
    }
    let mode = mode(&arguments);
    let machine = Machine::of_here(mode.name());
    let folder = Folder::new(inside_target, &machine, !arguments.filters.is_empty());
    if arguments.has("report") {
        let machine = Machine::read(&folder.machine())?;
        let coverage = Coverage::read(&folder.coverage())?;
        report::write(&folder, &report::read(&folder)?, &machine, coverage)?;
        return finish(&folder, &machine, &arguments);
    }
    let tasks: Vec<Task> = plan::tasks(mode)
        .into_iter()
        .filter(|task| arguments.selects(&task.to_string()))
        .collect();
    if arguments.has("list") {
        for task in tasks {
            println!("{task}: benchmark");
        }
        return Ok(());
    }
    if tasks.is_empty() {
        return Ok(());
    }
    // What cannot be compared is said now and not after minutes; the run before is set aside only then.
    for name in arguments.values("compare").filter(|name| *name != PREVIOUS) {
        compare::earlier(&folder, &machine, name).map_err(io::Error::other)?;
    }
    measure(mode, &tasks, &folder, &machine)?;
    if mode == Mode::Test {
        println!("contention profile: all {} tasks run", tasks.len());
        return Ok(());
    }
    finish(&folder, &machine, &arguments)
}

fn mode(arguments: &Arguments) -> Mode {
    if !arguments.measures() {
        Mode::Test
    } else if arguments.has("quick") {
        Mode::Quick
    } else {
        Mode::Full
    }
}

/// Measures all tasks. What is measured is on the disk at once: the samples line by
/// line, the page after each task.
fn measure(mode: Mode, tasks: &[Task], folder: &Folder, machine: &Machine) -> io::Result<()> {
    let writes = mode != Mode::Test;
    if writes {
        folder.begin()?;
        machine.write(&folder.machine())?;
        Coverage::new(0, tasks.len()).write(&folder.coverage())?;
    }
    let mut records: Vec<Record> = Vec::new();
    let mut progress = Progress::new(mode, tasks);
    for (number, task) in tasks.iter().enumerate() {
        let mut without = Vec::new();
        for process in 0..sampling(mode, *task).processes {
            progress.show(number, *task, process);
            let samples = writes.then(|| folder.samples());
            let mut log = match samples {
                Some(path) => Some(File::options().append(true).open(path)?),
                None => None,
            };
            let mut take = |line: &str| {
                records.extend(report::parse(iter::once(line)));
                log.as_mut().map_or(Ok(()), |log| writeln!(log, "{line}"))
            };
            // A subject that gives no answer ends its process; the others begin again without it.
            while let Some(subject) = start(mode, *task, process, &without, &mut take)? {
                without.push(subject);
            }
            progress.advance(*task);
        }
        if writes {
            let coverage = Coverage::new(number + 1, tasks.len());
            report::write(folder, &records, machine, coverage)?;
        }
    }
    progress.end();
    Ok(())
}

/// Runs one process of a task and hands on what it says, as it says it. Names the subject that gave
/// no answer, if one did not.
fn start(
    mode: Mode,
    task: Task,
    process: usize,
    without: &[String],
    take: &mut impl FnMut(&str) -> io::Result<()>,
) -> io::Result<Option<String>> {
    let mut child = Command::new(env::current_exe()?)
        .arg(format!("--worker={},{process}", mode.name()))
        .args(without.iter().map(|name| format!("--without={name}")))
        .arg(task.to_string())
        .stdout(Stdio::piped())
        .spawn()?;
    let out = child.stdout.take().expect("it is piped");
    let mut last = None;
    for line in BufReader::new(out).lines() {
        let line = line?;
        take(&line)?;
        last = Some(line);
    }
    let status = child.wait()?;
    if status.success() {
        return Ok(None);
    }
    if status.code() == Some(NO_NUMBER)
        && let Some(Record {
            cell,
            result: Outcome::Void { reason },
        }) = last.as_deref().and_then(report::record)
    {
        eprintln!("\n{task}: {}: {reason}", cell.subject);
        return Ok(Some(cell.subject));
    }
    eprintln!("\n{task}: process {process} ended with {status}; what it had measured counts");
    Ok(None)
}

/// The other side of [`start`].
fn work(order: &str, arguments: &Arguments) {
    let (mode, process) = order.split_once(',').expect("a mode and a process");
    let mode = Mode::from_name(mode).expect("a mode");
    let process = process.parse().expect("a number");
    let mut tasks = plan::tasks(mode).into_iter();
    let task = tasks.find(|task| arguments.filters.contains(&task.to_string()));
    let task = task.expect("a task of the plan");
    let order = Order {
        sampling: sampling(mode, task),
        process,
        without: arguments.values("without").map(String::from).collect(),
    };
    worker::run(task, &order);
}

fn finish(folder: &Folder, machine: &Machine, arguments: &Arguments) -> io::Result<()> {
    let rows = summary::read(&folder.summary())?;
    println!("{machine}");
    println!("{}", report::text::table(&rows));
    if let Some(warning) = Coverage::read(&folder.coverage())?.warning() {
        println!("{warning}");
    }
    if let Some(name) = arguments.value("save-baseline") {
        fs::copy(folder.summary(), folder.baseline(name))?;
    }
    for option in ["baseline", "compare"] {
        if let Some(name) = arguments.value(option) {
            match Comparison::with(folder, machine, name, &rows) {
                Ok(comparison) => println!("{}", comparison.text()),
                Err(reason) => println!("{reason}"),
            }
        }
    }
    println!("contention profile: {}", folder.page().display());
    println!("for machines: {}", folder.summary().display());
    Ok(())
}
