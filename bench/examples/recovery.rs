//! What stands before an upstream in trouble, and what comes of it: tables, and a picture for each scenario.
//!
//! `cargo run -p cutout-bench --example recovery` prints the tables; with a folder it writes the pictures there.

use std::path::PathBuf;
use std::{env, fs, io};

use cutout_bench::simulation::caller::Caller;
use cutout_bench::simulation::{picture, scenario, table};

const SEED: u64 = 1;

/// Who is in the pictures.
const SHOWN: [&str; 4] = ["nothing", "breaker", "breaker, ramp", "throttle"];

fn main() -> io::Result<()> {
    let folder = env::args().nth(1).map(PathBuf::from);
    for scenario in scenario::all() {
        let courses = Caller::ALL.map(|caller| (caller.name(), caller.play(&scenario, SEED)));
        let ideal = Caller::Ideal.play(&scenario, SEED).figures();
        println!(
            "## {}\n\n{}.\n\n{}",
            scenario.name,
            scenario.about,
            table::of(&courses)
        );
        println!("One who knows the upstream: {ideal:.1?}\n");
        if let Some(folder) = &folder {
            fs::create_dir_all(folder)?;
            let name = scenario.name.replace(' ', "_");
            let shown = courses.iter().filter(|(name, _)| SHOWN.contains(name));
            let shown = shown.cloned().collect::<Vec<_>>();
            fs::write(folder.join(name + ".svg"), picture::of(&shown))?;
        }
    }
    Ok(())
}
