//! What the rules are judged by.

pub(crate) mod cell;
pub(crate) mod count;
pub(crate) mod ruler;
pub(crate) mod score;
pub(crate) mod tally;
mod tick_cells;
pub(crate) mod time;
