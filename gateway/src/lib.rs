#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod admin;
pub mod change;
pub mod checks;
pub mod client;
pub mod clock;
pub mod config;
pub mod dashboard;
pub mod demo;
pub mod events;
pub mod face;
pub mod fake;
pub mod fleet;
pub mod gateway;
pub mod metrics;
pub mod openai;
pub mod proxy;
pub mod server;
pub mod sse;
pub mod store;
pub mod webhook;
