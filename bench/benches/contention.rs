//! The contention profile: `cargo bench --bench contention`, with `-- --quick` in less
//! than a minute. Writes `index.html` and `summary.json` into the
//! machine's folder under `target/contention`.

use std::process::ExitCode;

use cutout_bench::allocations::Counting;
use cutout_bench::profile::coordinator;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    match coordinator::main(env!("CARGO_TARGET_TMPDIR")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("contention profile: {error}");
            ExitCode::FAILURE
        }
    }
}
