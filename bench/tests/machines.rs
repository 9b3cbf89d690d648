//! What the READMEs show is what the repository carries.

use std::fs;

use cutout_bench::report::{kept, readmes};

#[test]
fn the_tables_of_the_readmes_are_of_the_results_that_are_kept() {
    for (path, expected) in readmes::all().expect("the READMEs have a place for them") {
        let text = fs::read_to_string(&path)
            .unwrap_or_default()
            .replace("\r\n", "\n");
        let differs = text
            .lines()
            .zip(expected.lines())
            .find(|(is, should)| is != should);
        assert!(
            text == expected,
            "{}: `cargo run -p cutout-bench --example machines -- --write`: {differs:#?}",
            path.display()
        );
    }
}

#[test]
fn each_folder_is_named_for_its_machine() {
    for kept in kept::all().expect("results are kept") {
        let machine = &kept.machine;
        assert!(kept::folder(machine).summary().is_file(), "{machine}");
        assert!(machine.version.is_some(), "{machine}: of which version?");
    }
}
