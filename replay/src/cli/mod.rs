//! From arguments to files.

mod args;
mod progress;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::sync_channel;
use std::thread;

use clap::Parser;
use cutout_replay::input::{Input, Options, Progress, Source};
use cutout_replay::report::{Kept, Report, Run, html, terminal};
use cutout_replay::search::{self, Search};
use cutout_replay::{Call, Error, Keys, demo};

use self::args::Args;

/// A log in memory, for a search.
type Log = (Vec<Call>, Keys);

/// How many calls are handed on at a time.
const BATCH: usize = 16_384;

/// How many breakers there may be for all configs and orders, unless the user says how many keys: some 120 MB.
const MOST_BREAKERS: usize = 100_000;

/// How many keys there may be, unless the user says so.
const MOST_KEYS: usize = 10_000;

pub(crate) fn run() -> Result<(), Error> {
    let args = Args::parse();
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    // The second time it ends at once.
    let _ = ctrlc::set_handler(move || {
        if asked.swap(true, Relaxed) {
            std::process::exit(130);
        }
    });
    if let Some(path) = &args.demo_log {
        return write_demo_log(path);
    }
    let (report, calls) = if args.demo {
        replay_demo(&args)?
    } else {
        replay_logs(&args, &stop)?
    };
    let report = match calls {
        Some((calls, keys)) if args.search => {
            let slow = if args.demo {
                demo::slow()
            } else {
                args.options()?.slow
            };
            let advice = Search {
                calls: &calls,
                of: report.reading.calls,
                keys: &keys,
                troubles: &report.found_troubles(),
                slack: report.slack_ns,
                slow: &slow,
                stop: &stop,
            }
            .run();
            Report {
                advice: Some(advice),
                ..report
            }
        }
        _ => report,
    };
    write(&args, &report)
}

fn replay_demo(args: &Args) -> Result<(Report, Option<Log>), Error> {
    let (calls, keys) = demo::calls();
    let mut configs = demo::configs()?;
    configs.extend(args.configs()?);
    let kept = Kept {
        troubles: Some(demo::troubles()),
        slack: demo::SLACK.as_nanos() as u64,
    };
    let mut run = Run::new(configs, kept, args.orders().unwrap_or(1), 1_000_000)?;
    for part in calls.chunks(BATCH) {
        run.feed(part);
    }
    let reading = demo::reading(&calls);
    let report = run.finish(reading, &keys, &demo::slow());
    Ok((report, Some((calls, keys))))
}

fn replay_logs(args: &Args, stop: &AtomicBool) -> Result<(Report, Option<Log>), Error> {
    let options: Options = args.options()?;
    let (slow, within) = (options.slow.clone(), options.within);
    let sources: Vec<Source> = args.files.iter().map(|name| Source::named(name)).collect();
    if sources.is_empty() {
        return Err(Error::Usage(
            "name a log, or `-` for the standard input; `--demo` needs none, and `--help` says the rest".to_owned(),
        ));
    }
    let progress = Progress::default();
    let mut input = Input::open(&sources, options, &progress)?;
    let resolution = input.reading().resolution_ns;
    let coarse = resolution >= 1_000_000_000;
    let orders = args.orders().unwrap_or(if coarse { 5 } else { 1 });
    let kept = Kept {
        troubles: args.troubles()?,
        slack: args.slack.as_nanos() as u64,
    };
    let configs = args.configs_or_presets()?;
    if args.max_keys.is_none() {
        input.limit_keys(MOST_KEYS.min(MOST_BREAKERS / (configs.len() * orders).max(1)));
    }
    let mut run = Run::new(configs, kept, orders, resolution)?;
    // All of its room at once: to grow would take it twice. What is not filled takes no memory.
    let mut all = args.search.then(|| Vec::with_capacity(search::MOST_CALLS));
    let shown = progress::show(progress);
    // One thread reads while the others replay.
    let (to, from) = sync_channel::<Vec<Call>>(4);
    let read = thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut more = true;
            while more {
                if stop.load(Relaxed) {
                    input.stop();
                }
                let mut calls = Vec::with_capacity(BATCH);
                more = input.read(&mut calls, BATCH)?;
                if to.send(calls).is_err() {
                    break;
                }
            }
            Ok::<_, Error>(input.finish())
        });
        for calls in from {
            run.feed(&calls);
            if let Some(all) = &mut all {
                all.extend_from_slice(&calls[..calls.len().min(search::MOST_CALLS - all.len())]);
            }
        }
        reader.join()
    });
    shown.finish_and_clear();
    let (reading, keys) = match read {
        Ok(read) => read?,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    eprint!("{}", terminal::reading(&reading));
    if reading.calls == 0 {
        let name = sources
            .iter()
            .map(Source::name)
            .collect::<Vec<_>>()
            .join(", ");
        let message = "no line holds a call: see what was skipped above".to_owned();
        return Err(Error::Input { name, message });
    }
    if reading.skips() > reading.calls {
        eprintln!(
            "MORE WAS SKIPPED THAN READ: the numbers below are of the rest. Is the format right, and are {within:?} of \
             --sort-within enough?"
        );
    }
    let report = run.finish(reading, &keys, &slow);
    Ok((report, all.map(|all| (all, keys))))
}

fn write(args: &Args, report: &Report) -> Result<(), Error> {
    if args.json {
        let json = serde_json::to_string_pretty(report)
            .map_err(|error| Error::Usage(error.to_string()))?;
        return save(Path::new("-"), &json);
    }
    let mut text = terminal::tables(report);
    if let Some(advice) = &report.advice {
        text.push_str(&advice.to_string());
    }
    save(&args.html, &html::page(report))?;
    text.push_str(&format!("the report: {}\n", args.html.display()));
    // Whoever reads it may have seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}

fn save(path: &Path, text: &str) -> Result<(), Error> {
    let fail = |error| Error::File {
        path: path.to_owned(),
        error,
    };
    if path == Path::new("-") {
        return std::io::stdout().write_all(text.as_bytes()).map_err(fail);
    }
    std::fs::write(path, text).map_err(fail)
}

fn write_demo_log(path: &Path) -> Result<(), Error> {
    let fail = |error| Error::File {
        path: path.to_owned(),
        error,
    };
    let mut to = BufWriter::new(File::create(path).map_err(fail)?);
    for (number, call) in (1..).zip(demo::Day::new()) {
        call.write(number, &mut to).map_err(fail)?;
    }
    to.flush().map_err(fail)
}
