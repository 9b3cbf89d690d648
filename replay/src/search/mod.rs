//! Advice.

use crate::call::{Call, Keys};
use crate::trouble::Trouble;

/// The most calls that a search looks at.
pub const MOST_CALLS: usize = 4_000_000;

/// What a search found out.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Advice {
    /// The sentences.
    pub sentences: Vec<String>,
}

impl std::fmt::Display for Advice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for sentence in &self.sentences {
            writeln!(f, "{sentence}")?;
        }
        Ok(())
    }
}

/// Searches.
pub fn search(_: &[Call], _: &Keys, _: &[Trouble], _: u64, _: bool) -> Advice {
    Advice {
        sentences: Vec::new(),
    }
}
