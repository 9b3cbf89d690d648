//! The command line that all bench targets share.
//!
//! `cargo bench -- …` hands the same arguments to every target, and criterion,
//! the instruction counts and the profile each know some of them. Each target
//! takes what it knows; no argument of another one stops it.

use std::env;
use std::process::{Command, exit};

/// Options that take a value in the next argument.
const WITH_VALUE: [&str; 17] = [
    "--baseline",
    "--baseline-lenient",
    "--color",
    "--colour",
    "--compare",
    "--confidence-level",
    "--format",
    "--load-baseline",
    "--measurement-time",
    "--noise-threshold",
    "--nresamples",
    "--output-format",
    "--profile-time",
    "--sample-size",
    "--save-baseline",
    "--significance-level",
    "--warm-up-time",
];

/// The command line, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// Options in their order, each with its value if it has one.
    pub options: Vec<(String, Option<String>)>,
    /// What is not an option: the part of a name that selects what runs.
    pub filters: Vec<String>,
}

impl Arguments {
    /// Those of this process.
    pub fn of_process() -> Self {
        Self::parse(env::args().skip(1))
    }

    fn parse(mut arguments: impl Iterator<Item = String>) -> Self {
        let mut parsed = Self::default();
        while let Some(argument) = arguments.next() {
            if !argument.starts_with('-') {
                parsed.filters.push(argument);
            } else if let Some((name, value)) = argument.split_once('=') {
                parsed.options.push((name.into(), Some(value.into())));
            } else if WITH_VALUE.contains(&argument.as_str()) {
                let value = arguments.next();
                parsed.options.push((argument, value));
            } else {
                parsed.options.push((argument, None));
            }
        }
        parsed
    }

    /// Whether an option is there.
    pub fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(option, _)| option == name)
    }

    /// The value of an option.
    pub fn value(&self, name: &str) -> Option<&str> {
        let mut options = self.options.iter();
        let found = options.find(|(option, _)| option == name)?;
        found.1.as_deref()
    }

    /// Whether what has this name is selected.
    pub fn selects(&self, name: &str) -> bool {
        let mut filters = self.filters.iter();
        self.filters.is_empty() || filters.any(|filter| name.contains(filter.as_str()))
    }
}

/// For targets that criterion runs: if the command line has options of the
/// profile, runs this program again without them and exits as that does.
pub fn leave_to_criterion() {
    let arguments = Arguments::of_process();
    if arguments.has("--report") {
        exit(0);
    }
    // Criterion takes one filter.
    if arguments.has("--compare") || arguments.filters.len() > 1 {
        run_once_more(&for_criterion(arguments));
    }
}

fn for_criterion(arguments: Arguments) -> Vec<String> {
    let mut kept = Vec::new();
    if !arguments.filters.is_empty() {
        // Its filters are regular expressions; ours are plain parts of names.
        kept.push(arguments.filters.join("|"));
    }
    for (name, value) in arguments.options {
        if name != "--compare" {
            kept.push(name);
            kept.extend(value);
        }
    }
    kept
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
    use super::*;

    fn parse(line: &str) -> Arguments {
        Arguments::parse(line.split(' ').map(String::from))
    }

    #[test]
    fn values_are_not_taken_for_filters() {
        let line = "--bench contended --save-baseline main --sample-size=20 --quick";
        let arguments = parse(line);
        assert_eq!(arguments.filters, ["contended"]);
        assert_eq!(arguments.value("--save-baseline"), Some("main"));
        assert_eq!(arguments.value("--sample-size"), Some("20"));
        assert!(arguments.has("--quick") && arguments.has("--bench"));
        assert!(arguments.selects("contended/healthy/2") && !arguments.selects("hot_path/1"));
    }

    #[test]
    fn criterion_gets_what_it_knows() {
        let arguments = parse("--bench one two --compare old.json --quick --sample-size 20");
        assert_eq!(
            for_criterion(arguments),
            ["one|two", "--bench", "--quick", "--sample-size", "20"]
        );
    }
}
