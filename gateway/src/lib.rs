#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod admin;
pub mod auth;
pub mod change;
mod checks;
pub mod client;
pub mod clock;
pub mod config;
pub mod demo;
pub mod dialect;
pub mod events;
pub mod gateway;
mod hop;
mod ledger;
pub mod limits;
pub mod metrics;
mod path;
pub mod providers;
mod proxy;
mod refused_keys;
pub mod replicas;
mod requests;
pub mod server;
pub mod store;
pub mod suspension;
mod tls;
mod webhook;
