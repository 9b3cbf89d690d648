//! What the ratios are computed over.

pub(crate) mod count;
