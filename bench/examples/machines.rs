//! The results that the repository carries, machine beside machine: `cargo run -p cutout-bench --example machines`.
//!
//! `-- --keep` takes over the last whole run of this machine, or of the folder that it names, says what changed
//! since the one that was kept before, and writes the tables of the READMEs again. `-- --write` only does the last.

use std::env;
use std::process::ExitCode;

use cutout_bench::report::machine::Machine;
use cutout_bench::report::{Folder, keep, kept, readmes, side_by_side};

fn main() -> ExitCode {
    match run() {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, String> {
    let mut arguments = env::args().skip(1);
    match arguments.next().as_deref() {
        None => {
            let kept = kept::all().map_err(|error| error.to_string())?;
            Ok(side_by_side::with_peers(&kept) + "\n" + &side_by_side::by_case(&kept))
        }
        Some("--keep") => keep::keep(&match arguments.next() {
            Some(folder) => Folder::of(folder),
            None => of_this_machine()?,
        }),
        Some("--write") => {
            readmes::write().map_err(|error| error.to_string())?;
            Ok("the tables of the READMEs are those of what is kept".into())
        }
        Some(unknown) => Err(format!("{unknown}: there is --keep [FOLDER] and --write")),
    }
}

/// The folder of the last whole run, in the target folder in which this program lies.
fn of_this_machine() -> Result<Folder, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let profile = program.ancestors().nth(2).ok_or("it lies in no folder")?;
    Ok(Folder::new(profile, &Machine::of_here("full"), false))
}
