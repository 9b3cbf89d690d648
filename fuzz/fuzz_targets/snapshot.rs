//! Restored snapshots: a breaker that works, and is like the model.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| cutout_fuzz::snapshot(data));
