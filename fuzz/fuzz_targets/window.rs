//! A breaker's window against a queue.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| cutout_fuzz::window(data));
