//! The command line that all bench targets share.
//!
//! `cargo bench -- …` hands the same arguments to every target, and criterion,
//! the instruction counts and the profile each know some of them. Each target
//! takes what it knows and is not stopped by what another one knows. What none of them knows is refused.

use std::ffi::OsString;
use std::process::{Command, exit};
use std::{env, iter};

use clap::{Arg, ArgAction, ArgMatches, error::Error};

/// An option of some target.
struct Known {
    name: &'static str,
    /// What its value is called, if it has one.
    value: Option<&'static str>,
    help: &'static str,
    whose: Whose,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Everyones,
    Profiles,
    Criterions,
    /// Of cargo, of the test harness that cargo speaks to, and of our own processes to each other.
    Hidden,
}

const fn flag(name: &'static str, whose: Whose, help: &'static str) -> Known {
    Known {
        name,
        value: None,
        help,
        whose,
    }
}

const fn option(
    name: &'static str,
    value: &'static str,
    whose: Whose,
    help: &'static str,
) -> Known {
    Known {
        name,
        value: Some(value),
        help,
        whose,
    }
}

use Whose::{Criterions, Everyones, Hidden, Profiles};

const KNOWN: [Known; 33] = [
    flag("quick", Everyones, "Measures with short rounds"),
    flag("list", Everyones, "Lists what would run, and runs nothing"),
    option(
        "save-baseline",
        "NAME",
        Everyones,
        "Keeps the results under a name",
    ),
    option(
        "baseline",
        "NAME",
        Everyones,
        "Compares with the results kept under a name",
    ),
    option(
        "compare",
        "NAME|FILE",
        Profiles,
        "Prints what changed since an earlier summary of this machine; `previous` is the run before, `kept` what the repository has",
    ),
    flag(
        "report",
        Profiles,
        "Writes the page again from what has been measured",
    ),
    flag("verbose", Criterions, "Prints more statistics"),
    flag("quiet", Criterions, "Prints only the results"),
    flag("discard-baseline", Criterions, "Keeps no results"),
    flag("noplot", Criterions, "Makes no plots"),
    option(
        "baseline-lenient",
        "NAME",
        Criterions,
        "As --baseline, where there is one",
    ),
    option(
        "load-baseline",
        "NAME",
        Criterions,
        "Shows kept results in place of new ones",
    ),
    option("color", "WHEN", Criterions, "auto, always or never"),
    option(
        "output-format",
        "FORMAT",
        Criterions,
        "criterion or bencher",
    ),
    option(
        "plotting-backend",
        "BACKEND",
        Criterions,
        "gnuplot or plotters",
    ),
    option(
        "profile-time",
        "SECONDS",
        Criterions,
        "Only calls for so long, for a profiler",
    ),
    option("sample-size", "SAMPLES", Criterions, "Samples of each cell"),
    option(
        "warm-up-time",
        "SECONDS",
        Criterions,
        "Time before the samples",
    ),
    option(
        "measurement-time",
        "SECONDS",
        Criterions,
        "Time for the samples",
    ),
    option(
        "nresamples",
        "NUMBER",
        Criterions,
        "Resamples of the analysis",
    ),
    option(
        "noise-threshold",
        "SHARE",
        Criterions,
        "The change that is noise",
    ),
    option("confidence-level", "SHARE", Criterions, "Of the intervals"),
    option("significance-level", "SHARE", Criterions, "Of a change"),
    flag("bench", Hidden, ""),
    flag("test", Hidden, ""),
    flag("exact", Hidden, ""),
    flag("ignored", Hidden, ""),
    flag("include-ignored", Hidden, ""),
    flag("nocapture", Hidden, ""),
    flag("show-output", Hidden, ""),
    option("format", "FORMAT", Hidden, ""),
    option("worker", "ORDER", Hidden, ""),
    option("without", "SUBJECT", Hidden, ""),
];

fn command(target: &'static str, about: &'static str) -> clap::Command {
    let filters = Arg::new("FILTER")
        .action(ArgAction::Append)
        .help("Runs only what has one of these in its name");
    let known = KNOWN.iter().map(|known| {
        let argument = Arg::new(known.name).long(known.name).help(known.help);
        let argument = match known.value {
            Some(value) => argument.value_name(value).action(ArgAction::Append),
            None => argument.action(ArgAction::SetTrue),
        };
        match known.whose {
            Everyones => argument,
            Profiles => argument.help_heading("Options of the contention profile"),
            Criterions => {
                argument.help_heading("Options of criterion (choosing, contended, hot_path)")
            }
            Hidden => argument.hide(true),
        }
    });
    clap::Command::new(target)
        .about(about)
        .bin_name(format!("cargo bench --bench {target} --"))
        .arg(filters)
        .args(known)
}

/// The command line, taken apart.
#[derive(Clone, Debug)]
pub struct Arguments {
    matches: ArgMatches,
    /// What is not an option: the part of a name that selects what runs.
    pub filters: Vec<String>,
}

impl Arguments {
    /// Those of this process, which is that target. Ends it with help where that is asked for, and with
    /// an error where there is an option that no target knows.
    pub fn of_process(target: &'static str, about: &'static str) -> Self {
        Self::parse(target, about, env::args_os().skip(1)).unwrap_or_else(|error| error.exit())
    }

    pub(crate) fn parse(
        target: &'static str,
        about: &'static str,
        arguments: impl Iterator<Item = OsString>,
    ) -> Result<Self, Error> {
        let program = OsString::from(target);
        let line = iter::once(program).chain(arguments);
        let matches = command(target, about).try_get_matches_from(line)?;
        let filters = matches.get_many("FILTER").into_iter().flatten();
        Ok(Self {
            filters: filters.cloned().collect(),
            matches,
        })
    }

    /// Whether a flag is there.
    pub fn has(&self, name: &str) -> bool {
        self.matches.get_flag(name)
    }

    /// Whether this is to measure: cargo says `--bench` then, and nothing when it only tests.
    pub fn measures(&self) -> bool {
        self.has("bench") && !self.has("test") && !self.has("report")
    }

    /// The value of an option, the last one where there are more.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values(name).last()
    }

    /// All values of an option.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let values = self.matches.get_many::<String>(name);
        values.into_iter().flatten().map(String::as_str)
    }

    /// The value of an option that is a number of seconds, if it is one.
    pub fn seconds(&self, name: &str) -> Option<f64> {
        self.value(name)?.parse().ok()
    }

    /// Whether what has this name is selected.
    pub fn selects(&self, name: &str) -> bool {
        let mut filters = self.filters.iter();
        let is_exact = self.has("exact");
        self.filters.is_empty()
            || filters.any(|filter| match is_exact {
                true => name == filter,
                false => name.contains(filter.as_str()),
            })
    }

    /// What criterion knows of them, without the filters.
    pub fn for_criterion(&self) -> Vec<String> {
        let is_for_criterion = |known: &&Known| match known.whose {
            Everyones | Criterions => true,
            Profiles => false,
            Hidden => matches!(known.name, "bench" | "test"),
        };
        let mut line = Vec::new();
        for known in KNOWN.iter().filter(is_for_criterion) {
            let name = format!("--{}", known.name);
            if known.value.is_some() {
                line.extend(
                    self.value(known.name)
                        .map(|value| format!("{name}={value}")),
                );
            } else if self.has(known.name) {
                line.push(name);
            }
        }
        line
    }
}

/// Tells a program that it was run by itself.
const ONCE_MORE: &str = "CUTOUT_BENCH_ONCE_MORE";

/// Runs this program with other arguments and exits as that does. Returns if this
/// is that second run: there is no third.
pub fn run_once_more(arguments: &[String]) {
    if env::var_os(ONCE_MORE).is_some() {
        return;
    }
    let status = env::current_exe().and_then(|program| {
        let mut command = Command::new(program);
        command.args(arguments).env(ONCE_MORE, "1").status()
    });
    match status {
        Ok(status) => exit(status.code().unwrap_or(1)),
        Err(error) => {
            eprintln!("this program does not start again: {error}");
            exit(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    fn parse(line: &str) -> Result<Arguments, Error> {
        Arguments::parse("contention", "", line.split(' ').map(OsString::from))
    }

    #[test]
    fn values_are_not_taken_for_filters() {
        let line = "--bench contended --save-baseline main --sample-size=20 --quick";
        let arguments = parse(line).expect("all are known");
        assert_eq!(arguments.filters, ["contended"]);
        assert_eq!(arguments.value("save-baseline"), Some("main"));
        assert_eq!(arguments.seconds("sample-size"), Some(20.0));
        assert!(arguments.has("quick") && arguments.has("bench"));
        assert!(arguments.selects("contended/healthy/2") && !arguments.selects("hot_path/1"));
    }

    #[test]
    fn criterion_gets_what_it_knows() {
        let arguments = parse("--bench one two --compare old.json --quick --sample-size 20");
        assert_eq!(
            arguments.expect("all are known").for_criterion(),
            ["--quick", "--sample-size=20", "--bench"]
        );
    }

    #[test]
    fn help_is_help_and_what_nobody_knows_is_refused() {
        let kind = |line| parse(line).expect_err("it ends the process").kind();
        assert_eq!(kind("--bench --help"), ErrorKind::DisplayHelp);
        assert_eq!(kind("--bench --quack"), ErrorKind::UnknownArgument);
        assert_eq!(kind("--bench --quick=yes"), ErrorKind::TooManyValues);
    }
}
