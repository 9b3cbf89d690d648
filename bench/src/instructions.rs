//! Makes way for the instruction counts: their tools may be missing, and the
//! command line may speak to other bench targets.

use std::env;
use std::process::{Command, Stdio, exit};

use crate::arguments::{self, Arguments};

/// The version that the runner must have.
const VERSION: &str = env!("VERSION_gungraun");

const ABOUT: &str = "Instructions per call, counted by callgrind, with limits";

/// Returns if the counts can run with the command line as it is.
///
/// Else it either runs this program again with the arguments that the counts
/// know, or says what is missing and exits.
pub fn prepare() {
    // The runner calls this program for each count; cargo's own flag comes with each call of cargo.
    let mut given = env::args().skip(1);
    if given.next().is_some_and(|first| first == "--gungraun-run") {
        return;
    }
    let parsed = Arguments::of_process("instructions", ABOUT);
    if !parsed.measures() {
        exit(0);
    }
    if let Some(missing) = missing() {
        println!("instructions: not counted: {missing}");
        exit(0);
    }
    arguments::run_once_more(&known(&parsed));
}

fn missing() -> Option<String> {
    let runs = |program: &str, says: &str| {
        let mut command = Command::new(program);
        let output = command.arg("--version").stderr(Stdio::null()).output();
        output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(says))
    };
    if !runs("valgrind", "valgrind") {
        return Some("valgrind is not installed".into());
    }
    let runner = option_env!("GUNGRAUN_RUNNER").unwrap_or("gungraun-runner");
    if !runs(runner, VERSION) {
        let install = format!("cargo install --locked gungraun-runner@{VERSION}");
        return Some(format!(
            "gungraun-runner {VERSION} is not installed: {install}"
        ));
    }
    None
}

/// What the counts know of a command line, in their words.
fn known(parsed: &Arguments) -> Vec<String> {
    let mut known = vec!["--bench".to_string()];
    for option in ["save-baseline", "baseline"] {
        if let Some(name) = parsed.value(option) {
            let option = format!("--{option}");
            // Names of counts' baselines have no other characters.
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            let name: String = name.chars().map(plain).collect();
            known.push(format!("{option}={name}"));
        }
    }
    if parsed.has("list") {
        known.push("--list".into());
    }
    // Theirs are patterns for the whole name, and they take one.
    known.extend(parsed.filters.first().map(|filter| format!("*{filter}*")));
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_are_told_what_they_know() {
        let line = "--bench --quick --save-baseline v1.0 healthy";
        let parsed = Arguments::parse("instructions", "", line.split(' ').map(Into::into));
        let parsed = parsed.expect("all are known");
        assert_eq!(
            known(&parsed),
            ["--bench", "--save-baseline=v1_0", "*healthy*"]
        );
    }
}
