//! Programs of operations, on a breaker and on the sequential model.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| cutout_fuzz::operations(data));
