//! A call as the replay sees it, and the keys that calls are told apart by.

use std::collections::HashMap;
use std::sync::Arc;

use cutout::Outcome;

/// One call of a log: when it began, how long it took, what it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// When it began, in nanoseconds since the Unix epoch.
    pub start: i64,
    /// How long it took, in nanoseconds; zero where the log does not say.
    pub took: u64,
    /// Which upstream it went to: an index into [`Keys`].
    pub key: u32,
    /// What a breaker is told of it.
    pub outcome: Outcome,
    /// What the log says of a call that failed or timed out: an index into
    /// [`Reading::labels`](crate::input::Reading::labels). Zero says nothing.
    pub label: u16,
    /// Whether one would rather not have made it: it failed, timed out, or took longer than one bears.
    /// The same for all configs, whatever their own rules say.
    pub bad: bool,
}

impl Call {
    /// When it ended, in nanoseconds since the Unix epoch.
    pub fn end(&self) -> i64 {
        self.start.saturating_add_unsigned(self.took)
    }
}

/// The keys of a log, numbered in the order in which they were first seen.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

impl Keys {
    /// The number of a key, a new one if it was not seen before.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let name: Arc<str> = name.into();
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    /// The number of a key that was seen.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// A key's name.
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", |name| name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
