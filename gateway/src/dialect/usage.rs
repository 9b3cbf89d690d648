//! What an answer says of the tokens that it cost.

/// The tokens of an answer, as far as it tells them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the question, those from a cache included.
    pub input: Option<u64>,
    /// Tokens of the answer, thoughts included.
    pub output: Option<u64>,
}

/// More tokens than any answer has. What says more is nonsense.
const MOST: u64 = 1 << 32;

impl Usage {
    /// These, if they can be true; none if nothing is told.
    pub(super) fn plausible(input: Option<u64>, output: Option<u64>) -> Option<Self> {
        let possible = |tokens: Option<u64>| tokens.is_none_or(|tokens| tokens < MOST);
        let is_some = input.is_some() || output.is_some();
        (is_some && possible(input) && possible(output)).then_some(Self { input, output })
    }

    /// This, and of what a later event says anew the later.
    pub(crate) fn then(self, later: Self) -> Self {
        Self {
            input: later.input.or(self.input),
            output: later.output.or(self.output),
        }
    }
}
