//! Compiles the core for checking, with its features `std` and `model`. They are set here rather than in the
//! manifest, so that no feature flag of the workspace changes what is checked.

fn main() {
    println!("cargo::rustc-cfg=cutout_checked");
    println!("cargo::rustc-cfg=feature=\"std\"");
    println!("cargo::rustc-cfg=feature=\"model\"");
    println!("cargo::rustc-check-cfg=cfg(feature, values(any()))");
    println!("cargo::rerun-if-changed=build.rs");
}
