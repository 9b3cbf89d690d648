//! The result as one value: what the terminal, the JSON and the page show.

mod advice;
mod bands;
mod build;
pub mod html;
mod picture;
mod rows;
pub mod terminal;

pub use build::{Kept, Run};
pub use rows::{ConfigRow, KeyRow, Ranged, Report, Stretch, Trip, TroubleRow};
