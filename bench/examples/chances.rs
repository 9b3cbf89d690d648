//! Writes the tables and the picture of the core's page on how to choose a rule:
//! `cargo run --release --package cutout-bench --example chances`.

use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src/guide/choosing");
    fs::create_dir_all(&folder)?;
    for (name, page) in cutout_bench::chance::pages() {
        fs::write(folder.join(name), page)?;
    }
    Ok(())
}
