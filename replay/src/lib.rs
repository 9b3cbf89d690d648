#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod call;
pub mod configs;
pub mod demo;
mod error;
pub mod input;
pub mod judge;
pub mod replay;
pub mod report;
pub mod search;
mod shown;
mod slow;
pub mod timeline;
mod trouble;
mod verdict;

pub use call::{Call, Keys};
pub use error::Error;
pub use slow::Slow;
pub use trouble::{Finder, Trouble};
pub use verdict::{Status, Verdicts};
