//! Hands on the versions in the lock file and the compiler's, for the page.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let lock = Path::new(&manifest)
        .ancestors()
        .map(|folder| folder.join("Cargo.lock"))
        .find(|lock| lock.exists())
        .expect("cargo writes the lock file before it builds");
    println!("cargo:rerun-if-changed={}", lock.display());
    println!("cargo:rustc-env=COMPILER={}", compiler());
    let text = fs::read_to_string(&lock).expect("the lock file is readable");
    let mut name = "";
    for line in text.lines() {
        if let Some(value) = quoted(line, "name = ") {
            name = value;
        } else if let Some(version) = quoted(line, "version = ") {
            let key = name.replace('-', "_");
            println!("cargo:rustc-env=VERSION_{key}={version}");
        }
    }
}

fn compiler() -> String {
    let rustc = env::var("RUSTC").expect("cargo sets it");
    let output = Command::new(rustc).arg("--version").output();
    let version = output.expect("the compiler runs").stdout;
    String::from_utf8_lossy(&version).trim().into()
}

fn quoted<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.strip_prefix('"')?.strip_suffix('"')
}
