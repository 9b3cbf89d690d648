//! When rules open, by chance and when they should: the tables and the picture of the core's page on how to choose one.
//!
//! Chances come from the core's `odds`; calls until a breaker opens, and what bursts do, from breakers that are called with
//! outcomes drawn from a fixed seed. So each page comes out the same wherever it is made.

mod bursts;
mod delay;
mod picture;
mod presets;
mod rules;
mod text;

pub use bursts::{Bursts, Upstream};
pub use delay::{Case, Delays};
pub use rules::Rule;

/// A page by its name, in the folder `core/src/guide/choosing`.
pub type Page = (&'static str, String);

/// The pages that take no drawing of lots.
pub fn computed() -> Vec<Page> {
    vec![
        ("presets.md", presets::table()),
        ("picture.svg", picture::draw()),
    ]
}

/// All pages.
pub fn pages() -> Vec<Page> {
    let mut pages = computed();
    let cases = Case::all().into_iter();
    let found: Vec<_> = cases.map(|case| (case, case.delays())).collect();
    pages.push(("delays.md", delay::table(&found)));
    pages.push(("losses.md", delay::losses(&found)));
    pages.push(("bursts.md", bursts::table()));
    pages
}
