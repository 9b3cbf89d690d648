//! What the ratios are computed over.

pub(crate) mod cell;
pub(crate) mod count;
pub(crate) mod ruler;
pub(crate) mod time;
