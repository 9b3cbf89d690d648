//! Compiles the core for counting, with its feature `std`. It is set here rather than in the
//! manifest, so that no feature flag of the workspace changes what is counted.

fn main() {
    println!("cargo::rustc-cfg=cutout_checked");
    println!("cargo::rustc-cfg=feature=\"std\"");
    println!("cargo::rustc-check-cfg=cfg(feature, values(any()))");
    println!("cargo::rerun-if-changed=build.rs");
}
