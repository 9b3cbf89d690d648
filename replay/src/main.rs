//! The program: `cutout-replay --help` says what it takes.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cutout-replay: {error}");
            ExitCode::FAILURE
        }
    }
}
