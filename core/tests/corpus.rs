//! The inputs of the fuzz targets that are kept, replayed: a stable compiler
//! without a sanitizer sees what the fuzzer saw.

// Public for the fuzzer's binaries.
#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod targets;

use std::fs;
use std::path::Path;

#[test]
fn operations() {
    replay("operations", targets::operations);
}

#[test]
fn window() {
    replay("window", targets::window);
}

#[test]
fn config() {
    replay("config", targets::config);
}

#[test]
fn snapshot() {
    replay("snapshot", targets::snapshot);
}

/// Gives a target each file of its corpus, and no bytes at all.
fn replay(name: &str, target: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    let files = fs::read_dir(corpus.join(name)).expect("a corpus");
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    assert!(!files.is_empty(), "the corpus of {name} is empty");
    files.sort();
    target(&[]);
    for file in files {
        // Printed when the test fails: the last one is to blame.
        println!("{}", file.display());
        target(&fs::read(&file).unwrap());
    }
}
