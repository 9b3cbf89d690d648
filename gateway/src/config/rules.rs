//! What a provider's statuses and codes mean, where that is not what they usually mean.

use std::collections::BTreeMap;

use cutout::ConfigError;
use cutout::verdict::{Verdict, Verdicts};
use serde::Deserialize;

use crate::dialect::{Fault, Refusal};

/// What statuses mean for the breaker, for another try and for the wait that is asked for: the core's table with changes.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "BTreeMap<String, Verdict>")]
pub struct StatusRules {
    table: Verdicts,
    changed: Vec<i32>,
}

impl Default for StatusRules {
    fn default() -> Self {
        Self {
            table: Verdicts::http(),
            changed: Vec::new(),
        }
    }
}

impl TryFrom<BTreeMap<String, Verdict>> for StatusRules {
    type Error = ConfigError;

    fn try_from(changes: BTreeMap<String, Verdict>) -> Result<Self, ConfigError> {
        let usual = Verdicts::http();
        let codes = changes.keys().map(|name| usual.code(name));
        Ok(Self {
            changed: codes.collect::<Result<_, _>>()?,
            table: usual.with_all(changes)?,
        })
    }
}

impl StatusRules {
    /// What a status means.
    pub fn of(&self, status: u16) -> Verdict {
        self.table.of(i32::from(status))
    }

    /// What the file says that it means, if it says so.
    pub fn ruled(&self, status: u16) -> Option<Verdict> {
        let is_changed = self.changed.contains(&i32::from(status));
        is_changed.then(|| self.of(status))
    }
}

/// Whose fault refusals are, by the code or type that they name, or by their status.
pub type FaultRules = BTreeMap<String, Fault>;

/// Whose fault a refusal is, if the rules say so. What it names goes before its status.
pub fn fault_of(rules: &FaultRules, refusal: &Refusal) -> Option<Fault> {
    let named = rules.iter().find(|(name, _)| refusal.is_called(name));
    let status = || rules.get(refusal.status.as_str());
    named.map(|(_, fault)| fault).or_else(status).copied()
}
