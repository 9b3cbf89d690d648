//! A subject that gives no answer: the run ends all the same, the subject has a line that says so, and the
//! others have their numbers.
//!
//! It has a main function of its own, since what it starts is itself: as the profile, as one of the profile's
//! workers, as a target of criterion's, as one of its cells.

use std::env;
use std::process::{Command, ExitCode};

use cutout_bench::cast::{breakers, ours};
use cutout_bench::cell::{self, Cell};
use cutout_bench::entry::{Entry, HANGS};
use cutout_bench::profile::coordinator;
use cutout_bench::workload::{Load, Workload};

/// Says which of them this process is; without it, the test.
const TARGET: &str = "CUTOUT_BENCH_TEST_TARGET";

const HANGING: &str = "recloser";
const OTHER: &str = "failsafe";

fn main() -> ExitCode {
    match env::var(TARGET).as_deref() {
        Ok("profile") => {
            let result = coordinator::main(&format!("{}/no-answer/x", env!("CARGO_TARGET_TMPDIR")));
            ExitCode::from(u8::from(result.is_err()))
        }
        Ok("cells") => {
            let named = |name| breakers().into_iter().find(|entry| entry.name == name);
            let entries = [named(HANGING), named(OTHER)].into_iter().flatten();
            cell::main("cells", "", entries.map(cell_of).collect())
        }
        Ok("own-cell") => cell::main("cells", "", vec![cell_of(ours())]),
        _ => {
            the_profile_goes_on_without_it();
            the_other_cells_have_their_numbers();
            a_cell_of_our_own_without_a_number_fails_the_target();
            ExitCode::SUCCESS
        }
    }
}

fn cell_of(entry: Entry) -> Cell {
    let healthy = Workload::new(Load::Healthy);
    Cell::of("cells".into(), entry.name, entry, healthy, 1)
}

/// What a target prints, on both streams, and whether it says that all went well.
fn run(target: &str, hanging: &str, arguments: &[&str]) -> (String, bool) {
    let program = env::current_exe().expect("a program knows where it is");
    let output = Command::new(program)
        .args(arguments)
        .env(TARGET, target)
        .env(HANGS, hanging)
        .output()
        .expect("it starts again");
    let text = |stream: &[u8]| String::from_utf8_lossy(stream).into_owned();
    (
        text(&output.stdout) + &text(&output.stderr),
        output.status.success(),
    )
}

fn the_profile_goes_on_without_it() {
    let (said, went_well) = run(
        "profile",
        HANGING,
        &["--test", "contention/rejecting/100/1"],
    );
    assert!(went_well, "{said}");
    let expected = format!("contention/rejecting/100/1: {HANGING}: no answer within 10 s");
    assert!(said.contains(&expected), "{said}");
    assert!(said.contains("all 1 tasks run"), "{said}");
}

fn the_other_cells_have_their_numbers() {
    let arguments = ["--bench", "--quick", "--discard-baseline"];
    let (said, went_well) = run("cells", HANGING, &arguments);
    assert!(went_well, "{said}");
    assert!(
        said.contains("cells/recloser: no answer within 30 s"),
        "{said}"
    );
    assert!(said.contains("cells/failsafe"), "{said}");
    assert!(said.contains("time:"), "{said}");
    assert!(
        said.contains("without a number: cells/recloser\n"),
        "{said}"
    );
}

fn a_cell_of_our_own_without_a_number_fails_the_target() {
    let (said, went_well) = run("own-cell", "cutout", &["--test"]);
    assert!(!went_well, "{said}");
}
