#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod agent;
mod breakers;
pub mod bus;
mod fleet;
mod health;
mod member;
#[cfg(feature = "metrics")]
mod metrics;
mod settings;
mod statement;

#[cfg(feature = "redis")]
pub use bus::Redis;
pub use bus::{Bus, InProcess};
pub use fleet::{Fleet, FleetBuilder, GuardError, Refused, StartError};
pub use health::{Health, MemberHealth, OrderHealth};
pub use settings::{Settings, SettingsError};
pub use statement::{Action, Ignored, Phase};
