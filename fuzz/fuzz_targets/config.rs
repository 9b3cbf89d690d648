//! Configs: a typed error, or a breaker that works.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| cutout_fuzz::config(data));
