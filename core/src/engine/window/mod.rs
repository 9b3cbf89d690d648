//! What the ratios are computed over.

pub(crate) mod cell;
pub(crate) mod count;
pub(crate) mod ruler;
mod tick_cells;
pub(crate) mod time;
